import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import autocannon from 'autocannon'

/** A server in a process of its own, so that its CPU time is its own. */
export interface BenchServer {
  readonly url: string
  /** CPU time of the process so far, microseconds. */
  cpuMicros(): Promise<number>
  stop(): Promise<void>
}

const entry = fileURLToPath(new URL('./servers/main.ts', import.meta.url))

/** Starts a server of bench/servers by its kind; resolves once it listens. */
export async function startServer(kind: string, env: Record<string, string>): Promise<BenchServer> {
  // Node strips the types itself, as the images' build does, because what tsx adds to each function would be measured.
  const execArgv = ['--experimental-transform-types', '--no-warnings']
  const child = fork(entry, [kind], { execArgv, env: { PATH: process.env.PATH, ...env } })
  const port = await message<number>(child, 'port')
  return {
    url: `http://127.0.0.1:${port}`,
    cpuMicros() {
      const answer = message<number>(child, 'cpu')
      child.send('cpu')
      return answer
    },
    async stop() {
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
    },
  }
}

export interface Load {
  readonly requestsPerSecond: number
  /** CPU time of the server process per request, in microseconds. */
  readonly cpuPerRequest: number
  /** Latency in milliseconds. */
  readonly p99: number
  /** Answers with an unexpected status, and requests without an answer. */
  readonly failures: number
}

/** A request. */
export interface Asked {
  readonly path: string
  readonly headers?: Record<string, string>
}

interface LoadOptions {
  readonly seconds: number
  /** Connections of the load generator, which is this process. */
  readonly connections: number
  /** Expected status of every answer. */
  readonly status: number
}

/** Sends the requests in turn for some seconds, as fast as they are answered. */
export async function load(
  server: BenchServer,
  requests: readonly Asked[],
  { seconds, connections, status }: LoadOptions,
): Promise<Load> {
  const before = await server.cpuMicros()
  const result = await autocannon({
    url: server.url,
    connections,
    duration: seconds,
    requests: requests.slice(0, 1),
    // Every connection has its own order: in one order they would all wait for the same answer.
    setupClient: (client) => client.setRequests(shuffled(requests)),
  })
  const cpu = (await server.cpuMicros()) - before
  const answered = Object.values(result.statusCodeStats).reduce((sum, { count }) => sum + count, 0)
  return {
    requestsPerSecond: result.requests.average,
    cpuPerRequest: cpu / result.requests.total,
    p99: result.latency.p99,
    failures: answered - (result.statusCodeStats[status]?.count ?? 0) + result.errors + result.timeouts,
  }
}

function shuffled<T>(all: readonly T[]): T[] {
  return all
    .map((one) => ({ one, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ one }) => one)
}

async function message<T>(child: ChildProcess, name: string): Promise<T> {
  const answered = new AbortController() // takes the listener that lost off again
  const { signal } = answered
  const ended = once(child, 'exit', { signal }).then(
    () => Promise.reject(new Error('a server of the benchmark ended')),
    () => new Promise<never>(() => {}),
  )
  try {
    for (;;) {
      const [value] = (await Promise.race([once(child, 'message', { signal }), ended])) as [Record<string, T>]
      if (name in value) return value[name] as T
    }
  } finally {
    answered.abort()
  }
}
