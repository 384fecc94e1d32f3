import { kinds } from '../../due/kinds.ts'
import type { Queryable } from '../../pool.ts'
import { lockDerivation } from '../due/queue.ts'

/** One of the logs that a service has had, one after the other. */
export interface Epoch {
  /** 1, 2, 3 … */
  readonly epoch: number
  /** Number of its first entry among those of all logs. */
  readonly first: number
}

/** Query for the log that entries are appended to; the first has no row. */
export const epochNow =
  '(select epoch, first from transparency_epoch union all select 1, 0 order by epoch desc limit 1)'

/** Lets nobody else append to the log until the transaction ends. */
export async function lockLog(db: Queryable): Promise<void> {
  await lockDerivation(db, 'logged facts')
}

/** The log that entries are appended to. */
export async function currentEpoch(db: Queryable): Promise<Epoch> {
  const { rows } = await db.query<Epoch>({
    name: 'transparency-epoch',
    text: `select epoch, first from ${epochNow} now`,
  })
  return rows[0] as Epoch
}

/**
 * Begins a log behind the entries that there are: with an empty tree, to which all facts are to be appended in the order
 * of their times. `note`: the last checkpoint of the log before.
 */
export async function beginEpoch(
  db: Queryable,
  { epoch, first, note }: Epoch & { readonly note: string },
): Promise<void> {
  await db.query('insert into transparency_epoch (epoch, first, note) values ($1, $2, $3)', [epoch, first, note])
  await db.query('delete from transparency_tile')
  const [events, words, backfills, audits, hubs, changes] = kinds['logged facts'].all
  await db.query(`
insert into due (kind, key)
select 'logged facts', key
  from (select ${events.key} as key, at, fid, seq from ${events.table}
         union all
        select ${words.key}, accepted_at, fid, null from ${words.table}
         union all
        select ${changes.key}, changed_at, fid, seq from ${changes.table}
         union all
        select ${backfills.key}, completed_at, null, null from ${backfills.table}
         union all
        select ${audits.key}, audited_at, null, null from ${audits.table}
         union all
        select ${hubs.key}, followed_since, null, null from ${hubs.table}) fact
 order by at, fid, seq`)
}

/**
 * Begins a log behind the one of a restored database, which may lack entries that were signed. Nothing is signed until the
 * job appends to it. Returns its number; undefined: nothing was ever signed. Call it in a transaction.
 */
export async function beginEpochRestored(db: Queryable): Promise<number | undefined> {
  await lockLog(db)
  const { rows } = await db.query<{ note: string; epoch: number; first: number }>(`
with gone as (delete from transparency_checkpoint returning note)
select note, now.epoch, (select coalesce(max(index) + 1, 0) from transparency_entry) as first from gone, ${epochNow} now`)
  const [last] = rows
  if (!last) return undefined
  await beginEpoch(db, { epoch: last.epoch + 1, first: last.first, note: last.note })
  return last.epoch + 1
}

/** The last checkpoint of the log before each, as it was signed, in order; that before `epoch` last. */
export async function notesBefore(db: Queryable, epoch: number): Promise<string[]> {
  const { rows } = await db.query<{ note: string }>(
    'select note from transparency_epoch where epoch <= $1 order by epoch',
    [epoch],
  )
  return rows.map(({ note }) => note)
}

/** The first entry of the last log that has one. Undefined: no log began behind another. */
export async function lastFirstEntry(db: Queryable): Promise<Buffer | undefined> {
  const { rows } = await db.query<{ entry: Buffer }>(`
select entry from transparency_epoch join transparency_entry on index = first order by epoch desc limit 1`)
  return rows[0]?.entry
}

/** Subject of a fact in a log: the first has it as it is. */
export function subjectIn(epoch: number, subject: string): string {
  return epoch === 1 ? subject : `${epoch}/${subject}`
}
