import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { appendFile, chmod, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { descendantsOf } from '../support/processes.ts'

/** A place for a server's data that can run out of room. */
export interface SmallDisk {
  readonly folder: string
  /** Leaves no space for a new page to the server whose postmaster has the pid `server`. */
  fill(server: number): Promise<void>
  /** Frees the space again, for the running server or the next one. */
  free(server: number): Promise<void>
  remove(): Promise<void>
}

const run = promisify(execFile)
const diskBytes = 192 * 1024 * 1024
const fillerBytes = 64 * 1024
/** File size limit of one page, in bytes, beyond which no file can grow. */
const fileLimitBytes = 8 * 1024

/**
 * A file system of its own in memory where that may be mounted. Elsewhere, in a container say, the processes of the
 * server get a limit on the size of their files, which makes every write behind it fail as a full disk does.
 */
export async function makeSmallDisk(): Promise<SmallDisk> {
  const folder = await mkdtemp(join(tmpdir(), 'agent-directory-disk-'))
  const mounted = await run('mount', ['-t', 'tmpfs', '-o', `size=${diskBytes}`, 'agent-directory-test', folder]).then(
    () => true,
    () => false,
  )
  await chmod(folder, 0o755) // as root the server runs as another user, who has to reach its data
  return mounted ? ownFileSystem(folder) : limitedFiles(folder)
}

function ownFileSystem(folder: string): SmallDisk {
  const filler = join(folder, 'filler')
  return {
    folder,
    async fill() {
      const piece = Buffer.alloc(fillerBytes, 'x')
      for (let size = piece.length; size > 0; ) {
        try {
          await appendFile(filler, piece.subarray(0, size))
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
          size = Math.floor(size / 2)
        }
      }
    },
    free: () => rm(filler),
    async remove() {
      await run('umount', ['--lazy', folder]) // the last process of the server may still be closing its files
      await rm(folder, { recursive: true })
    },
  }
}

function limitedFiles(folder: string): SmallDisk {
  const limit = async (server: number, soft: string) => {
    for (const { pid } of descendantsOf(server)) {
      try {
        const { uid, gid } = await stat(`/proc/${pid}`) // root may not set it, the user of the process may
        await run('prlimit', [`--pid=${pid}`, `--fsize=${soft}:`], { uid, gid })
      } catch (error) {
        if (existsSync(`/proc/${pid}`)) throw error
      }
    }
  }
  return {
    folder,
    fill: (server) => limit(server, String(fileLimitBytes)),
    free: (server) => limit(server, 'unlimited'),
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}
