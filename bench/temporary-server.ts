import { readdirSync, readFileSync } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { untilStopSignal } from '../ops/stop.ts'
import { startPostgres } from '../postgres/embedded.ts'
import type { EmbeddedOptions } from '../postgres/server.ts'

/** Clock ticks a second, in which /proc counts. */
const ticks = 100

/**
 * A Postgres server of one benchmark, in a folder of its own that every user may enter and the server may write to. A benchmark
 * that is interrupted stops the server and removes the folder, and ends.
 */
export async function startTemporaryServer(name: string, options: Omit<EmbeddedOptions, 'dataFolder'>) {
  const folder = await mkdtemp(join(tmpdir(), `bench-${name}-`))
  // As root the server is another user. Of a folder that is closed to it the data would lie elsewhere, and stay there.
  await chmod(folder, 0o777)
  const starting = startPostgres({ dataFolder: join(folder, 'postgres'), ...options })
  let removed: Promise<void> | undefined
  const remove = () => {
    removed ??= starting
      .then(
        (started) => started.stop(),
        () => {}, // it did not start
      )
      .then(() => rm(folder, { recursive: true, force: true }))
    return removed
  }
  void untilStopSignal().then(async (signal) => {
    await remove()
    process.exit(signal === 'SIGINT' ? 130 : 143)
  })
  const postgres = await starting
  return {
    folder,
    postgres,
    /** CPU seconds that the server's processes have taken. */
    cpuSeconds: () => cpuSeconds(postgres.pid),
    /** Stops the server and removes its folder. */
    remove,
  }
}

/** CPU seconds of a server's processes: connections of a long run are replaced by others. */
function cpuSeconds(server: number): number {
  const used = readdirSync('/proc').map((name) => {
    const [parent, own, ofEnded] = /^\d+$/.test(name) ? statOf(name) : []
    if (Number(name) === server) return ofEnded
    return parent === server ? own : 0
  })
  return used.reduce<number>((sum, one) => sum + (one ?? 0), 0) / ticks
}

/** Of a process: its parent, and the ticks that it and its children that ended took. None: it has ended. */
function statOf(pid: string): readonly number[] {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ')
      .map(Number)
    const [parent = 0, user = 0, system = 0, endedUser = 0, endedSystem = 0] = [1, 11, 12, 13, 14].map((n) => fields[n])
    return [parent, user + system, endedUser + endedSystem]
  } catch {
    return []
  }
}
