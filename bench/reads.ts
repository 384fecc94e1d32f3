import { cpus, totalmem } from 'node:os'
import type pg from 'pg'
import { createApiPool } from '../api/http/database.ts'
import { busiestChain } from '../config/chains.ts'
import { migrate } from '../db/migrate.ts'
import { createPool, type Queryable } from '../db/pool.ts'
import { addressSubject } from '../db/queries/addresses/by-address.ts'
import { agentProfile } from '../db/queries/agents/profile.ts'
import { discoveryGroups, discoveryPage } from '../db/queries/directory/discovery.ts'
import { directoryStats } from '../db/queries/directory/stats.ts'
import { leaderboard, leaderboardPeriods } from '../db/queries/leaderboard/leaderboard.ts'
import { refreshRankings } from '../db/queries/leaderboard/rankings.ts'
import { markMovedRecipients } from '../db/queries/rollup/recipient-counts.ts'
import { agentSettlements } from '../db/queries/settlements/settlements.ts'
import { settlementSeries } from '../db/queries/settlements/timeseries.ts'
import type { Installation } from '../db/queries/sql/installation.ts'
import { refreshCounts, rollUpSettlements } from '../enrichment/periodic/rollup.ts'
import { day } from '../ops/time.ts'
import { recording } from '../test/support/recording.ts'
import { fillContractRows } from './contract-rows.ts'
import { contractLists, listStatements, type Statement } from './read-statements.ts'
import { startTemporaryServer } from './temporary-server.ts'
import { fillWorld, settlementIndexes, type WorldSize } from './world.ts'

interface ReadsOptions {
  /** Size of the world; its `settlements` exclude those of the busiest agent. */
  readonly size: WorldSize
  /** Settlements of the busiest agent, over the same 120 days. */
  readonly busiest: number
  /** Runs of each statement. */
  readonly runs: number
  /** Resolves when the database may be removed; undefined: right after the measurements. */
  readonly lookedAt: (() => Promise<unknown>) | undefined
}

/** Blocks at the head that are not rolled up: about as many as a chain has above its final block. */
const hotBlocks = 10_000
const busiestFid = 1
/** Runs of statements that run once a minute at most. */
const rareRuns = 3
const settlementOverloads = 'spec' as const

function lastDays(days: number) {
  const end = Math.ceil((Date.now() + 1) / day) * day
  return { starts: Array.from({ length: days }, (_, n) => end - (days - n) * day), end }
}

/** Times the statements of the read path on a large directory, with and without the roll-up, and prints their plans. */
export async function benchReads({ size, busiest, runs, lookedAt }: ReadsOptions): Promise<void> {
  const settings = { shared_buffers: '1GB', max_wal_size: '4GB' }
  const { postgres, remove } = await startTemporaryServer('reads', { durable: false, settings })
  const pool = createPool({ databaseUrl: postgres.databaseUrl, name: 'bench', statementTimeoutMs: 0 })
  const reader = createApiPool(postgres.databaseUrl)
  try {
    say(`filling ${size.agents} agents, ${size.settlements} settlements and ${busiest} of one agent`)
    await migrate(postgres.databaseUrl)
    await fillWorld(pool, size)
    await fillBusiest(pool, busiest)
    // Without the service's statement timeout, which five million rows exceed.
    const direct = await time(pool, profileOf('profile of the busiest, nothing rolled up', busiestFid), rareRuns)
    say('rolling up')
    const start = performance.now()
    while ((await rollUpSettlements({ pool })) > 0);
    const rollupSeconds = (performance.now() - start) / 1_000
    await pool.query('vacuum (analyze) settlement_hourly, settlement_total, settlement_payer')
    say('counting what every recipient was paid')
    const now = () => new Date()
    const roundStart = performance.now()
    await refreshCounts({ pool, now, settlementOverloads })
    say(`first round: ${((performance.now() - roundStart) / 1_000).toFixed(1)} s`)
    await pool.query('vacuum (analyze) recipient_counts, agent')
    const timed = [direct]
    const marks: Statement = {
      name: 'recipients that may have moved',
      run: (db) => markMovedRecipients(db, { settlementOverloads, now: now() }),
    }
    timed.push(await time(pool, marks, rareRuns))
    const round = { name: 'counter round', run: () => refreshCounts({ pool, now, settlementOverloads }) }
    timed.push(await time(pool, round, rareRuns))
    const rankings = { name: 'round of the rankings', run: () => refreshRankings({ pool, now, settlementOverloads }) }
    timed.push(await time(pool, rankings, rareRuns))
    const read = [...statements(), ...listStatements({ busiestFid, installation, ...(await peopleOf(pool)) })]
    for (const statement of read) timed.push(await time(reader, statement, statement.isRare ? rareRuns : runs))
    say('filling feedback and addresses of income, which nothing above knows of')
    await fillContractRows(pool)
    for (const statement of contractLists(busiestFid)) timed.push(await time(reader, statement, runs))
    report(timed, (size.settlements + busiest) / rollupSeconds)
    if (lookedAt) {
      say(`its database stays until Ctrl-C: ${postgres.databaseUrl}`)
      await lookedAt()
    }
  } finally {
    await reader.end()
    await pool.end()
    await remove()
  }
}

/** Settlements of one address from many payers, spread evenly. */
async function fillBusiest(pool: pg.Pool, settlements: number): Promise<void> {
  for (const { name } of settlementIndexes) await pool.query(`drop index ${name}`)
  await pool.query(`
    insert into settlement (amount, block_timestamp, block_number, log_index, chain, selector_source, selector, token,
                            payer, recipient, facilitator, payment_nonce, tx_hash)
    select 1000, now() - (120.0 * (${settlements} - n) / ${settlements}) * interval '1 day',
           (80000000.0 * n / ${settlements})::int, 100 + n % 40, '${busiestChain}', 'c', '\\xe3ee160e', address,
           substr(sha256(int8send(n % 20000)), 1, 20), address, address, sha256(int8send(n)), sha256(int8send(n))
      from generate_series(1::bigint, ${settlements}) n,
           (select verified_addresses[1] as address from agent where fid = ${busiestFid}) busiest`)
  for (const { name, on } of settlementIndexes) await pool.query(`create index ${name} on settlement ${on}`)
  await pool.query(
    `update chain_state set indexed_block = 80000000, head_block = 80000000, finalized_block = 80000000 - ${hotBlocks}`,
  )
  await pool.query('vacuum (analyze) settlement')
}

const installation: Installation = { registries: {} as never, baseUrl: 'http://127.0.0.1' }

function profileOf(name: string, fid: number): Statement {
  return { name, run: (db) => agentProfile(db, { fid, settlementOverloads, installation }) }
}

function statements(): Statement[] {
  const none = { q: null, chain: null, claimed: null, spec: null, codehost: null }
  const settlements = (fid: number) => (db: Queryable) => agentSettlements(db, { fid, limit: 100, settlementOverloads })
  const ofAddress = async (db: Queryable) => {
    const { rows } = await db.query<{ address: string }>(
      `select '0x' || encode(verified_addresses[1], 'hex') as address from agent where fid = 7`,
    )
    return addressSubject(db, { address: rows[0]?.address ?? '', limit: 100, after: undefined })
  }
  const totalAt = async (change: number) => ({ total: 0, change })
  const leftOut = () => {}
  const page = (sort: 'newest' | 'most-active', q: string | null) => (db: Queryable) =>
    // As when the total is cached; counting it is measured apart, below.
    discoveryPage(
      db,
      { ...none, q },
      { sort, limit: 30, from: { offset: 0 }, fields: null },
      { early: () => totalAt(0), totalAt, leftOut },
    )
  const ofEverybody = { by: 'settlements', chain: null, excludeSelf: false, daysAgo: null, now: 0 } as const
  return [
    profileOf('profile of the busiest', busiestFid),
    profileOf('profile', 4_711),
    { name: 'settlements of the busiest', run: settlements(busiestFid) },
    { name: 'settlements', run: settlements(4_711) },
    { name: 'by-address', run: ofAddress },
    { name: 'discovery, newest', run: page('newest', null) },
    { name: 'discovery, most active', run: page('most-active', null) },
    { name: 'discovery, a word', run: page('newest', 'falcon') },
    { name: 'discovery, total of a word', run: (db) => discoveryGroups(db, 'falcon') },
    {
      name: 'days of the busiest',
      run: (db) =>
        settlementSeries(db, { fid: busiestFid, ...lastDays(30), chain: null, settlementOverloads, payersUpTo: 2_000 }),
    },
    { name: 'stats', run: (db) => directoryStats(db), isRare: true },
    ...leaderboardPeriods.map((period) => ({
      name: `leaderboard, ${period}`,
      run: (db: Queryable) => leaderboard(db, { ...ofEverybody, period, limit: 100, leftOut }),
      isRare: true,
    })),
  ]
}

/** A frequent payer and facilitator of the settlements, and an address of an agent that was paid. */
async function peopleOf(pool: pg.Pool): Promise<{ payer: string; facilitator: string; recipient: string }> {
  const { rows } = await pool.query(`
    select '0x' || encode(payer, 'hex') as payer, '0x' || encode(facilitator, 'hex') as facilitator,
           (select '0x' || encode(verified_addresses[1], 'hex') from agent where fid = 20) as recipient
      from settlement where chain <> '${busiestChain}' limit 1`)
  return rows[0]
}

interface Timed {
  readonly name: string
  /** Milliseconds from sending the statement to having the result. */
  readonly median: number
  readonly slowest: number
  readonly plan: readonly string[]
}

/** Times a statement on one connection, as in the API: from its sixth run it may have a generic plan. */
async function time(pool: pg.Pool, { name, run }: Statement, runs: number): Promise<Timed> {
  const client = await pool.connect()
  try {
    const recorded = recording(client)
    await run(recorded.db)
    const times: number[] = []
    for (let n = 0; n < runs; n++) {
      const start = performance.now()
      await run(client)
      times.push(performance.now() - start)
    }
    times.sort((a, b) => a - b)
    const asked = recorded.asked()
    const plan = asked ? await planOf(client, asked) : []
    return { name, median: times[times.length >> 1] as number, slowest: times.at(-1) as number, plan }
  } finally {
    client.release()
  }
}

async function planOf(db: Queryable, { text, values }: pg.QueryConfig): Promise<string[]> {
  const { rows } = await db.query(`explain (analyze, costs off, timing off, buffers off) ${text}`, values)
  return rows.map((row) => row['QUERY PLAN'] as string).filter((line) => !line.includes('never executed'))
}

function report(timed: readonly Timed[], rolledPerSecond: number) {
  const scans = /((Index|Seq|Bitmap|Parallel|Tid)[\w ]* Scan[\w ]*(using \S+ )?on \S+)/
  for (const { name, plan } of timed) {
    const used = plan.flatMap(
      (line) => scans.exec(line)?.[1]?.replaceAll(/settlement_[a-z]+_(\d{4}|rest)/g, 'settlement_base_*') ?? [],
    )
    say(`\n${name}: ${plan.filter((line) => /Time:/.test(line)).join(', ')}`)
    for (const scan of new Set(used)) say(`  ${scan}`)
  }
  say(`\n${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GB; milliseconds`)
  say('statement                                       median   slowest')
  for (const { name, median, slowest } of timed) {
    say(`${name.padEnd(45)} ${median.toFixed(1).padStart(8)} ${slowest.toFixed(1).padStart(9)}`)
  }
  const ms = (name: string) => Number(timed.find((one) => one.name === name)?.median.toFixed(1))
  const figures = {
    busiest_profile_ms: ms('profile of the busiest'),
    busiest_settlements_ms: ms('settlements of the busiest'),
    busiest_profile_without_rollup_ms: ms('profile of the busiest, nothing rolled up'),
    profile_ms: ms('profile'),
    counter_round_ms: ms('counter round'),
    stats_ms: ms('stats'),
    leaderboard_30d_ms: ms('leaderboard, 30d'),
    leaderboard_all_ms: ms('leaderboard, all'),
    rolled_up_per_second: Math.round(rolledPerSecond),
  }
  say(JSON.stringify(figures))
}

function say(line: string) {
  process.stdout.write(`${line}\n`)
}
