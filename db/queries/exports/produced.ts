import type { Queryable } from '../../pool.ts'

/** Contents of a document whose times are kept: more than all processes together can still serve. */
const keptContents = 100

/**
 * When the content of a document was first produced: the time that the database knows, else `now`. All who produce the
 * same content get the same time, also while others still produce the one before.
 */
export async function firstProduced(
  db: Queryable,
  { name, sha256, now }: { name: string; sha256: Buffer; now: Date },
): Promise<Date> {
  // Mostly the content is known: reading it takes no lock, and writes nothing.
  const { rows } = await db.query<{ at: Date }>({
    name: 'produced-document',
    text: 'select produced_at as at from produced_content where name = $1 and content_sha256 = $2',
    values: [name, sha256],
  })
  if (rows[0]) return rows[0].at
  const { rows: written } = await db.query<{ at: Date }>({
    name: 'note-produced-document',
    text: `
with forgotten as (
  delete from produced_content
   where name = $1
     and produced_at < (select produced_at from produced_content where name = $1
                         order by produced_at desc offset ${keptContents} - 1 limit 1)
)
insert into produced_content as known (name, content_sha256, produced_at)
values ($1, $2, $3)
    on conflict (name, content_sha256) do update set produced_at = known.produced_at
returning produced_at as at`,
    values: [name, sha256, now],
  })
  return written[0]?.at ?? now
}
