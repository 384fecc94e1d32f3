import express, { type Express } from 'express'
import type pg from 'pg'
import type { Logger } from 'pino'
import { postgraphile } from 'postgraphile'
import { grafserv } from 'postgraphile/grafserv/express/v4'
import { graphqlLimits } from '../../config/limits.protocols.ts'
import type { Queryable } from '../../db/pool.ts'
import type { Standby } from '../../db/standby.ts'
import { guard, readGraphqlBody } from '../graphql-guard/guard.ts'
import { readConnections } from '../http/database.ts'
import { waitInLane } from '../http/database-turns.ts'
import { answerErrors, refuseMethod, refusePath } from '../http/error-answer.ts'
import { giveHeaders } from '../http/headers.ts'
import { healthRoutes } from '../http/health.ts'
import { judgeHost, requireHost } from '../http/host.ts'
import { createMetrics, type Watched } from '../http/metrics.ts'
import { type LimiterOptions, limiter } from '../limits/limiter.ts'
import { createGraphqlPool } from './config.ts'
import { createPreset } from './preset.ts'

export interface GraphqlDeps {
  readonly databaseUrl: string
  /** Database for health and metrics alone; operations have connections of their own. */
  readonly database: Queryable
  readonly pool: Watched['pool']
  /** Standby that operations read from while it is fit; undefined: they read from the primary. */
  readonly standby?: Standby | undefined
  readonly registry?: Watched['registry']
  /** Port of its own for /metrics; undefined: this app serves /metrics too. */
  readonly metricsPort?: number | undefined
  readonly log: Logger
  readonly trustProxyHops: number
  readonly limiter: LimiterOptions
  readonly notReady: () => string | undefined
}

export interface GraphqlApp {
  readonly app: Express
  /** Closes its database connections. */
  release(): Promise<void>
}

/** GraphQL at /graphql, GraphiQL at /. Rejects when the schema cannot be read, as without the role directory_reader. */
export async function createGraphqlApp(deps: GraphqlDeps): Promise<GraphqlApp> {
  const { log } = deps
  const connections = createGraphqlPool(deps.databaseUrl)
  const operations = deps.standby ? readConnections(deps.standby, connections) : connections
  const catalogue = createGraphqlPool(deps.databaseUrl, graphqlLimits.catalogueMs)
  let reads: Pick<pg.Pool, 'connect'> = catalogue
  const connect = () => reads.connect()
  const instance = postgraphile(
    createPreset({ options: operations.options, connect: connect as pg.Pool['connect'] }, log),
  )
  const schema = await instance.getSchema()
  await catalogue.end()
  reads = operations
  const nothingKept = { bytes: 0, size: 0 }
  const metrics = createMetrics({ ...deps, cache: nothingKept })
  const app = express()
  app.disable('x-powered-by')
  app.enable('case sensitive routing') // as the limiter reads paths
  app.set('trust proxy', deps.trustProxyHops)
  app.use(judgeHost)
  app.use(giveHeaders)
  app.use(metrics.timeRequests)
  app.use(healthRoutes(deps, metrics.registry))
  app.use(limiter(deps.limiter))
  app.use(requireHost)
  app.post('/graphql', ...readGraphqlBody(), guard(schema))
  const refuse = refuseMethod(['POST'])
  app.all('/graphql', (req, res, next) => (req.method === 'POST' ? next() : refuse(req, res, next)))
  app.use(waitInLane('api')) // after the parser, whose callback loses the async context
  await instance.createServ(grafserv).addTo(app, null, false)
  app.use(refusePath)
  app.use(answerErrors(log))
  const release = async () => {
    await instance.release()
    await connections.end()
  }
  return { app, release }
}
