import pg from 'pg'
import type { ChainName } from '../../../../chains.config.ts'
import { lockClasses } from '../../../lock-keys.ts'
import type { Queryable } from '../../../pool.ts'
import { makeTable, type PartitionRange, settlementsOf } from './settlement-partitions.ts'

// A chain's one table of settlements is divided by blocks while others read and write it: its rows are copied into the
// partitions of a second table, a trigger notes the blocks that change meanwhile, and at last the two are exchanged.

/** Names of what a division leaves in the database until it is done. */
function namesOf(chain: ChainName) {
  const whole = settlementsOf(chain)
  return {
    whole,
    /** Takes the place of `whole`; a partition that is there has its rows. */
    divided: `${whole}_divided`,
    /** What `whole` is called once it is replaced. */
    replaced: `${whole}_undivided`,
    /** Blocks of rows that were written since, once for each row; also the name of the trigger and of its function. */
    changes: `${whole}_change`,
  }
}

/** The same as identifiers of SQL. A chain's name is of letters that no identifier has to be quoted for, but may be a word. */
function quoted(chain: ChainName) {
  const { whole, divided, replaced, changes } = namesOf(chain)
  const sql = pg.escapeIdentifier
  return { whole: sql(whole), divided: sql(divided), replaced: sql(replaced), changes: sql(changes) }
}

/** Name of the table that a division fills. */
export const dividedTable = (chain: ChainName) => namesOf(chain).divided

/** Makes this session the only one that divides the chain, until it ends or `unlockDivision`. False: another one does. */
export async function tryLockDivision(session: Queryable, chainId: number): Promise<boolean> {
  const { rows } = await session.query<{ locked: boolean }>('select pg_try_advisory_lock($1, $2) as locked', [
    lockClasses.division,
    chainId,
  ])
  return rows[0]?.locked === true
}

export async function unlockDivision(session: Queryable, chainId: number): Promise<void> {
  await session.query('select pg_advisory_unlock($1, $2)', [lockClasses.division, chainId])
}

interface DivisionState {
  /** Begun, and of the shape that settlements have now. */
  readonly isBegun: boolean
  /** Begun when settlements had other columns. */
  readonly isOutdated: boolean
  /** The exchange was made, and the table that was replaced is still there. */
  readonly isExchanged: boolean
  /** A backfill loads a table that will take the place of the whole. */
  readonly isLoadedAside: boolean
}

export async function divisionState(db: Queryable, chain: ChainName): Promise<DivisionState> {
  const { whole, divided, replaced } = namesOf(chain)
  const columns = (table: string) => `(select array_agg((attname, atttypid)::text order by attnum) from pg_attribute
    where attrelid = to_regclass(${table}) and attnum > 0 and not attisdropped)`
  const { rows } = await db.query<DivisionState>(
    `select is_there and is_equal as "isBegun", is_there and not is_equal as "isOutdated",
            to_regclass($3) is not null as "isExchanged",
            exists (select from backfill_partition where partition = $1) as "isLoadedAside"
       from (select to_regclass($2) is not null as is_there,
                    ${columns('$2')} is not distinct from ${columns("'settlement'")} as is_equal) state`,
    [whole, divided, replaced],
  )
  return rows[0] as DivisionState
}

/**
 * Creates the second table, and has every change of the first noted from now on. In a transaction with a short lock
 * timeout: writers wait behind the lock that the trigger needs, readers do not.
 */
export async function beginDivision(db: Queryable, chain: ChainName): Promise<void> {
  const { whole, divided, changes } = quoted(chain)
  await makeTable(db, dividedTable(chain), 'partition by range (block_number)', 'including defaults including indexes')
  await db.query(`create table ${changes} (block_number int not null)`)
  // A row of each change: a key would have a change that commits later lost behind the mark of one that was copied. Who
  // empties the table waits for the copy of a partition, and takes what was copied before with it.
  await db.query(
    `create function ${changes}() returns trigger language plpgsql as $$
     begin
       if tg_op = 'TRUNCATE' then truncate ${divided}, ${changes}; return null; end if;
       if tg_op <> 'INSERT' then insert into ${changes} values (old.block_number); end if;
       if tg_op <> 'DELETE' then insert into ${changes} values (new.block_number); end if;
       return null;
     end $$`,
  )
  await db.query(
    `create trigger ${changes} after insert or update or delete on ${whole} for each row execute function ${changes}()`,
  )
  await db.query(
    `create trigger ${pg.escapeIdentifier(`${namesOf(chain).changes}_all`)} after truncate on ${whole} for each statement execute function ${changes}()`,
  )
}

/** Highest block of the chain's settlements; -1: there are none. */
export async function newestBlock(db: Queryable, chain: ChainName): Promise<number> {
  const { rows } = await db.query<{ block: number | null }>(
    'select max(block_number) as block from settlement where chain = $1',
    [chain],
  )
  return rows[0]?.block ?? -1
}

/** Block below which the chain is written, or will be: its head's, and the ends of what is loaded. */
export async function writtenTo(db: Queryable, chain: ChainName): Promise<number> {
  const { rows } = await db.query<{ block: number }>(
    `select greatest((select indexed_block from chain_state where chain = $1),
                     (select max(to_block) from backfill where chain = $1), 0) as block`,
    [chain],
  )
  return Math.max(rows[0]?.block ?? 0, await newestBlock(db, chain))
}

/** Estimated numbers of rows of the table, and of them those that are copied. */
export async function divisionProgress(db: Queryable, chain: ChainName): Promise<{ rows: number; copied: number }> {
  const { whole, divided } = namesOf(chain)
  const { rows } = await db.query<{ rows: number; copied: number }>(
    `select (select greatest(reltuples, 0)::float8 from pg_class where oid = to_regclass($1)) as rows,
            (select coalesce(sum(greatest(reltuples, 0)), 0)::float8
               from pg_inherits join pg_class c on c.oid = inhrelid where inhparent = to_regclass($2)) as copied`,
    [whole, divided],
  )
  return rows[0] ?? { rows: 0, copied: 0 }
}

/** Copies the rows of some blocks into a table. Returns their number. */
export async function copyBlocks(
  db: Queryable,
  chain: ChainName,
  table: string,
  { firstBlock, lastBlock }: Omit<PartitionRange, 'name'>,
): Promise<number> {
  const { rowCount } = await db.query(
    `insert into ${pg.escapeIdentifier(table)}
     select * from settlement where chain = $1 and block_number between $2 and $3`,
    [chain, firstBlock, lastBlock],
  )
  return rowCount ?? 0
}

/** Number of changed rows whose blocks were not copied since, counted up to `limit`. */
export async function countChanges(db: Queryable, chain: ChainName, limit: number): Promise<number> {
  const { rows } = await db.query<{ changes: number }>(
    `select count(*)::int as changes from (select from ${quoted(chain).changes} limit $1) as counted`,
    [limit],
  )
  return rows[0]?.changes ?? 0
}

/**
 * Copies the blocks of at most `limit` changed rows again, in one transaction. Returns the number of these rows. All
 * blocks must have their partition.
 */
export async function copyChanges(db: Queryable, chain: ChainName, limit: number): Promise<number> {
  const { divided, changes } = quoted(chain)
  // Statements of their own: what is copied is read with a later snapshot than the marks, so that it has at least their rows.
  const { rows } = await db.query<{ changes: number; blocks: number[] | null }>(
    `with taken as (delete from ${changes} where ctid = any (array(select ctid from ${changes} limit $1)) returning block_number)
     select count(*)::int as changes, array_agg(distinct block_number) as blocks from taken`,
    [limit],
  )
  const { changes: count = 0, blocks } = rows[0] ?? {}
  if (!blocks) return 0
  await db.query(`delete from ${divided} where chain = $1 and block_number = any ($2)`, [chain, blocks])
  await db.query(`insert into ${divided} select * from settlement where chain = $1 and block_number = any ($2)`, [
    chain,
    blocks,
  ])
  return count
}

/** Exchanges the two tables. To be called in a transaction that has locked the first one. */
export async function exchangeTables(db: Queryable, chain: ChainName): Promise<void> {
  const { whole, divided, replaced } = quoted(chain)
  await db.query(`alter table settlement detach partition ${whole}`)
  await db.query(`alter table ${whole} rename to ${replaced}`)
  await db.query(`alter table ${divided} rename to ${whole}`)
  await db.query(`alter table settlement attach partition ${whole} for values in (${pg.escapeLiteral(chain)})`)
  const { rows } = await db.query<{ name: string }>(
    `select conrelid::regclass::text as name from pg_constraint
      where conname = 'bounds' and conrelid in (select inhrelid from pg_inherits where inhparent = $1::regclass)`,
    [whole],
  )
  for (const { name } of rows) await db.query(`alter table ${name} drop constraint bounds`)
}

/** Drops what a division has left: the table that was replaced, or, of one that begins again, what it has made. */
export async function dropRemains(db: Queryable, chain: ChainName): Promise<void> {
  const { divided, replaced, changes } = quoted(chain)
  for (const table of [replaced, divided, changes]) await db.query(`drop table if exists ${table}`)
  await db.query(`drop function if exists ${changes}() cascade`) // with the triggers of a table that stays
}
