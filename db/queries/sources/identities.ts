import type { Queryable } from '../../pool.ts'

/** An identity of an agent on another platform. Texts are cleaned and shortened already. */
export interface StoredIdentity {
  readonly platform: string
  readonly identity: string
  readonly displayName: string | null
  readonly address: string | null
  readonly url: string | null
  readonly avatarUrl: string | null
  readonly description: string | null
  readonly sources: readonly string[]
  readonly followerCount: number | null
}

const columns = 'display_name, address, url, avatar_url, description, sources, follower_count'
const of = (table: string) => columns.replaceAll(/\w+/g, `${table}.$&`)

/** Replaces the stored identities of an agent by these. Unchanged rows are not written. */
export async function storeIdentities(
  db: Queryable,
  { fid, identities, now }: { fid: number; identities: readonly StoredIdentity[]; now: Date },
): Promise<void> {
  await db.query({
    name: 'store-identities',
    text: `
with given as (
  select g.platform, g.identity, g."displayName" as display_name, g.address, g.url, g."avatarUrl" as avatar_url,
         g.description, array(select json_array_elements_text(g.sources)) as sources,
         g."followerCount" as follower_count
    from json_to_recordset($2::json) as g (platform text, identity text, "displayName" text, address text, url text,
         "avatarUrl" text, description text, sources json, "followerCount" bigint)
),
lost as (
  delete from agent_identity i
   where i.fid = $1 and not exists (select from given g where (g.platform, g.identity) = (i.platform, i.identity))
)
insert into agent_identity as i (fid, platform, identity, ${columns}, fetched_at)
select $1, platform, identity, ${columns}, $3 from given
    on conflict (fid, platform, identity) do update
   set (${columns}, fetched_at) = row(${of('excluded')}, excluded.fetched_at)
 where (${of('i')}) is distinct from (${of('excluded')})`,
    values: [fid, JSON.stringify(identities), now],
  })
}
