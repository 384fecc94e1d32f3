import { readSettings } from '../../settings.check.ts'

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
