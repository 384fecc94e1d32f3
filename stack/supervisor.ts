import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, fstatSync, mkdirSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Backoff, doubledMs } from '../ops/time.ts'
import { type ProcessFile, signal } from './processes.ts'

/** One of the project's processes. */
export interface Task {
  /** Name of the task, and of its log file. */
  readonly name: string
  /** Entry, relative to the project's folder, and arguments. */
  readonly command: readonly [entry: string, ...args: string[]]
  readonly env: NodeJS.ProcessEnv
}

interface StackOptions {
  /** Folder for `<name>.log` of each task, which every stack starts empty. */
  readonly logFolder: string
  readonly processes: ProcessFile
  /** One line for the person at the terminal. */
  readonly say: (line: string) => void
  /** Milliseconds from SIGTERM until a process that has not ended is killed. Default: 15 s. */
  readonly graceMs?: number
}

/** Processes that are kept running until the stack stops. */
export interface Stack {
  /** Starts a group of tasks; groups stop in the opposite order. */
  start(tasks: readonly Task[]): void
  /** Sends SIGTERM group by group, and kills what has not ended after `graceMs`. */
  stop(): Promise<void>
  /** Kills everything at once. */
  kill(): void
}

interface Supervised {
  readonly task: Task
  readonly log: string
  child?: ChildProcess
  startedAt: number
  /** Exits in a row, none of them after `stableMs` of running. */
  failures: number
  restart?: NodeJS.Timeout
}

const root = fileURLToPath(new URL('..', import.meta.url))
const defaultGraceMs = 15_000
const restarts: Backoff = { baseMs: 500, capMs: 30_000 }
/** A process that ran this long counts as recovered: its backoff starts again. */
const stableMs = 60_000
const logTailBytes = 4_096

/** Restarts a process that exits by itself, with backoff; says so once until the process has recovered. */
export function createStack({ logFolder, processes, say, graceMs = defaultGraceMs }: StackOptions): Stack {
  mkdirSync(logFolder, { recursive: true })
  const groups: Supervised[][] = []
  let stopping = false

  function launch(one: Supervised) {
    const { name, command, env } = one.task
    const log = openSync(one.log, 'a')
    const child = spawnInGroup(command, env, log)
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
    one.restart = setTimeout(() => launch(one), doubledMs(restarts, one.failures++))
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

/**
 * With this process's loader. A process group of its own: a terminal's Ctrl-C reaches only us, and `signal` reaches what
 * the process starts itself.
 */
function spawnInGroup(command: Task['command'], env: NodeJS.ProcessEnv, log: number): ChildProcess {
  return spawn(process.execPath, [...process.execArgv, ...command], {
    cwd: root,
    env,
    detached: true,
    stdio: ['ignore', log, log],
  })
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

/** Last bytes of a log, which may have grown beyond what can be read at once. */
function tailOf(path: string): Buffer {
  const file = openSync(path, 'r')
  try {
    const tail = Buffer.alloc(logTailBytes)
    const read = readSync(file, tail, 0, logTailBytes, Math.max(0, fstatSync(file).size - logTailBytes))
    return tail.subarray(0, read)
  } finally {
    closeSync(file)
  }
}

/** Last line of a log, cut to fit a terminal; of a JSON line only the message. */
function lastLine(path: string): string {
  const text = tailOf(path).toString('utf8').trim()
  const line = text.slice(text.lastIndexOf('\n') + 1)
  try {
    const { msg, err } = JSON.parse(line) as { msg?: string; err?: { message?: string } }
    return msg ?? err?.message ?? line
  } catch {
    return line
  }
}
