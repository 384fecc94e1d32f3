import { cpus } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { chains } from '../../config/chains.ts'
import { sources } from '../../config/sources.ts'
import { migrate } from '../../db/migrate.ts'
import { createPool } from '../../db/pool.ts'
import { askForAllDocuments } from '../../db/queries/sources/registration-documents.ts'
import { addSubjects } from '../../db/queries/sources/source-state.ts'
import type { DeriveContext } from '../../derive/derivation.ts'
import { type Config, readConfig } from '../../enrichment/config.ts'
import { createSources } from '../../enrichment/installed-sources.ts'
import { rollUpSettlements } from '../../enrichment/periodic/rollup.ts'
import { runPass } from '../../enrichment/schedule/scheduler.ts'
import type { AnySource } from '../../enrichment/schedule/source.ts'
import { hubSubject } from '../../enrichment/socialindex/shards.ts'
import { createHost } from '../../hosts/host.ts'
import { minute } from '../../ops/time.ts'
import { runJoin, settleEdges } from '../../test/derive/passes.ts'
import { startTemporaryServer } from '../temporary-server.ts'
import { fillWorld } from '../world.ts'
import { startBenchHosts } from './hosts.ts'

interface EnrichmentBenchOptions {
  /** Subjects that are due for one source, which answers without delay. */
  readonly subjects: number
  /** Agents of a first pass over every source. */
  readonly agents: number
}

const leaseWorkers = 8
const workersPerSource = 4
const restMs = 50
/** Milliseconds without due subjects after which a pass counts as ended. */
const quietMs = 1_000
const now = () => new Date()

/** Measures the scheduler's leases a second, and a first pass over all agents; prints a table. */
export async function benchEnrichment({ subjects, agents }: EnrichmentBenchOptions): Promise<void> {
  const settings = { shared_buffers: '1GB', max_wal_size: '4GB' }
  const { postgres, remove } = await startTemporaryServer('enrichment', { durable: false, settings })
  const pool = createPool({ databaseUrl: postgres.databaseUrl, name: 'bench', max: 24, statementTimeoutMs: 0 })
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
      [`first pass over ${agents} agents`, `${pass.seconds.toFixed(1)} s`],
      ...[...pass.reads].map(([name, count]): [string, string] => [`  subjects read of ${name}`, String(count)]),
      ['agents a second, all sources and derived', String(per(agents, pass.seconds))],
      [`edges of ${agents} agents`, `${pass.edges.seconds.toFixed(1)} s, ${pass.edges.moved} edges`],
      ['edges when nothing has changed', `${pass.again.seconds.toFixed(3)} s`],
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
      first_pass_reads: Object.fromEntries(pass.reads),
      agents_per_second: per(agents, pass.seconds),
      edges: pass.edges.moved,
      edges_seconds: Number(pass.edges.seconds.toFixed(1)),
      edges_unchanged_seconds: Number(pass.again.seconds.toFixed(3)),
    }
    process.stdout.write(`${JSON.stringify(result)}\n`)
  } finally {
    await pool.end()
    await remove()
  }
}

/** Seconds until the most workers allowed have leased and finished every subject once. */
async function leases(pool: pg.Pool, subjects: number, perRead: number): Promise<number> {
  const name = `bench-${perRead}`
  await pool.query(
    `insert into source_state (source, subject, due_at) select $1, 'fid:' || n, now() - n * interval '1 millisecond'
       from generate_series(1, $2::int) n`,
    [name, subjects],
  )
  await pool.query('vacuum (analyze) source_state')
  const source: AnySource = {
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

/**
 * Runs a first pass: registrations and verifications are stored, no agent has been joined or read yet. It ends when
 * every source has answered about every agent and everything is derived.
 */
async function firstPass(pool: pg.Pool, agents: number) {
  await pool.query('truncate agent, agent_holding, source_state, due')
  const doubles = await startBenchHosts(pool)
  await pool.query('truncate due')
  await pool.query(
    `insert into due (kind, key) select distinct 'holders', encode("to", 'hex') from registration_transfer`,
  )
  await pool.query('vacuum (analyze)')
  const config = unpaced(readConfig(doubles.env))
  const politeness = { intervalMs: 0, maxWaiting: 1_000, maxWaitMs: minute }
  const { installed, perAgent, close } = createSources({ config, chains, pool, now, politeness })
  const join = { pool, now, settlementOverloads: 'spec', lookups: false, perAgent } as const

  const began = performance.now()
  await addSubjects(pool, sources.shards.name, [hubSubject], { priority: 0, dueAt: now() })
  await askForAllDocuments(pool, now())
  const reads = new Map<string, number>()
  let lastWork = began
  let inFlight = 0
  const untilQuiet = async (pass: () => Promise<number>) => {
    while (inFlight > 0 || performance.now() - lastWork < quietMs) {
      inFlight++
      const work = await pass()
      inFlight--
      if (work > 0) lastWork = performance.now()
      else await delay(restMs)
    }
  }
  const read = async (source: AnySource) => {
    const { leased } = await runPass(source, { pool, now, random: Math.random, failed })
    reads.set(source.name, (reads.get(source.name) ?? 0) + leased)
    return leased
  }
  const workers = installed.flatMap((source) => Array.from({ length: workersPerSource }, () => () => read(source)))
  await Promise.all([() => runJoin(join), ...workers].map(untilQuiet))
  const seconds = (lastWork - began) / 1_000

  const { rows } = await pool.query<{ complete: number }>(
    `select count(*) as complete from agent
      where oli is not null and has_codehost and has_spec and display_name is not null`,
  )
  if (rows[0]?.complete !== agents) throw new Error(`${rows[0]?.complete} of ${agents} agents were completed`)
  while ((await rollUpSettlements({ pool })) > 0);
  const edges = await deriveEdges(join)
  const again = await deriveEdges(join)
  await close()
  await doubles.stop()
  return { seconds, reads, edges, again }
}

/** Derives every edge that is due; returns the seconds and the number of changed edges. */
async function deriveEdges(join: DeriveContext) {
  const began = performance.now()
  const { moved } = await settleEdges(join)
  return { seconds: (performance.now() - began) / 1_000, moved }
}

/** The settings with practically no rate limits: as fast as hosts answer. */
function unpaced(config: Config): Config {
  const requestsPerSecond = 100_000
  const { hub, web3bio, github, blockscout, oli } = config
  return {
    ...config,
    hub: { ...hub, requestsPerSecond },
    web3bio: { ...web3bio, requestsPerSecond },
    github: { ...github, requestsPerSecond },
    blockscout: blockscout && { ...blockscout, requestsPerSecond },
    oli: oli && { ...oli, requestsPerSecond },
  }
}

/** Runs the workers of a source until nothing is due; returns the number of leased subjects. */
async function drain(pool: pg.Pool, source: AnySource, workers: number): Promise<number> {
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

function failed(name: string, _: readonly string[], error: Error): never {
  throw new Error(`${name}: ${error.message}`, { cause: error })
}
