import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { freePort } from '../../../ops/ports.ts'
import { startMain } from '../mains.ts'
import { until } from '../until.ts'

/** The real API, or GraphQL, in a process of its own. */
export interface ApiProcess {
  readonly url: string
  /** What it has logged so far. */
  readonly lines: readonly { msg?: string; requestId?: string }[]
  /** Exit code and signal, once it has ended. */
  readonly exit: Promise<unknown[]>
  terminate(): void
  signal(signal: NodeJS.Signals): void
  kill(): Promise<void>
}

/** Runs api/main.ts with these variables on a free port; resolves once it is ready. */
export const startApiProcess = (env: Record<string, string>) => startHttpProcess('api/main.ts', 'PORT', env)

/** Runs api/graphql/main.ts with these variables on a free port; resolves once it is ready. */
export const startGraphqlProcess = (env: Record<string, string>) =>
  startHttpProcess('api/graphql/main.ts', 'GRAPHQL_PORT', env)

async function startHttpProcess(main: string, portName: string, env: Record<string, string>): Promise<ApiProcess> {
  const port = await freePort()
  const child = startMain(main, [], {
    env: { [portName]: String(port), ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exit = once(child, 'exit')
  const lines: { msg?: string }[] = []
  createInterface({ input: child.stdout! }).on('line', (line) => lines.push(JSON.parse(line)))
  const url = `http://127.0.0.1:${port}`
  const answers = () =>
    fetch(`${url}/readyz`)
      .then(({ ok }) => ok)
      .catch(() => false)
  const ended = exit.then(([code, signal]) => {
    throw new Error(`${main} ended before it was ready: ${signal ?? code}`)
  })
  await Promise.race([until(`${main} is ready`, answers), ended])
  return {
    url,
    lines,
    exit,
    terminate: () => void child.kill('SIGTERM'),
    signal: (signal) => void child.kill(signal),
    async kill() {
      child.kill('SIGKILL')
      await exit
    },
  }
}
