import { readChainsFile } from '../chains.file.ts'
import { openDatabase } from '../db/open.ts'
import { runCommand } from '../ops/cli.ts'
import { createLogger } from '../ops/logger.ts'
import { createApp } from './app.ts'
import { deriveClaimed } from './claim/accept.ts'
import { createMemoryCounter, createRedisCounter } from './claim/attempts.ts'
import { claimsWithoutWitness, createWitnesses } from './claim/world.ts'
import { readConfig } from './config.ts'
import { boundedDatabase, createApiPool } from './http/database.ts'
import { serve } from './http/server.ts'
import { MemoryStore } from './limits/memory.ts'
import { pageLimits } from './limits/page-limiter.ts'
import { FusedRedisStore } from './limits/redis.ts'
import { connectRedis } from './limits/sender.ts'

const usage = `
npm run api

Serves the directory over HTTP: JSON under /api, the feed at /feed.atom, the bulk file at /data/agents.json;
/healthz, /readyz and /metrics for the operator. Stops on SIGTERM once the requests in flight are answered.

Reads DATABASE_URL, REDIS_URL, HOST, PORT, BASE_URL, SITE_URL, SERVICE_NAME, TRUST_PROXY_HOPS, LIMIT_PER_MINUTE,
LIMIT_PER_DAY, SETTLEMENT_OVERLOADS, HUB_URL, NEYNAR_API_KEY, EGRESS_ALLOW, CLAIM_WINDOW_SECONDS,
CLAIM_WELL_KNOWN_HOST_LINK, CHAINS_FILE, RPC_<CHAIN>, LOG_LEVEL: see .env.example.
`

await runCommand({ usage }, async () => {
  const config = readConfig(process.env, readChainsFile(process.env.CHAINS_FILE))
  const log = createLogger('api', config.logLevel)
  const opened = await openDatabase(config.databaseUrl)
  const pool = createApiPool(opened.databaseUrl)
  const database = boundedDatabase(pool)
  const redis = config.redisUrl ? connectRedis(config.redisUrl, log) : undefined
  if (!redis) log.info('REDIS_URL is unset: limits are counted in this process alone')
  const store = redis
    ? new FusedRedisStore(redis.send, config.limits, Date.now)
    : new MemoryStore(config.limits, Date.now)
  const pageStore = redis && new FusedRedisStore(redis.send, pageLimits, Date.now, 'pages:')
  for (const missing of claimsWithoutWitness(config.chains)) log.warn(missing)
  const witnesses = createWitnesses(config)
  let stopping = false
  const app = createApp({
    ...config,
    database,
    pool: database,
    log,
    now: Date.now,
    limiter: { limits: config.limits, store, pageStore, now: Date.now, isReady: redis?.isReady },
    claims: {
      ...config.claims,
      ...witnesses,
      egressAllow: config.egressAllow,
      attempts: redis ? createRedisCounter(redis.send) : createMemoryCounter(Date.now),
      derive: (fid) => deriveClaimed({ ...config, pool, fid, now: () => new Date() }),
    },
    notReady: () => (stopping ? 'the process is stopping' : undefined),
  })
  await serve(app, {
    ...config,
    log,
    database: opened.description,
    onStop: () => {
      stopping = true
    },
  })
  await witnesses.close()
  await pool.end()
  await redis?.stop()
  await opened.close()
  log.info('stopped')
})
