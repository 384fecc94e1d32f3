import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type ProcessFile, signal } from './processes.ts'

/** One of the project's processes. */
export interface Task {
  /** Name of its log. */
  readonly name: string
  /** Entry and arguments, from the project's folder. */
  readonly command: readonly [entry: string, ...args: string[]]
  readonly env: NodeJS.ProcessEnv
}

interface StackOptions {
  /** Takes `<name>.log` of each task, begun anew by every stack. */
  readonly logFolder: string
  readonly processes: ProcessFile
  /** One line for the person at the terminal. */
  readonly say: (line: string) => void
  /** How long a process may take to end before it is made to. Default 15 seconds. */
  readonly graceMs?: number
}

/** Processes that are kept running until the stack stops. */
export interface Stack {
  /** Starts a group of tasks; groups stop in the opposite order. */
  start(tasks: readonly Task[]): void
  /** Asks everything to end, group by group, and makes it end after a while. */
  stop(): Promise<void>
  /** Ends everything at once. */
  kill(): void
}

interface Supervised {
  readonly task: Task
  readonly log: string
  child?: ChildProcess
  startedAt: number
  /** Ends in a row without a long life between them. */
  failures: number
  restart?: NodeJS.Timeout
}

const root = fileURLToPath(new URL('..', import.meta.url))
const defaultGraceMs = 15_000
const firstBackoffMs = 500
const longestBackoffMs = 30_000
/** A process that lived this long is taken to be well again. */
const stableMs = 60_000
const logTailBytes = 4_096

/** A process that ends by itself is started again, ever later; this is said once until it has been well for a while. */
export function createStack({ logFolder, processes, say, graceMs = defaultGraceMs }: StackOptions): Stack {
  mkdirSync(logFolder, { recursive: true })
  const groups: Supervised[][] = []
  let stopping = false

  function launch(one: Supervised) {
    const { name, command, env } = one.task
    const log = openSync(one.log, 'a')
    // With the loader that this process has. A group of its own: a terminal's Ctrl-C is ours alone, and `signal` reaches what the process starts itself.
    const child = spawn(process.execPath, [...process.execArgv, ...command], {
      cwd: root,
      env,
      detached: true,
      stdio: ['ignore', log, log],
    })
    closeSync(log)
    one.child = child
    one.startedAt = Date.now()
    const { pid } = child
    if (pid !== undefined) processes.add(name, pid)
    child.once('error', (error) => say(`${name} does not start: ${error.message}`))
    child.once('close', (code, by) => {
      if (pid !== undefined) processes.remove(pid)
      one.child = undefined
      if (!stopping) startAgain(one, by ?? `exit ${code}`)
    })
  }

  function startAgain(one: Supervised, how: string) {
    if (Date.now() - one.startedAt > stableMs) one.failures = 0
    if (one.failures === 0) say(`${one.task.name} ended (${how}) and is being restarted${quote(lastLine(one.log))}`)
    const backoff = Math.min(longestBackoffMs, firstBackoffMs * 2 ** one.failures++)
    one.restart = setTimeout(() => launch(one), backoff)
  }

  return {
    start(tasks) {
      const group = tasks.map((task): Supervised => {
        const log = join(logFolder, `${task.name}.log`)
        closeSync(openSync(log, 'w'))
        return { task, log, startedAt: 0, failures: 0 }
      })
      groups.push(group)
      for (const one of group) launch(one)
    },
    async stop() {
      stopping = true
      for (const one of groups.flat()) clearTimeout(one.restart)
      for (const group of [...groups].reverse()) {
        await Promise.all(group.map((one) => stopOne(one, graceMs)))
      }
    },
    kill() {
      stopping = true
      for (const { child, restart } of groups.flat()) {
        clearTimeout(restart)
        if (child?.pid !== undefined) signal(child.pid, 'SIGKILL')
      }
    },
  }
}

async function stopOne({ child }: Supervised, graceMs: number) {
  if (child?.pid === undefined) return
  const { pid } = child
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  signal(pid, 'SIGTERM')
  const late = setTimeout(() => signal(pid, 'SIGKILL'), graceMs)
  await ended
  clearTimeout(late)
}

function quote(line: string): string {
  return line === '' ? '' : `; its last words: ${line}`
}

/** The end of a log, short enough for a terminal; of a JSON line, its message. */
function lastLine(path: string): string {
  const text = readFileSync(path).subarray(-logTailBytes).toString('utf8').trim()
  const line = text.slice(text.lastIndexOf('\n') + 1)
  try {
    const { msg, err } = JSON.parse(line) as { msg?: string; err?: { message?: string } }
    return msg ?? err?.message ?? line
  } catch {
    return line
  }
}
