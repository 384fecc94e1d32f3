import type pg from 'pg'
import { graphqlLimits } from '../../config/limits.protocols.ts'
import { readSettings } from '../../config/settings.check.ts'
import { createPool, withSettings } from '../../db/pool.ts'

/** Settings of the GraphQL process from the environment. Throws one error that names every bad variable. */
export function readConfig(env: NodeJS.ProcessEnv) {
  const { vars } = readSettings('graphql', env)
  return {
    databaseUrl: vars.DATABASE_URL,
    readUrl: vars.DATABASE_READ_URL,
    redisUrl: vars.REDIS_URL,
    host: vars.HOST,
    port: vars.GRAPHQL_PORT,
    trustProxyHops: vars.TRUST_PROXY_HOPS,
    /** Port of its own for /metrics; undefined: /metrics is served on the public port. */
    metricsPort: vars.METRICS_PORT,
    stopPauseMs: vars.STOP_PAUSE_SECONDS * 1_000,
    limits: { perMinute: vars.LIMIT_PER_MINUTE, perDay: vars.LIMIT_PER_DAY },
    logLevel: vars.LOG_LEVEL,
  }
}

/** Connection settings: read only, as the role of the SQL contract, whatever user DATABASE_URL logs in as. */
const settings = '-c role=directory_reader -c default_transaction_read_only=on'
const connections = 4

/** Connection pool of GraphQL operations, whose statements and waits for a connection have a timeout in milliseconds. */
export function createGraphqlPool(databaseUrl: string, timeoutMs: number = graphqlLimits.statementMs): pg.Pool {
  const named = withSettings(databaseUrl, { after: settings })
  return createPool({
    databaseUrl: named,
    name: 'graphql',
    max: connections,
    statementTimeoutMs: timeoutMs,
    connectTimeoutMs: timeoutMs,
  })
}
