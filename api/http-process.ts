import type { Express } from 'express'
import type pg from 'pg'
import type { Logger } from 'pino'
import { Registry } from 'prom-client'
import { openDatabase } from '../db/open.ts'
import { Standby } from '../db/standby.ts'
import { serveHealth } from '../ops/health.ts'
import { createLogger } from '../ops/logger.ts'
import { outliveStrays } from '../ops/strays.ts'
import { type BoundedDatabase, boundedDatabase, createApiPool } from './http/database.ts'
import { createReadiness } from './http/health.ts'
import { serve } from './http/server.ts'
import type { LimiterOptions } from './limits/limiter.ts'
import { MemoryStore } from './limits/memory-store.ts'
import { connectRedis, type RedisSender } from './limits/redis-connection.ts'
import { FusedRedisStore } from './limits/redis-store.ts'
import type { Limits } from './limits/window.ts'

/** Settings of every process that serves HTTP. */
interface HttpSettings {
  readonly databaseUrl: string | undefined
  /** Connection string of standbys of that database; undefined: all reads go to the primary. */
  readonly readUrl: string | undefined
  /** Opens the connection pool to the standbys. Default: as the API's. */
  readonly createReadPool?: (readUrl: string) => pg.Pool
  readonly redisUrl: string | undefined
  readonly host: string
  readonly port: number
  /** Port of its own for /metrics, with a second /healthz and /readyz; undefined: /metrics is served on `port`. */
  readonly metricsPort: number | undefined
  readonly limits: Limits
  /** Milliseconds after the stop signal for which new connections are still accepted. */
  readonly stopPauseMs: number
  readonly logLevel: string
}

/** What `runHttp` opens for the app that it serves. */
interface HttpParts {
  readonly databaseUrl: string
  readonly pool: pg.Pool
  /** The primary, as requests use it. */
  readonly database: BoundedDatabase
  readonly standby: Standby | undefined
  readonly log: Logger
  readonly limiter: LimiterOptions
  /** Connection to Redis; undefined: limits are counted in this process alone. */
  readonly redis: RedisSender | undefined
  readonly notReady: () => string | undefined
  readonly registry: Registry
  readonly metricsPort: number | undefined
}

interface HttpApp {
  readonly app: Express
  /** Closes what the app has opened; called after the last answer. */
  release(): Promise<void>
}

/** Opens what a process named `name` serves from, serves its app until it is told to stop, and closes everything. */
export async function runHttp(
  name: string,
  settings: HttpSettings,
  create: (parts: HttpParts) => HttpApp | Promise<HttpApp>,
): Promise<void> {
  const { limits, metricsPort } = settings
  const log = createLogger(name, settings.logLevel)
  const opened = await openDatabase(settings.databaseUrl)
  const pool = createApiPool(opened.databaseUrl)
  const redis = settings.redisUrl ? connectRedis(settings.redisUrl, log) : undefined
  if (!redis) log.info('REDIS_URL is unset: limits are counted in this process alone')
  const store = redis ? new FusedRedisStore(redis.send, limits, Date.now) : new MemoryStore(limits, Date.now)
  let stopping = false
  const database = boundedDatabase(pool)
  const standby = openStandby(settings, database, log)
  const notReady = () => (stopping ? 'the process is stopping' : undefined)
  const registry = new Registry()
  const limiter = { limits, store, now: Date.now, isReady: redis?.isReady }
  const { app, release } = await create({
    databaseUrl: opened.databaseUrl,
    pool,
    database,
    standby,
    log,
    limiter,
    redis,
    notReady,
    registry,
    metricsPort,
  })
  const health = metricsPort !== undefined && {
    notReady: createReadiness({ database, notReady, limiter }),
    metrics: () => registry.metrics(),
  }
  const metrics = health && (await serveHealth(settings.host, metricsPort, health))
  outliveStrays(log, registry)
  await serve(app, {
    ...settings,
    log,
    database: opened.description,
    onStop: () => {
      stopping = true
    },
  })
  if (metrics) metrics.close()
  await release()
  await standby?.end()
  await pool.end()
  await redis?.stop()
  await opened.close()
  log.info('stopped')
}

function openStandby(
  { readUrl, createReadPool = createApiPool }: HttpSettings,
  primary: BoundedDatabase,
  log: Logger,
): Standby | undefined {
  if (readUrl === undefined) return undefined
  const onChange = (standing: Standby['standing']) => {
    if (standing === 'answered') log.info('reads go to a standby')
    else log.warn({ standby: standing }, 'reads go to the primary: no standby is fit')
  }
  return new Standby({ primary, pool: createReadPool(readUrl), onChange })
}
