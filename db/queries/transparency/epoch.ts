import type { Queryable } from '../../pool.ts'
import { markAll } from '../due/queue.ts'

/** One of the logs that a service has had, one after the other. */
export interface Epoch {
  /** 1, 2, 3 … */
  readonly epoch: number
  /** Number of its first entry among those of all logs. */
  readonly first: number
}

/** The log that entries are appended to. */
export async function currentEpoch(db: Queryable): Promise<Epoch> {
  const { rows } = await db.query<Epoch>({
    name: 'transparency-epoch',
    text: 'select epoch, first from transparency_epoch order by epoch desc limit 1',
  })
  return rows[0] ?? { epoch: 1, first: 0 }
}

/**
 * Begins a log behind the entries that there are: with an empty tree, to which all facts are to be appended. `note`: the
 * last checkpoint of the log before.
 */
export async function beginEpoch(
  db: Queryable,
  { epoch, first, note }: Epoch & { readonly note: string },
): Promise<void> {
  await db.query('insert into transparency_epoch (epoch, first, note) values ($1, $2, $3)', [epoch, first, note])
  await db.query('delete from transparency_tile')
  await markAll(db, 'logged facts')
}

/** Subject of a fact in a log: the first has it as it is. */
export function subjectIn(epoch: number, subject: string): string {
  return epoch === 1 ? subject : `${epoch}/${subject}`
}
