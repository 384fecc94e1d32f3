import type pg from 'pg'
import { busiestChain } from '../config/chains.ts'
import { migrate } from '../db/migrate.ts'
import { createPool, inTransaction } from '../db/pool.ts'
import { ensurePartitions } from '../db/queries/chain/partitions/settlement-partitions.ts'
import { markAll } from '../db/queries/due/queue.ts'
import { refreshRankings } from '../db/queries/leaderboard/rankings.ts'
import { derivations } from '../derive/derivations.ts'
import { settle } from '../derive/pass.ts'
import { refreshCounts, rollUpSettlements } from '../enrichment/periodic/rollup.ts'
import { startTemporaryServer } from './temporary-server.ts'

interface RankingsSize {
  readonly agents: number
  /** Pairs of an agent and a payer; a quarter of them are of one agent. */
  readonly pairs: number
  /** Settlements of a minute, a quarter of them of the same agent; every other one is of a new payer. */
  readonly paid: number
}

const firstBlock = 30_000_000
const minutes = 3
const settlementOverloads = 'spec'
const figures = derivations.filter(({ kind }) => kind === 'figures')

/**
 * Fills a directory whose agents were paid by millions, makes the rankings, and then again after each of some minutes in
 * which a part of the agents was paid. Prints the CPU time that the server took.
 */
export async function benchRankings(size: RankingsSize): Promise<void> {
  const settings = { shared_buffers: '1GB', max_wal_size: '4GB', max_parallel_workers_per_gather: '0', jit: 'off' }
  const { postgres, cpuSeconds, remove } = await startTemporaryServer('rankings', { durable: false, settings })
  const pool = createPool({ databaseUrl: postgres.databaseUrl, name: 'bench', statementTimeoutMs: 0, max: 1 })
  try {
    await migrate(postgres.databaseUrl)
    await fill(pool, size)
    const measured = async (work: () => Promise<void>) => {
      const before = cpuSeconds()
      await work()
      return cpuSeconds() - before
    }
    const context = { pool, now: () => new Date(), settlementOverloads } as const
    const first = await measured(() => settle(figures, context))
    say(`figures of all agents: ${first.toFixed(1)} CPU s`)
    await pool.query('vacuum (analyze)')
    const count = () => measured(() => refreshCounts(context))
    say(
      `first round: ${(await measured(() => refreshRankings(context))).toFixed(1)} CPU s; of the counters ${(await count()).toFixed(1)}`,
    )
    await pool.query('vacuum (analyze)')
    const rounds: { figures: number; ranks: number; counts: number; agents: number }[] = []
    for (let minute = 0; minute < minutes; minute++) {
      await pay(pool, size, minute)
      const rolled = await measured(async () => {
        while ((await rollUpSettlements({ pool })) > 0);
      })
      const agents = await due(pool)
      const derived = await measured(() => settle(figures, context))
      const ranked = await measured(() => refreshRankings(context))
      const counts = await count()
      rounds.push({ figures: derived, ranks: ranked, counts, agents })
      say(
        `a minute: rolled up in ${rolled.toFixed(1)} CPU s, ${agents} agents derived in ${derived.toFixed(1)}, ranks in ${ranked.toFixed(1)}, counters in ${counts.toFixed(1)}`,
      )
    }
    const last = rounds.at(-1)
    say(
      JSON.stringify({
        pairs: size.pairs,
        agents_changed: last?.agents,
        round_cpu_s: Number(((last?.figures ?? 0) + (last?.ranks ?? 0)).toFixed(2)),
        counters_cpu_s: Number((last?.counts ?? 0).toFixed(2)),
      }),
    )
  } finally {
    await pool.end()
    await remove()
  }
}

const addressOf = (n: string) => `substr(sha256(int8send(${n})), 1, 20)`
/** An agent for a number: few are paid most. A quarter is the first one's. */
const agentOf = (n: string, agents: number) =>
  `case when ${n} % 4 = 0 then 1 else least(${agents}, 1 + floor(power(hashint8(${n}) / 4294967296.0 + 0.5, 3) * ${agents}))::bigint end`
const payerOf = (n: string) => addressOf(`-1 - ${n}`)

/** Sums as the roll-up would have made them, without the settlements: no statement of a round reads these. */
async function fill(pool: pg.Pool, { agents, pairs }: RankingsSize): Promise<void> {
  say(`filling ${agents} agents and ${pairs} pairs`)
  await inTransaction(pool, async (db) => {
    await ensurePartitions(db, busiestChain, firstBlock + minutes)
    await db.query('set local session_replication_role = replica') // no trigger
    await db.query(
      `insert into verified_address (fid, address, verified_at) select n, ${addressOf('n')}, '2026-01-01' from generate_series(1::bigint, $1) n`,
      [agents],
    )
    await db.query(
      `insert into agent (fid, handle, chains, verified_addresses, claimed, agent_status, search, registered_at, listed_at, changed_at)
       select fid, 'agent' || fid, '{base}', array[address], false, 'active', '', verified_at, verified_at, verified_at from verified_address`,
    )
    await db.query('drop index settlement_payer_payer')
    await db.query(
      `insert into settlement_payer (recipient, payer, chain, overload, first_at, last_at, n, amount)
       select ${addressOf(agentOf('n', agents))} as recipient, ${payerOf('n')} as payer, '${busiestChain}', false, at, at, 1, 1000
         from generate_series(1::bigint, $1) n
        cross join lateral (select now() - (120.0 * ($1 - n) / $1) * interval '1 day' - interval '1 hour' as at) one
        order by recipient, payer`,
      [pairs],
    )
    await db.query('create index settlement_payer_payer on settlement_payer (payer)')
    await db.query(
      `insert into settlement_hourly (recipient, hour, chain, overload, first_block, last_block, n, amount)
       select recipient, date_trunc('hour', last_at, 'UTC') as hour, chain, overload, 1, 1, count(*), sum(amount)
         from settlement_payer group by 1, 2, 3, 4 order by 1, 2`,
    )
    await db.query(
      `insert into settlement_total (recipient, chain, overload, last_at, n, amount)
       select recipient, chain, overload, max(last_at), count(*), sum(amount) from settlement_payer group by 1, 2, 3 order by 1`,
    )
    for (const kind of ['figures', 'recipients'] as const) await markAll(db, kind)
    await db.query('update settlement_rollup set next_block = $1', [firstBlock])
  })
  await pool.query('vacuum (analyze)')
}

/** A minute's settlements, in a block of their own that is final. */
async function pay(pool: pg.Pool, { agents, pairs, paid }: RankingsSize, minute: number): Promise<void> {
  await pool.query(
    `insert into settlement (amount, block_timestamp, block_number, log_index, chain, selector_source, selector, token,
                             payer, recipient, facilitator, payment_nonce, tx_hash)
     select 1000 + i, now(), ${firstBlock + minute}, i, '${busiestChain}', 'c', '\\xe3ee160e', '\\x01',
            ${payerOf('n')}, ${addressOf(agentOf('n', agents))}, '\\x02', sha256(int8send(n)), sha256(int8send(n))
       from generate_series(1::bigint, $2) i
      cross join lateral (select case when i % 2 = 0 then $1::bigint + ${minute} * $2::bigint + i
                                      else 1 + (hashint8(i + ${minute} * $2::bigint)::bigint + 2147483648) * $1::bigint / 4294967296 end as n) one`,
    [pairs, paid],
  )
  const at = firstBlock + minute
  await pool.query(`delete from chain_state where chain = '${busiestChain}'`)
  await pool.query(
    `insert into chain_state (chain, chain_id, indexed_block, indexed_at, finalized_block, head_block, updated_at)
     values ('${busiestChain}', 1, $1, now(), $1, $1, now())`,
    [at],
  )
}

async function due(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ n: number }>(
    `select count(distinct key)::int as n from due where kind = 'figures' and due_at <= now()`,
  )
  return rows[0]?.n ?? 0
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
