import { readdirSync, readFileSync } from 'node:fs'

/** A process as /proc shows it. */
interface ProcessEntry {
  readonly pid: number
  readonly parent: number
  /** Start in clock ticks since boot; together with `pid` it identifies a process even when pids are reused. */
  readonly startTime: string
  readonly command: string
}

/** Everything that descends from a process, itself included. A process whose parent was killed is not found this way. */
export function descendantsOf(pid: number): ProcessEntry[] {
  const all = listProcesses()
  const found = all.filter((entry) => entry.pid === pid)
  // The list grows while it is walked: children of children are looked up too.
  for (const { pid } of found) found.push(...all.filter(({ parent }) => parent === pid))
  return found
}

/** Those of the processes that still run; zombies do not. */
export function stillRunning(processes: readonly ProcessEntry[]): ProcessEntry[] {
  const all = listProcesses()
  return processes.filter((one) => all.some(({ pid, startTime }) => pid === one.pid && startTime === one.startTime))
}

function listProcesses(): ProcessEntry[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      if (fields[0] === 'Z') return []
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
      return [{ pid: Number(name), parent: Number(fields[1]), startTime: fields[19] as string, command }]
    } catch {
      return [] // the process ended meanwhile
    }
  })
}
