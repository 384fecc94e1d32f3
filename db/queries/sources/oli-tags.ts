import type { Queryable } from '../../pool.ts'

/** A tag of an address. Texts are cleaned and shortened already. */
export interface StoredTag {
  /** Lowercase hex. */
  readonly address: string
  /** Name of the chain; null: every chain. */
  readonly chain: string | null
  readonly slug: string
  readonly name: string
  readonly tagType: string
  readonly ordinal: number | null
  readonly meta: Readonly<Record<string, unknown>> | null
  readonly attester: string | null
}

const key = 'address, chain, slug, tag_type, attester'

/** Replaces the tags that a source has for an agent by these. Unchanged rows are not written. */
export async function storeTags(
  db: Queryable,
  { fid, source, tags, now }: { fid: number; source: 'blockscout' | 'oli'; tags: readonly StoredTag[]; now: Date },
): Promise<void> {
  await db.query({
    name: 'store-tags',
    text: `
with given as (
  select distinct on (${key}) *
    from (select decode(g."addressHex", 'hex') as address, g.chain, g.slug, g.name, g."tagType" as tag_type, g.ordinal,
                 g.meta, decode(g."attesterHex", 'hex') as attester
            from json_to_recordset($3::json) as g ("addressHex" text, chain text, slug text, name text, "tagType" text,
                 ordinal int, meta json, "attesterHex" text)) g
   order by ${key}, name
),
lost as (
  delete from oli_tag t
   where t.fid = $1 and t.source = $2
     and not exists (select from given g
                      where (g.address, g.slug, g.tag_type) = (t.address, t.slug, t.tag_type)
                        and (g.chain, g.attester) is not distinct from (t.chain, t.attester))
)
insert into oli_tag as t (fid, source, ${key}, name, ordinal, meta, fetched_at)
select $1, $2, ${key}, name, ordinal, meta, $4 from given
    on conflict (fid, source, address, chain, slug, tag_type, attester) do update
   set name = excluded.name, ordinal = excluded.ordinal, meta = excluded.meta, fetched_at = excluded.fetched_at
 where (t.name, t.ordinal, t.meta::text) is distinct from (excluded.name, excluded.ordinal, excluded.meta::text)`,
    values: [fid, source, JSON.stringify(tags.map(toRecord)), now],
  })
}

function toRecord({ address, attester, ...tag }: StoredTag) {
  return { ...tag, addressHex: address.slice(2), attesterHex: attester?.slice(2) ?? null }
}
