import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../ops/ports.ts'
import { until } from './until.ts'

/** The real API in a process of its own. */
export interface ApiProcess {
  readonly url: string
  /** What it has logged so far. */
  readonly lines: readonly { msg?: string; requestId?: string }[]
  /** Exit code and signal, once it has ended. */
  readonly exit: Promise<unknown[]>
  terminate(): void
  kill(): Promise<void>
}

const entry = fileURLToPath(new URL('../../api/main.ts', import.meta.url))

/** Runs api/main.ts with these variables on a free port; resolves once it is ready. */
export async function startApiProcess(env: Record<string, string>): Promise<ApiProcess> {
  const port = await freePort()
  const child = spawn(process.execPath, ['--import', 'tsx', entry], {
    env: { PATH: process.env.PATH, PORT: String(port), ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exit = once(child, 'exit')
  const lines: { msg?: string }[] = []
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    lines.push(
      ...chunk
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    )
  })
  const url = `http://127.0.0.1:${port}`
  const answers = () =>
    fetch(`${url}/readyz`)
      .then(({ ok }) => ok)
      .catch(() => false)
  await until('the API is ready', answers, 60_000)
  return {
    url,
    lines,
    exit,
    terminate: () => void child.kill('SIGTERM'),
    async kill() {
      child.kill('SIGKILL')
      await exit
    },
  }
}
