import type { Queryable } from '../../pool.ts'

/** An event in the life of an agent; immutable but for the handle. */
export interface DirectoryEvent {
  readonly seq: number
  readonly at: Date
  readonly fid: number
  readonly kind: 'listed' | 'delisted' | 'claimed' | 'unclaimed' | 'status' | 'control'
  /** Handle at the time of the event, as is the status; null: it had none, or has taken itself out of the directory. */
  readonly handle: string | null
  readonly status: string
}

/** Number of the newest event; 0 before the first. No number below it is seen later. */
export async function newestEvent(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ seq: number }>({
    name: 'newest-event',
    text: 'select coalesce(max(seq), 0) as seq from directory_event',
  })
  return rows[0]?.seq ?? 0
}

/** The last events up to a number, newest first; all have higher numbers than `after`. */
export async function eventsUpTo(
  db: Queryable,
  { last, after, limit }: { last: number; after: number; limit: number },
): Promise<DirectoryEvent[]> {
  const { rows } = await db.query<DirectoryEvent>({
    name: 'events-up-to',
    text: `select seq, at, fid, kind, status,
                  case when not exists (select from unlisted u where u.fid = e.fid) then handle end as handle
             from directory_event e
            where seq <= $1 and seq > $2
            order by seq desc
            limit $3`,
    values: [last, after, limit],
  })
  return rows
}
