import { type Response, Router } from 'express'
import type { Registry } from 'prom-client'
import type { Queryable } from '../../db/pool.ts'
import { ping } from '../../db/queries/server/readiness.ts'
import type { Standby } from '../../db/standby.ts'
import { sharedWhileRunning } from '../../ops/health.ts'
import { inLane } from './database-turns.ts'
import { refuseMethod } from './error-answer.ts'

interface Healthy {
  readonly database: Queryable
  readonly standby?: Standby | undefined
  readonly notReady: () => string | undefined
  readonly limiter: { readonly isReady?: (() => boolean) | undefined }
  readonly metricsPort?: number | undefined
}

/**
 * /healthz: the process is alive; /readyz: it can answer, 503 with the reason otherwise; /metrics: Prometheus text, unless
 * it has a port of its own.
 */
export function healthRoutes(healthy: Healthy, metrics: Registry): Router {
  const whyNotReady = createReadiness(healthy)
  const router = Router({ caseSensitive: true, strict: true })
  router.get('/healthz', (_req, res) => plain(res, 200, 'ok\n'))
  router.get('/readyz', async (_req, res) => {
    const problem = await whyNotReady()
    if (problem === undefined) plain(res, 200, `ready\n${readsOf(healthy)}`)
    else plain(res, 503, `${problem}\n`)
  })
  router.all(['/healthz', '/readyz'], refuseMethod(['GET', 'HEAD']))
  if (healthy.metricsPort !== undefined) return router
  router.get('/metrics', async (_req, res) => {
    const text = await metrics.metrics()
    res.set('Content-Type', metrics.contentType).set('Cache-Control', 'no-store').send(text)
  })
  router.all('/metrics', refuseMethod(['GET', 'HEAD']))
  return router
}

/** Line of /readyz that says whether reads go to a standby or the primary; empty without standbys. */
function readsOf({ standby }: Healthy): string {
  if (!standby) return ''
  const { ageMs, standing } = standby
  return ageMs === undefined
    ? `reads: primary (standby ${standing})\n`
    : `reads: standby, ${(ageMs / 1_000).toFixed(1)} s old\n`
}

function plain(res: Response, status: number, text: string) {
  res.status(status).set('Content-Type', 'text/plain; charset=utf-8').set('Cache-Control', 'no-store').send(text)
}

/**
 * Asks why the process cannot answer: one line, undefined while it can. A ping of the database that is under way
 * answers everybody who asks; it waits in a line of its own, where no number of other requests is before it or refuses it.
 */
export function createReadiness({ database, notReady, limiter }: Healthy): () => Promise<string | undefined> {
  const ask = sharedWhileRunning(() => inLane('probes', 'readiness', () => ping(database)))
  return async () => {
    const problem = notReady()
    if (problem !== undefined) return problem
    if (limiter.isReady?.() === false) return 'Redis does not count: metered requests get 503'
    try {
      await ask()
      return notReady()
    } catch {
      return 'the database does not answer'
    }
  }
}
