import type { Queryable } from '../../pool.ts'

/** Cursor of a stream or sweep; undefined: it never began. */
export async function readCursor(db: Queryable, source: string, shard: number): Promise<string | undefined> {
  const { rows } = await db.query<{ position: string }>({
    name: 'read-cursor',
    text: 'select position from source_cursor where source = $1 and shard = $2',
    values: [source, String(shard)],
  })
  return rows[0]?.position
}

interface CursorMove {
  readonly source: string
  readonly shard: number
  readonly from: string
  readonly to: string
  /** Of a stream: time up to which events are applied; of a sweep: when it was completed. Absent: unchanged. */
  readonly reachedAt?: Date | undefined
  readonly now: Date
}

/** Advances a cursor. False: it is not at `from`, so another process applied this page or the stream was restarted. */
export async function moveCursor(
  db: Queryable,
  { source, shard, from, to, reachedAt, now }: CursorMove,
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'move-cursor',
    text: `update source_cursor set position = $4, updated_at = $5, reached_at = coalesce($6, reached_at)
            where source = $1 and shard = $2 and position = $3`,
    values: [source, String(shard), from, to, now, reachedAt ?? null],
  })
  return rowCount === 1
}

/** Sets a cursor unconditionally. */
export async function setCursor(
  db: Queryable,
  { source, shard, to, reachedAt, now }: Omit<CursorMove, 'from'>,
): Promise<void> {
  await db.query({
    name: 'set-cursor',
    text: `
insert into source_cursor as c (source, shard, position, updated_at, reached_at) values ($1, $2, $3, $4, $5)
    on conflict (source, shard) do update
   set position = excluded.position, updated_at = excluded.updated_at,
       reached_at = coalesce(excluded.reached_at, c.reached_at)`,
    values: [source, String(shard), to, now, reachedAt ?? null],
  })
}

/** Age of `reachedAt` of a source's streams or sweeps; those that have none are left out. */
export async function reachedAges(
  db: Queryable,
  source: string,
  now: Date,
): Promise<{ readonly shard: string; readonly seconds: number }[]> {
  const { rows } = await db.query<{ shard: string; seconds: number }>({
    name: 'reached-ages',
    text: `select shard, greatest(0, extract(epoch from $2 - reached_at))::float8 as seconds
             from source_cursor where source = $1 and reached_at is not null order by shard`,
    values: [source, now],
  })
  return rows
}
