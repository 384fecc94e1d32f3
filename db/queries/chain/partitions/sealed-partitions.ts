import pg from 'pg'
import { type LockRetry, retryLocked } from '../../../lock-retry.ts'
import type { Queryable } from '../../../pool.ts'

/** Comment of a partition that was vacuumed after its last change. One that takes its place has none. */
const frozen = 'frozen'
/** For the lock of that mark. A try ends before Postgres looks for a deadlock, and so never ends an operator's statement. */
const marking: LockRetry = { lockTimeoutMs: 500, pauseMs: 1_000, totalMs: 60_000 }

/**
 * The first partition of a chain that was not frozen and is not written any more: all of its blocks are final, audited where
 * they were read from a node, and nobody loads any. Undefined: there is none.
 */
export async function sealedPartition(db: Queryable, chain: string): Promise<string | undefined> {
  const { rows } = await db.query<{ name: string }>({
    name: 'sealed-partition',
    text: `
select c.oid::regclass::text as name
  from pg_inherits
  join pg_class c on c.oid = inhrelid
  join chain_state state on state.chain = $1
 cross join lateral (
   select substring(text from 'FROM \\((\\d+)\\)')::int as first, substring(text from 'TO \\((\\d+)\\)')::int - 1 as last
     from pg_get_expr(c.relpartbound, c.oid) text
 ) bound
 where inhparent = to_regclass('settlement_' || $1) and not inhdetachpending
   and obj_description(c.oid, 'pg_class') is distinct from '${frozen}'
   and bound.last <= least(state.finalized_block, state.indexed_block)
   and not exists (select from head_range h
                    where h.chain = $1 and h.from_block <= bound.last and h.next_block <= least(h.to_block, bound.last))
   and not exists (select from backfill b
                    where b.chain = $1 and b.from_block <= bound.last and b.to_block >= bound.first
                      and (b.completed_at is null
                           or exists (select from backfill_partition p where p.backfill_id = b.id)))
 order by bound.first
 limit 1`,
    values: [chain],
  })
  return rows[0]?.name
}

/**
 * Vacuums a partition once, with pauses that leave the disk to others; on a new pool of one connection. Throws when somebody
 * holds the table for longer than `marking`; what was vacuumed is passed over quickly the next time.
 */
export async function freezePartition(db: Queryable, partition: string): Promise<void> {
  const table = pg.escapeIdentifier(partition)
  await db.query(`select set_config('vacuum_cost_delay', '2ms', false)`)
  await db.query(`vacuum (freeze) ${table}`)
  // Unlike VACUUM these wait with a snapshot, and `create index concurrently` waits for it in turn. Each try sets its own
  // timeout, because a pool replaces a connection whose statement failed.
  const mark = `analyze ${table}; comment on table ${table} is '${frozen}'`
  await retryLocked(marking, () => db.query(`set local lock_timeout = ${marking.lockTimeoutMs}; ${mark}`))
}
