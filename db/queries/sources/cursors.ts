import type { Queryable } from '../../pool.ts'

/** Where a stream or sweep stands; undefined: it never began. */
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
  readonly now: Date
}

/** Moves a cursor on. False: it is elsewhere, so somebody else has applied this page, or the stream was restarted. */
export async function moveCursor(db: Queryable, { source, shard, from, to, now }: CursorMove): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'move-cursor',
    text: `update source_cursor set position = $4, updated_at = $5
            where source = $1 and shard = $2 and position = $3`,
    values: [source, String(shard), from, to, now],
  })
  return rowCount === 1
}

/** Puts a cursor where it shall be, wherever it was. */
export async function setCursor(db: Queryable, { source, shard, to, now }: Omit<CursorMove, 'from'>): Promise<void> {
  await db.query({
    name: 'set-cursor',
    text: `
insert into source_cursor (source, shard, position, updated_at) values ($1, $2, $3, $4)
    on conflict (source, shard) do update set position = excluded.position, updated_at = excluded.updated_at`,
    values: [source, String(shard), to, now],
  })
}
