import type { Queryable } from '../../pool.ts'

/**
 * When the content of a document was first produced: `now` for other content than the database knows under this name,
 * else the time it knows. All who produce the same content are told the same time.
 */
export async function firstProduced(
  db: Queryable,
  { name, sha256, now }: { name: string; sha256: Buffer; now: Date },
): Promise<Date> {
  // Mostly the content is known: reading it takes no lock, and writes nothing.
  const { rows } = await db.query<{ at: Date }>({
    name: 'produced-document',
    text: 'select produced_at as at from produced_document where name = $1 and content_sha256 = $2',
    values: [name, sha256],
  })
  if (rows[0]) return rows[0].at
  const { rows: written } = await db.query<{ at: Date }>({
    name: 'note-produced-document',
    text: `
insert into produced_document as known (name, content_sha256, produced_at)
values ($1, $2, $3)
    on conflict (name) do update
   set produced_at = case when known.content_sha256 = excluded.content_sha256
                          then known.produced_at else excluded.produced_at end,
       content_sha256 = excluded.content_sha256
returning produced_at as at`,
    values: [name, sha256, now],
  })
  return written[0]?.at ?? now
}
