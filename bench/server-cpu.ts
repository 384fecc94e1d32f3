import { readdirSync, readFileSync } from 'node:fs'

/** Clock ticks a second, in which /proc counts. */
const ticks = 100

/** CPU seconds of a server's processes: connections of a long run are replaced by others. */
export function cpuSeconds(server: number): number {
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
