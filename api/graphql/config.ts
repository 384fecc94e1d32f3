import { readSettings } from '../../settings.read.ts'

/** What the environment says to GraphQL. Throws one error that names every bad variable. */
export function readConfig(env: NodeJS.ProcessEnv) {
  const { vars } = readSettings('graphql', env)
  return {
    databaseUrl: vars.DATABASE_URL,
    readUrl: vars.DATABASE_READ_URL,
    redisUrl: vars.REDIS_URL,
    host: vars.HOST,
    port: vars.GRAPHQL_PORT,
    trustProxyHops: vars.TRUST_PROXY_HOPS,
    /** Of /metrics, apart from the port that strangers reach; undefined: on that one. */
    metricsPort: vars.METRICS_PORT,
    stopPauseMs: vars.STOP_PAUSE_SECONDS * 1_000,
    limits: { perMinute: vars.LIMIT_PER_MINUTE, perDay: vars.LIMIT_PER_DAY },
    logLevel: vars.LOG_LEVEL,
  }
}
