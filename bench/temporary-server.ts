import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '../postgres/embedded.ts'
import type { EmbeddedOptions } from '../postgres/server.ts'

/** A Postgres server of one benchmark, in a folder of its own that every user may enter and the server may write to. */
export async function startTemporaryServer(name: string, options: Omit<EmbeddedOptions, 'dataFolder'>) {
  const folder = await mkdtemp(join(tmpdir(), `bench-${name}-`))
  // As root the server is another user. Of a folder that is closed to it the data would lie elsewhere, and stay there.
  await chmod(folder, 0o777)
  const postgres = await startPostgres({ dataFolder: join(folder, 'postgres'), ...options })
  return {
    folder,
    postgres,
    /** Stops the server and removes its folder. */
    async remove() {
      await postgres.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
