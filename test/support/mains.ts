import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { root } from './source-files.ts'
import { testTimeoutMs } from './until.ts'

/** Arguments of Node that run the project's TypeScript as it was compiled before the first test. */
export const loader = ['--import', new URL('compile/loader.mjs', import.meta.url).href]
/** Folder of Node's compile cache for the packages, because loading them is most of the cost of a start. */
const compileCache = fileURLToPath(new URL('../../node_modules/.cache/node', import.meta.url))

export interface MainOptions {
  /** Further variables; the process has no others but PATH and HOME. */
  readonly env?: NodeJS.ProcessEnv
  /** Absent: the project's folder. */
  readonly cwd?: string
  /** Folder of another version of the project, whose sources are compiled as they are read. Absent: this one's. */
  readonly version?: string
  /** Absent: its output is piped. */
  readonly stdio?: StdioOptions
  /** Milliseconds after which the process is killed. Absent: it may run without a limit. */
  readonly timeoutMs?: number
}

/** Starts one of the project's mains, or another of its scripts, in a process of its own. */
export function startMain(
  main: string,
  args: readonly string[] = [],
  { env = {}, version, cwd = version ?? root, stdio = ['ignore', 'pipe', 'pipe'], timeoutMs }: MainOptions = {},
): ChildProcess {
  const from = version ? ['--import', import.meta.resolve('tsx')] : loader
  return spawn(process.execPath, [...from, join(version ?? root, main), ...args], {
    cwd,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, NODE_COMPILE_CACHE: compileCache, ...env },
    stdio,
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  })
}

/** Sends a signal every millisecond until the process has ended; returns its exit code, or the signal that ended it. */
export async function signalUntilEnded(child: ChildProcess, signal: NodeJS.Signals) {
  while (child.exitCode === null && child.signalCode === null) {
    child.kill(signal)
    await delay(1)
  }
  return child.exitCode ?? child.signalCode
}

export interface Ended {
  /** Null: it was killed. */
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Exit code and output of a process with piped output, once it has ended. */
export async function endOf(child: ChildProcess): Promise<Ended> {
  const [[code], stdout, stderr] = await Promise.all([once(child, 'exit'), text(child.stdout!), text(child.stderr!)])
  return { code, stdout, stderr }
}

/** Runs one of the project's mains; one that does not end by itself is killed, and its code is null. */
export function runMain(main: string, args: readonly string[] = [], options: MainOptions = {}): Promise<Ended> {
  return endOf(startMain(main, args, { timeoutMs: testTimeoutMs, ...options }))
}
