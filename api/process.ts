import type { Express } from 'express'
import type pg from 'pg'
import type { Logger } from 'pino'
import { Registry } from 'prom-client'
import { openDatabase } from '../db/open.ts'
import { Standby } from '../db/standby.ts'
import { serveHealth } from '../ops/health.ts'
import { createLogger } from '../ops/logger.ts'
import { type BoundedDatabase, boundedDatabase, createApiPool } from './http/database.ts'
import { whyNotReady } from './http/health.ts'
import { serve } from './http/server.ts'
import type { LimiterOptions } from './limits/limiter.ts'
import { MemoryStore } from './limits/memory.ts'
import { FusedRedisStore } from './limits/redis.ts'
import { connectRedis, type RedisSender } from './limits/sender.ts'
import type { Limits } from './limits/window.ts'

/** What every process that serves HTTP is told. */
interface HttpSettings {
  readonly databaseUrl: string | undefined
  /** Of standbys of that database; undefined: there are none to read at. */
  readonly readUrl: string | undefined
  /** The connections to them. Default: those of the API. */
  readonly createReadPool?: (readUrl: string) => pg.Pool
  readonly redisUrl: string | undefined
  readonly host: string
  readonly port: number
  /** Of /metrics, and of health once more; undefined: `port` has them. */
  readonly metricsPort: number | undefined
  readonly limits: Limits
  /** From the stop signal to the end of new connections, in milliseconds. */
  readonly stopPauseMs: number
  readonly logLevel: string
}

/** What every app that serves HTTP is made of. */
interface HttpParts {
  readonly databaseUrl: string
  readonly pool: pg.Pool
  /** The primary. */
  readonly database: BoundedDatabase
  readonly standby: Standby | undefined
  readonly log: Logger
  readonly limiter: LimiterOptions
  /** Undefined: limits are counted in this process alone. */
  readonly redis: RedisSender | undefined
  readonly notReady: () => string | undefined
  readonly registry: Registry
  readonly metricsPort: number | undefined
}

interface HttpApp {
  readonly app: Express
  /** Ends what the app has opened, once nobody is served any more. */
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
  const { app, release } = await create({
    databaseUrl: opened.databaseUrl,
    pool,
    database,
    standby,
    log,
    limiter: { limits, store, now: Date.now, isReady: redis?.isReady },
    redis,
    notReady,
    registry,
    metricsPort,
  })
  const health = metricsPort !== undefined && {
    notReady: () => whyNotReady({ database, notReady }),
    metrics: () => registry.metrics(),
  }
  const metrics = health && (await serveHealth(settings.host, metricsPort, health))
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
