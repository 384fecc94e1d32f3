import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { descendantsOf } from '../../test/support/processes.ts'

const lookMs = 1_000
const peaks: Record<string, number> = {}

/** Peak memory of each process of this rehearsal, in bytes, by name. */
export const memoryPeaks: Readonly<Record<string, number>> = peaks

export function notePeak(name: string, bytes: number): void {
  peaks[name] = Math.max(peaks[name] ?? 0, bytes)
}

interface Watched {
  readonly pids: () => ReadonlyMap<string, number>
  /** Process id of the database server's postmaster. */
  readonly server: () => number
}

/**
 * Notes the memory of processes until it is stopped: the highest that the kernel has seen of each; of the server, the sum
 * of what its processes have for themselves, and what they share.
 */
export function watchMemory({ pids, server }: Watched): { stop(): Promise<void> } {
  let isOver = false
  const all = (async () => {
    for (; !isOver; await delay(lookMs)) {
      for (const [name, pid] of [...pids(), ['this rehearsal', process.pid] as const]) {
        notePeak(name, (await readStatus(pid)).VmHWM ?? 0)
      }
      const statuses = await Promise.all(descendantsOf(server()).map(({ pid }) => readStatus(pid)))
      const own = statuses.reduce((sum, { RssAnon = 0 }) => sum + RssAnon, 0)
      notePeak('postgres', own + Math.max(0, ...statuses.map(({ RssShmem = 0 }) => RssShmem)))
    }
  })()
  return {
    stop() {
      isOver = true
      return all
    },
  }
}

/** Memory sizes in /proc/<pid>/status, in bytes; empty when the process is gone. */
async function readStatus(pid: number): Promise<Readonly<Record<string, number>>> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  const sizes = [...text.matchAll(/^(\w+):\s+(\d+) kB$/gm)]
  return Object.fromEntries(sizes.map(([, name = '', size]) => [name, Number(size) * 1_024]))
}
