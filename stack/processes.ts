import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

/** A process that would outlive us if we were killed. */
interface RunningProcess {
  readonly name: string
  readonly pid: number
  /** Clock ticks since boot at which it started: a pid may be somebody else's by now, both together may not. */
  readonly startTime: string
}

const stopMs = 10_000
const pollMs = 50

/** The file that says which processes are ours, for the next start should this one be killed. Written at once. */
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

/** Ends what an earlier run left behind and returns the names. A process that only has the number of one is spared. */
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

/** To the process and everything in its group; that it is gone already is fine. */
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
    return [] // no earlier run, or a file that nobody finished
  }
}

function isRunning({ pid, startTime }: RunningProcess): boolean {
  return startTimeOf(pid) === startTime
}

/** Undefined when there is no such process any more, a zombie included. Linux alone knows. */
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
