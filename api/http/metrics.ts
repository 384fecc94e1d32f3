import type { RequestHandler } from 'express'
import { collectDefaultMetrics, Registry } from 'prom-client'
import type { ChainSettings } from '../../config/chains.file.ts'
import type { Queryable } from '../../db/pool.ts'
import { chainLags } from '../../db/queries/server/readiness.ts'
import type { Standby } from '../../db/standby.ts'
import { addScraped, Counter, counter, gauge, Histogram, type ScrapedMetric, tellBuild } from '../../ops/metrics.ts'

export interface Watched {
  /** Chains whose indexer lag is reported, if they are enabled; absent: none is reported. */
  readonly chains?: Readonly<Record<string, Pick<ChainSettings, 'enabled'>>>
  readonly cache: { readonly bytes: number; readonly size: number }
  readonly database: Queryable
  readonly limiter?: { readonly isReady?: () => boolean }
  /** Connections of the pool as they are now. */
  readonly pool: { readonly totalCount: number; readonly idleCount: number; readonly waitingCount: number }
  /** Count of the requests' statements that timed out. Absent: they run on other connections and are not counted. */
  readonly statements?: { readonly cancelledCount: number }
  readonly standby?: Pick<Standby, 'counts' | 'ageMs'> | undefined
  /** Registry that the metrics are added to. Default: a new one. */
  readonly registry?: Registry | undefined
}

/** Histogram buckets, in seconds: from a cache hit to the longest that a request may take. */
const latencyBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** What /metrics exposes: requests, latencies, cache, pool, lag of the indexers, and the process itself. */
export function createMetrics(watched: Watched) {
  const { registry = new Registry() } = watched
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  tellBuild(registry)
  const seconds = new Histogram({
    name: 'agent_directory_http_request_seconds',
    help: 'Time from the request to the end of its answer.',
    labelNames: ['route', 'method', 'status'],
    buckets: latencyBuckets,
    registers,
  })
  const reads = new Counter({
    name: 'agent_directory_cache_reads_total',
    help: 'Reads answered from memory (hit) or from the database (miss).',
    labelNames: ['route', 'outcome'],
    registers,
  })
  const errors = new Counter({
    name: 'agent_directory_http_errors_total',
    help: 'Answers with an error, by its code.',
    labelNames: ['code'],
    registers,
  })
  const leftOut = new Counter({
    name: 'agent_directory_agents_left_out_total',
    help: 'Agents that a file, a feed or a list went without, as they could not be shown.',
    labelNames: ['place'],
    registers,
  })
  const claims = new Counter({
    name: 'agent_directory_claim_total',
    help: 'Claims that could be read, by what became of them: accepted, the code of the refusal, or unanswered.',
    labelNames: ['method', 'outcome'],
    registers,
  })
  const inFlight = { count: 0 }
  addScraped(registry, metricsOf(watched, inFlight))
  const readSeries = seriesOf(reads)
  return {
    registry,
    countClaim: (method: string, outcome: string) => claims.inc({ method, outcome }),
    countError: (code: string) => errors.inc({ code }),
    countLeftOut: (place: string) => leftOut.inc({ place }),
    countRead(route: string, hit: boolean) {
      const outcome = hit ? 'hit' : 'miss'
      readSeries(`${outcome} ${route}`, { route, outcome }).inc()
    },
    timeRequests: timeRequests(seconds, errors, inFlight),
  }
}

function metricsOf(
  { cache, chains = {}, database, limiter, pool, standby, statements }: Watched,
  inFlight: { readonly count: number },
): ScrapedMetric[] {
  return [
    gauge(
      'agent_directory_http_requests_in_flight',
      'Requests whose answer has not ended, the one that asks for this included.',
      () => inFlight.count,
    ),
    gauge('agent_directory_cache_bytes', 'Bytes in the cache.', () => cache.bytes),
    gauge('agent_directory_cache_entries', 'Entries in the cache.', () => cache.size),
    gauge('agent_directory_limiter_ready', '1 while requests are counted, 0 while metered ones get 503.', () =>
      Number(limiter?.isReady?.() ?? true),
    ),
    gauge(
      'agent_directory_database_connections',
      'Connections of the pool, and requests that wait for one.',
      () => [
        [{ state: 'busy' }, pool.totalCount - pool.idleCount],
        [{ state: 'idle' }, pool.idleCount],
        [{ state: 'waiting' }, pool.waitingCount],
      ],
      ['state'],
    ),
    gauge(
      'agent_directory_indexer_lag_seconds',
      'Age of the newest indexed block of a chain that is not off. Absent while the database does not answer.',
      async () =>
        (await chainLags(database).catch(() => [])).flatMap(({ chain, lag_seconds }) =>
          chains[chain]?.enabled ? [[{ chain }, lag_seconds] as const] : [],
        ),
      ['chain'],
    ),
    ...(statements ? [metricOfStatements(statements)] : []),
    ...(standby ? metricsOfStandby(standby) : []),
  ]
}

function metricOfStatements(statements: NonNullable<Watched['statements']>): ScrapedMetric {
  return counter(
    'agent_directory_database_statement_timeouts_total',
    'Statements of requests that were given up for their length.',
    () => statements.cancelledCount,
  )
}

function metricsOfStandby(standby: NonNullable<Watched['standby']>): ScrapedMetric[] {
  return [
    counter(
      'agent_directory_standby_reads_total',
      'Reads a standby could have taken: answered there, or sent to the primary, as none was fit or cancelled it.',
      () => Object.entries(standby.counts).map(([outcome, count]) => [{ outcome }, count]),
      ['outcome'],
    ),
    gauge(
      'agent_directory_standby_age_seconds',
      'Age of what is read at a standby, at most. Absent while reads go to the primary.',
      () => (standby.ageMs === undefined ? undefined : standby.ageMs / 1_000),
    ),
  ]
}

/** Keeps a metric's series by a name of ours: looking them up by their labels costs more than counting. */
function seriesOf<T>(metric: { labels(labels: Record<string, string | number>): T }) {
  const known = new Map<string, T>()
  return (name: string, labels: Record<string, string | number>): T => {
    const found = known.get(name) ?? metric.labels(labels)
    known.set(name, found)
    return found
  }
}

function timeRequests(seconds: Histogram, errors: Counter, inFlight: { count: number }): RequestHandler {
  const series = seriesOf(seconds)
  return (req, res, next) => {
    const start = performance.now()
    inFlight.count++
    res.once('close', () => {
      inFlight.count--
      const route = (req.route?.path as string | undefined) ?? 'none'
      const method = known.has(req.method) ? req.method : 'other'
      const status = res.statusCode
      series(`${method} ${status} ${route}`, { route, method, status }).observe((performance.now() - start) / 1_000)
      if (res.locals.errorCode !== undefined) errors.inc({ code: res.locals.errorCode })
    })
    next()
  }
}

const known = new Set(['GET', 'HEAD', 'POST', 'OPTIONS'])
