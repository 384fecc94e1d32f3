import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { listen } from './ports.ts'

/** Timeout of a readiness check, in milliseconds. */
const timeoutMs = 5_000

export interface Health {
  /** Why only a restart can help this process; undefined: nothing is stuck. Absent: it never gets stuck. */
  readonly stuck?: () => string | undefined
  /** Undefined when the process can do its work; otherwise one line saying what is missing. */
  readonly notReady: () => string | undefined | Promise<string | undefined>
  /** Metrics in the Prometheus text format. */
  readonly metrics: () => string | Promise<string>
}

/**
 * Serves `/healthz` (the process lives; 503 with the reason when it is stuck), `/readyz` (it can work; 503 with the
 * reason otherwise) and `/metrics` (Prometheus text) on a port of its own; port 0 takes a free one. Resolves once it
 * listens.
 */
export async function serveHealth(host: string, port: number, health: Health): Promise<Server> {
  const notReady = sharedWhileRunning(health.notReady)
  const server = createServer(async (req, res) => {
    const answer = (status: number, body: string, type = 'text/plain; charset=utf-8') =>
      res.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body)
    const path = req.url?.split('?')[0]
    try {
      if (path === '/healthz') {
        const stuck = health.stuck?.()
        return stuck === undefined ? answer(200, 'ok\n') : answer(503, `${stuck}\n`)
      }
      if (path === '/readyz') {
        const problem = await withinTimeout(notReady())
        return problem === undefined ? answer(200, 'ready\n') : answer(503, `${problem}\n`)
      }
      if (path === '/metrics') return answer(200, await health.metrics(), 'text/plain; version=0.0.4')
      return answer(404, 'here are /healthz, /readyz and /metrics\n')
    } catch (error) {
      return answer(500, `${(error as Error).message}\n`)
    }
  })
  server.headersTimeout = 5_000
  server.requestTimeout = 10_000
  await listen(server, host, port)
  return server
}

/** Gives a run that is under way to everybody who asks for one meanwhile, so that a flood of probes costs a single one. */
export function sharedWhileRunning<T>(run: () => T | Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined
  return () => {
    running ??= Promise.resolve()
      .then(run)
      .finally(() => {
        running = undefined
      })
    return running
  }
}

/** Bounds the wait for a readiness check: a database behind a dead link may not answer for minutes. */
async function withinTimeout(problem: Promise<string | undefined>): Promise<string | undefined> {
  const known = new AbortController()
  const late = delay(timeoutMs, `no answer within ${timeoutMs / 1_000} s`, { signal: known.signal }).catch(
    () => undefined,
  )
  try {
    return await Promise.race([problem, late])
  } finally {
    known.abort()
  }
}

/** The port that a server listens on. */
export function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}
