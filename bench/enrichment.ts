import { mkdtemp, rm } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { startPostgres } from '../db/embedded.ts'
import { migrate } from '../db/migrate.ts'
import { createPool } from '../db/pool.ts'
import { startUpstream } from '../devnet/upstreams/server.ts'
import { readConfig, type UpstreamSettings } from '../enrichment/config.ts'
import { runEdges } from '../enrichment/edges.ts'
import { createFixedSources } from '../enrichment/fixed-sources.ts'
import { createHost } from '../enrichment/host.ts'
import { runJoin } from '../enrichment/join.ts'
import { runPass } from '../enrichment/scheduler.ts'
import { minute, type Source } from '../enrichment/source.ts'
import { fillWorld } from './world.ts'

export interface EnrichmentBenchOptions {
  /** Subjects that wait for one source that answers at once. */
  readonly subjects: number
  /** Agents of a first pass over every source of a fixed host. */
  readonly agents: number
}

const leaseWorkers = 8
const workersPerSource = 4
const joinRestMs = 250
const now = () => new Date()

/** Measures what the scheduler leases and ends in a second, and a first pass over all agents; prints a table. */
export async function benchEnrichment({ subjects, agents }: EnrichmentBenchOptions): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-enrichment-'))
  const settings = { shared_buffers: '1GB', max_wal_size: '4GB' }
  const postgres = await startPostgres({ dataFolder: join(folder, 'postgres'), durable: false, settings })
  const pool = createPool({ databaseUrl: postgres.databaseUrl, name: 'bench', max: 24 })
  try {
    await migrate(postgres.databaseUrl)
    const single = await leases(pool, subjects, 1)
    const grouped = await leases(pool, subjects, 50)
    process.stdout.write(`filling ${agents} agents\n`)
    await fillWorld(pool, { agents, addresses: Math.ceil(agents * 1.5), settlements: agents * 5 })
    const pass = await firstPass(pool, agents)
    const per = (count: number, seconds: number) => Math.round(count / seconds)
    const rows: [string, string][] = [
      [`leases a second, ${subjects} subjects, one a read`, String(per(subjects, single))],
      [`leases a second, ${subjects} subjects, fifty a read`, String(per(subjects, grouped))],
      [`first pass over ${agents} agents`, `${pass.seconds.toFixed(1)} s, ${pass.requests} requests`],
      ['agents a second, all sources and derived', String(per(agents, pass.seconds))],
      [`ties of ${agents} agents`, `${pass.edgeSeconds.toFixed(1)} s, ${pass.edges} ties`],
    ]
    for (const [name, value] of rows) process.stdout.write(`${name.padEnd(56)}${value}\n`)
    const result = {
      bench: 'enrichment',
      cpus: cpus().length,
      subjects,
      leases_per_second: per(subjects, single),
      leases_per_second_grouped: per(subjects, grouped),
      agents,
      first_pass_seconds: Number(pass.seconds.toFixed(1)),
      first_pass_requests: pass.requests,
      agents_per_second: per(agents, pass.seconds),
      edges: pass.edges,
      edges_seconds: Number(pass.edgeSeconds.toFixed(1)),
    }
    process.stdout.write(`${JSON.stringify(result)}\n`)
  } finally {
    await pool.end()
    await postgres.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Seconds until as many workers as there may be have leased and ended every subject once. */
async function leases(pool: pg.Pool, subjects: number, perRead: number): Promise<number> {
  const name = `bench-${perRead}`
  await pool.query(
    `insert into source_state (source, subject, due_at) select $1, 'fid:' || n, now() - n * interval '1 millisecond'
       from generate_series(1, $2::int) n`,
    [name, subjects],
  )
  await pool.query('vacuum (analyze) source_state')
  const source: Source = {
    name,
    host: createHost({ name, requestsPerSecond: Number.POSITIVE_INFINITY }),
    batch: 50,
    perRead,
    leaseMs: minute,
    retry: { baseMs: minute, capMs: minute },
    read: async () => ({ outcome: 'ok', write: async () => 60 * minute }),
  }
  const began = performance.now()
  const leased = await drain(pool, source, leaseWorkers)
  if (leased !== subjects) throw new Error(`${leased} of ${subjects} subjects were leased`)
  return (performance.now() - began) / 1_000
}

/** Agents with an account of their own on a host that answers at once about everybody, from the first join to the last. */
async function firstPass(pool: pg.Pool, agents: number) {
  await pool.query('delete from source_state')
  await pool.query(
    `insert into social_profile (fid, handle, display_name, github, updated_at)
     select fid, handle, display_name, 'dev' || fid, now() from agent`,
  )
  await pool.query('vacuum (analyze)')
  const everything = await startUpstream(({ url, body }) => ({ body: answerTo(url, body) }))
  const named = { BLOCKSCOUT_URL: everything.url, OLI_URL: everything.url, WEB3BIO_URL: everything.url }
  const config = readConfig({ ...named, GITHUB_URL: everything.url })
  const unpaced = (settings: UpstreamSettings | undefined) => settings && { ...settings, requestsPerSecond: 100_000 }
  const { blockscout, oli } = config
  const web3bio = { ...config.web3bio, requestsPerSecond: 100_000 }
  const github = { ...config.github, requestsPerSecond: 100_000 }
  const paced = { ...config, blockscout: unpaced(blockscout), oli: unpaced(oli), web3bio, github }
  const { sources } = createFixedSources(paced, pool, now)
  const join = {
    pool,
    now,
    settlementOverloads: 'spec',
    lookups: false,
    perAgent: sources.map(({ name }) => name),
  } as const

  const began = performance.now()
  while ((await runJoin(join)) > 0);
  let reading = true
  const joining = (async () => {
    while (reading) if ((await runJoin(join)) === 0) await delay(joinRestMs)
  })()
  await Promise.all(sources.map((source) => drain(pool, source, workersPerSource)))
  reading = false
  await joining
  while ((await runJoin(join)) > 0);
  for (const source of sources) await drain(pool, source, workersPerSource) // what became known meanwhile
  while ((await runJoin(join)) > 0);
  const seconds = (performance.now() - began) / 1_000

  const { rows } = await pool.query<{ complete: number; requests: number }>(
    `select (select count(*) from agent where oli is not null and has_codehost) as complete,
            (select sum(spent) from host_budget) as requests`,
  )
  if (rows[0]?.complete !== agents) throw new Error(`${rows[0]?.complete} of ${agents} agents were completed`)
  const edgesBegan = performance.now()
  let edges = 0
  for (let work = 1; work > 0; ) {
    const pass = await runEdges(join)
    edges += pass.moved
    work = pass.work
  }
  const edgeSeconds = (performance.now() - edgesBegan) / 1_000
  for (const { host } of sources) host.stop()
  await everything.stop()
  return { seconds, requests: Number(rows[0].requests), edges, edgeSeconds }
}

async function drain(pool: pg.Pool, source: Source, workers: number): Promise<number> {
  const failed = (name: string, _: readonly string[], error: Error) => {
    throw new Error(`${name}: ${error.message}`, { cause: error })
  }
  const pass = { pool, now, random: Math.random, failed }
  const worker = async () => {
    let leased = 0
    for (;;) {
      const result = await runPass(source, pass)
      if (result.leased === 0) return leased
      leased += result.leased
    }
  }
  const counts = await Promise.all(Array.from({ length: workers }, worker))
  return counts.reduce((sum, count) => sum + count, 0)
}

/** Whoever is asked about has a tag, an identity and an account. */
function answerTo({ pathname, searchParams }: URL, body: unknown): unknown {
  if (pathname.endsWith('/metadata')) {
    const tags = [{ slug: 'agent', name: 'Agent', tagType: 'name', ordinal: 1, meta: '{}' }]
    const addresses = searchParams.has('chainId') ? [] : (searchParams.get('addresses') ?? '').split(',')
    return { addresses: Object.fromEntries(addresses.map((address) => [address, { tags }])) }
  }
  if (pathname === '/labels/bulk') {
    const { addresses } = body as { addresses: string[] }
    return { results: addresses.map((address) => ({ address, labels: [] })) }
  }
  if (pathname.startsWith('/profile/batch/')) {
    const asked = JSON.parse(decodeURIComponent(pathname.slice('/profile/batch/'.length))) as string[]
    return asked.flatMap((identity) => {
      const [, fid] = /^farcaster,#(\d+)$/.exec(identity) ?? []
      return fid ? [{ identity: `agent${fid}`, platform: 'farcaster', social: { uid: Number(fid) } }] : []
    })
  }
  const [, , login = '', rest] = pathname.split('/')
  return rest === 'repos' ? [] : { login, id: Number(login.slice('dev'.length)) }
}
