import { type Response, Router } from 'express'
import type { Registry } from 'prom-client'
import type { Queryable } from '../../db/pool.ts'
import { ping } from '../../db/queries/read/readiness.ts'
import { refuseMethod } from './method.ts'

interface Healthy {
  readonly database: Queryable
  readonly notReady: () => string | undefined
}

/** /healthz: the process lives; /readyz: it can answer, 503 with the reason otherwise; /metrics: Prometheus text. */
export function healthRoutes({ database, notReady }: Healthy, metrics: Registry): Router {
  const router = Router({ caseSensitive: true, strict: true })
  router.get('/healthz', (_req, res) => plain(res, 200, 'ok\n'))
  router.get('/readyz', async (_req, res) => {
    const problem = notReady() ?? (await databaseProblem(database))
    if (problem === undefined) plain(res, 200, 'ready\n')
    else plain(res, 503, `${problem}\n`)
  })
  router.get('/metrics', async (_req, res) => {
    const text = await metrics.metrics()
    res.set('Content-Type', metrics.contentType).set('Cache-Control', 'no-store').send(text)
  })
  router.all(['/healthz', '/readyz', '/metrics'], refuseMethod(['GET', 'HEAD']))
  return router
}

function plain(res: Response, status: number, text: string) {
  res.status(status).set('Content-Type', 'text/plain; charset=utf-8').set('Cache-Control', 'no-store').send(text)
}

async function databaseProblem(database: Queryable): Promise<string | undefined> {
  try {
    await ping(database)
    return undefined
  } catch {
    return 'the database does not answer'
  }
}
