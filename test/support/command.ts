import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { root } from './source-files.ts'

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A main that takes longer did not end by itself; it is killed, and its code is null. */
const timeoutMs = 40_000

/** Runs one of the project's mains to its end, as npm does: from the project's folder unless `cwd` says otherwise. */
export async function runMain(
  main: string,
  args: string[] = [],
  { env = {}, cwd = root }: { env?: NodeJS.ProcessEnv; cwd?: string } = {},
): Promise<Ended> {
  const loader = import.meta.resolve('tsx')
  const child = spawn(process.execPath, ['--import', loader, `${root}/${main}`, ...args], {
    cwd,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  })
  const [[code], stdout, stderr] = await Promise.all([once(child, 'exit'), text(child.stdout), text(child.stderr)])
  return { code, stdout, stderr }
}
