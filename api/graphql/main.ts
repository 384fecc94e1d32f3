import { readChainsFile } from '../../chains.file.ts'
import { openDatabase } from '../../db/open.ts'
import { runCommand } from '../../ops/cli.ts'
import { createLogger } from '../../ops/logger.ts'
import { readConfig } from '../config.ts'
import { boundedDatabase, createApiPool } from '../http/database.ts'
import { serve } from '../http/server.ts'
import { MemoryStore } from '../limits/memory.ts'
import { FusedRedisStore } from '../limits/redis.ts'
import { connectRedis } from '../limits/sender.ts'

const usage = `
npm run graphql

Serves the schema directory as GraphQL: /graphql, and GraphiQL at /; /healthz, /readyz and /metrics for the operator.
Reads as the role directory_reader, which the user of DATABASE_URL has to be a member of. Stops on SIGTERM.

Reads DATABASE_URL, REDIS_URL, HOST, GRAPHQL_PORT, TRUST_PROXY_HOPS, LIMIT_PER_MINUTE, LIMIT_PER_DAY, LOG_LEVEL: see
.env.example.
`

await runCommand({ usage }, async () => {
  const config = readConfig(process.env, readChainsFile(process.env.CHAINS_FILE))
  const log = createLogger('graphql', config.logLevel)
  const opened = await openDatabase(config.databaseUrl)
  const pool = createApiPool(opened.databaseUrl)
  const redis = config.redisUrl ? connectRedis(config.redisUrl, log) : undefined
  const store = redis
    ? new FusedRedisStore(redis.send, config.limits, Date.now)
    : new MemoryStore(config.limits, Date.now)
  let stopping = false
  Object.assign(process.env, { GRAPHILE_ENV: 'production' }) // unset, the packages ask for it in so many words
  const { createGraphqlApp } = await import('./app.ts')
  const { app, release } = await createGraphqlApp({
    databaseUrl: opened.databaseUrl,
    database: boundedDatabase(pool),
    pool,
    log,
    trustProxyHops: config.trustProxyHops,
    limiter: { limits: config.limits, store, now: Date.now },
    notReady: () => (stopping ? 'the process is stopping' : undefined),
  })
  await serve(app, {
    host: config.host,
    port: config.graphqlPort,
    log,
    database: opened.description,
    onStop: () => {
      stopping = true
    },
  })
  await release()
  await pool.end()
  await redis?.stop()
  await opened.close()
  log.info('stopped')
})
