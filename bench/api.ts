import { cpus, totalmem } from 'node:os'
import { chainNames, chainOf } from '../config/chains.ts'
import { migrate } from '../db/migrate.ts'
import { createPool } from '../db/pool.ts'
import { rollUpSettlements } from '../enrichment/periodic/rollup.ts'
import { startRedis } from '../test/support/redis.ts'
import { benchForms, sizeOf } from './endpoints.ts'
import { type BenchServer, type Load, load, startServer } from './load.ts'
import { startTemporaryServer } from './temporary-server.ts'
import { fillWorld, type WorldSize } from './world.ts'

interface ApiBenchOptions {
  readonly size: WorldSize
  /** Seconds of one measurement. */
  readonly seconds: number
  /** Rounds in which every server is measured once; the best round counts, because other work only makes it slower. */
  readonly rounds: number
}

const connections = 32
const profiles = 1_000 // different fids asked for in turn
const searches = 1_000

/** Compares the read API with a bare server and with two frameworks, and times search and bulk; prints tables. */
export async function benchApi({ size, seconds, rounds }: ApiBenchOptions): Promise<void> {
  const settings = { shared_buffers: '1GB', max_wal_size: '4GB' }
  const { postgres, remove } = await startTemporaryServer('api', { durable: false, settings })
  const redis = await startRedis()
  const servers = new Map<string, BenchServer>()
  try {
    process.stdout.write(`filling ${size.agents} agents and ${size.settlements} settlements\n`)
    await migrate(postgres.databaseUrl)
    const pool = createPool({ databaseUrl: postgres.databaseUrl, name: 'bench', statementTimeoutMs: 0 })
    await fillWorld(pool, size)
    while ((await rollUpSettlements({ pool })) > 0); // as in an installation that has run for a while
    await pool.query('vacuum (analyze) settlement_hourly, settlement_total, settlement_payer')
    await pool.end()

    const env = { DATABASE_URL: postgres.databaseUrl, REDIS_URL: redis.url }
    for (const kind of kinds) servers.set(kind, await startServer(kind, env))
    const asked = Array.from({ length: profiles }, (_, n) => ({
      path: `/api/agent/${1 + ((n * 7_919) % size.agents)}`,
    }))
    const { bytes } = await sizeOf(`${servers.get('full')?.url}/api/agent/1`)
    const asksOf = (kind: string) => (['bare', 'express'].includes(kind) ? [{ path: `/${bytes}` }] : asked)
    const options = { connections, status: 200 }
    const best = new Map<string, Load>()
    for (let round = 0; round < rounds; round++) {
      for (const [kind, server] of servers) {
        // Warms up connections, plans, caches and compiled code before the measurement.
        await load(server, asksOf(kind), { ...options, seconds: round === 0 ? seconds : 1 })
        best.set(kind, better(best.get(kind), await load(server, asksOf(kind), { ...options, seconds })))
      }
    }
    const searched = servers.get('full-memory') as BenchServer
    await latencies(searched, searchPaths(warmingWords).slice(0, 100)) // warms up with other words: caches no total
    const search = await latencies(searched, searchPaths(measuredWords))
    const bulk = await coldBulk(servers.get('full') as BenchServer)
    const forms = await benchForms({ env, seconds: Math.ceil(seconds / 10), rounds: 2 * rounds })
    report(best, search, bulk, forms)
  } finally {
    for (const server of servers.values()) await server.stop()
    await redis.stop()
    await remove()
  }
}

const kinds = ['bare', 'express', 'full', 'full-memory', 'uncached', 'fastify', 'hono']

function better(known: Load | undefined, next: Load): Load {
  if (!known) return next
  return {
    requestsPerSecond: Math.max(known.requestsPerSecond, next.requestsPerSecond),
    cpuPerRequest: Math.min(known.cpuPerRequest, next.cpuPerRequest),
    p99: Math.min(known.p99, next.p99),
    failures: known.failures + next.failures,
  }
}

const measuredWords = [
  'atlas',
  'falcon',
  'umbra',
  'trade-s',
  'velvet',
  'sable',
  'protocol',
  'willow7',
  'oracle-m',
  'quill ember',
]
const warmingWords = ['tundra', 'raven', 'lumen-s', 'cobalt7', 'orchid pixel']

/** Discovery searches by words of the world and two chains, no two alike: no page is cached, totals are as usual. */
function searchPaths(words: readonly string[]): string[] {
  const labels = chainNames.map((name) => encodeURIComponent(chainOf(name).label))
  return Array.from({ length: searches }, (_, n) => {
    const q = encodeURIComponent(words[n % words.length] as string)
    const chains = `chain=${labels[n % labels.length]}&chain=${labels[(n + 3) % labels.length]}`
    return `/api/discovery?q=${q}&${chains}&limit=${30 + Math.floor(n / (words.length * labels.length))}`
  })
}

async function latencies(server: BenchServer, paths: readonly string[]): Promise<number[]> {
  const times: number[] = []
  for (const path of paths) {
    const start = performance.now()
    const response = await fetch(server.url + path)
    await response.arrayBuffer()
    if (response.status !== 200) throw new Error(`${path} was answered with ${response.status}`)
    times.push(performance.now() - start)
  }
  return times.sort((a, b) => a - b)
}

async function coldBulk(server: BenchServer): Promise<{ ms: number; agents: number }> {
  const start = performance.now()
  const response = await fetch(`${server.url}/data/agents.json`, { headers: { 'accept-encoding': 'br' } })
  const body = (await response.json()) as { count: number }
  return { ms: performance.now() - start, agents: body.count }
}

function report(
  best: Map<string, Load>,
  search: readonly number[],
  bulk: { ms: number; agents: number },
  forms: Record<string, number>,
) {
  const of = (kind: string) => best.get(kind) as Load
  const bare = of('bare')
  const at = (share: number) => search[Math.floor(search.length * share)] as number
  const machine = `${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GB`
  process.stdout.write(`\n${machine}; best of all rounds\n`)
  process.stdout.write('server        requests/s   CPU us/request   x bare   p99 ms   failures\n')
  for (const [kind, { requestsPerSecond, cpuPerRequest, p99, failures }] of best) {
    const columns = [
      kind.padEnd(12),
      requestsPerSecond.toFixed(0).padStart(12),
      cpuPerRequest.toFixed(1).padStart(16),
      (cpuPerRequest / bare.cpuPerRequest).toFixed(2).padStart(8),
      p99.toFixed(0).padStart(8),
      String(failures).padStart(10),
    ]
    process.stdout.write(`${columns.join(' ')}\n`)
  }
  process.stdout.write(`search with two chains: p50 ${at(0.5).toFixed(1)} ms, p99 ${at(0.99).toFixed(1)} ms\n`)
  process.stdout.write(`bulk document of ${bulk.agents} agents, cold and brotli: ${bulk.ms.toFixed(0)} ms\n`)
  const framework = Math.max(of('fastify').requestsPerSecond, of('hono').requestsPerSecond)
  const round = (value: number) => Number(value.toFixed(2))
  const figures = {
    full_cpu_over_bare: round(of('full').cpuPerRequest / bare.cpuPerRequest),
    full_memory_cpu_over_bare: round(of('full-memory').cpuPerRequest / bare.cpuPerRequest),
    uncached_over_best_framework: round(of('uncached').requestsPerSecond / framework),
    discovery_p99_ms: round(at(0.99)),
    bulk_cold_ms: Math.round(bulk.ms),
    highest_over_bare_by_form: forms,
    failures: [...best.values()].reduce((sum, { failures }) => sum + failures, 0),
  }
  process.stdout.write(`${JSON.stringify(figures)}\n`)
}
