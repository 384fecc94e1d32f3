import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

/** A process that would outlive us if we were killed. */
interface RunningProcess {
  readonly name: string
  readonly pid: number
  /** Start in clock ticks since boot. A pid can be reused; pid and start together cannot. */
  readonly startTime: string
}

const stopMs = 10_000
const pollMs = 50

/** File that lists our running processes, so that the next start can end them if this one is killed. */
export class ProcessFile {
  private readonly path: string
  private readonly processes = new Map<number, RunningProcess>()

  constructor(path: string) {
    this.path = path
  }

  add(name: string, pid: number) {
    const startTime = startTimeOf(pid)
    if (startTime === undefined) return // ended already
    this.processes.set(pid, { name, pid, startTime })
    this.write()
  }

  remove(pid: number) {
    if (this.processes.delete(pid)) this.write()
  }

  private write() {
    mkdirSync(dirname(this.path), { recursive: true })
    writeFileSync(`${this.path}.new`, `${JSON.stringify([...this.processes.values()], null, 2)}\n`)
    renameSync(`${this.path}.new`, this.path)
  }
}

/** Ends processes that an earlier run left behind and returns their names; a process with a reused pid is spared. */
export async function endLeftovers(path: string): Promise<string[]> {
  const left = readProcesses(path).filter(isRunning)
  await Promise.all(left.map(end))
  return left.map(({ name }) => name)
}

async function end(process_: RunningProcess) {
  signal(process_.pid, 'SIGTERM')
  for (const deadline = Date.now() + stopMs; Date.now() < deadline; await delay(pollMs)) {
    if (!isRunning(process_)) return
  }
  signal(process_.pid, 'SIGKILL')
}

/** Sends a signal to a process and its whole group; no error when the process is gone already. */
export function signal(pid: number, name: NodeJS.Signals) {
  try {
    process.kill(-pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

function readProcesses(path: string): RunningProcess[] {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return [] // no earlier run, or a half-written file
  }
}

function isRunning({ pid, startTime }: RunningProcess): boolean {
  return startTimeOf(pid) === startTime
}

/** Start of a process in clock ticks since boot; undefined: it is gone, a zombie, or this is not Linux. */
function startTimeOf(pid: number): string | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name in parentheses may hold anything; behind it stand the state and, 19 further, the start time.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' ? undefined : fields[19]
  } catch {
    return undefined
  }
}
