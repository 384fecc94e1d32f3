import type { Queryable } from '../../pool.ts'

/** Texts are clean and short enough; null: none. */
export interface StoredProfile {
  readonly fid: number
  readonly handle: string | null
  /** Lowercase hex with 0x. */
  readonly handleOwner: string | null
  readonly displayName: string | null
  readonly bio: string | null
  readonly pfpUrl: string | null
  readonly profileUrl: string | null
  readonly github: string | null
  readonly twitter: string | null
  readonly lastMessageAt: Date | null
}

/** Stores a profile. Unchanged: nothing is written. The last message never moves back. */
export async function storeProfile(db: Queryable, profile: StoredProfile, now: Date): Promise<void> {
  const { fid, handle, handleOwner, displayName, bio, pfpUrl, profileUrl, github, twitter, lastMessageAt } = profile
  await db.query({
    name: 'store-profile',
    text: `
insert into social_profile as p
       (fid, handle, display_name, bio, pfp_url, profile_url, github, twitter, last_message_at, updated_at,
        handle_owner)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, decode(substr($11, 3), 'hex'))
    on conflict (fid) do update
   set handle = excluded.handle, handle_owner = excluded.handle_owner,
       handle_witness = case when p.handle = excluded.handle then p.handle_witness end, display_name = excluded.display_name, bio = excluded.bio, pfp_url = excluded.pfp_url,
       profile_url = excluded.profile_url, github = excluded.github, twitter = excluded.twitter,
       last_message_at = greatest(p.last_message_at, excluded.last_message_at), updated_at = excluded.updated_at
 where (p.handle, p.handle_owner, p.display_name, p.bio, p.pfp_url, p.profile_url, p.github, p.twitter)
       is distinct from (excluded.handle, excluded.handle_owner, excluded.display_name, excluded.bio, excluded.pfp_url,
                         excluded.profile_url, excluded.github, excluded.twitter)
    or excluded.last_message_at > p.last_message_at
    or (p.last_message_at is null and excluded.last_message_at is not null)`,
    values: [fid, handle, displayName, bio, pfpUrl, profileUrl, github, twitter, lastMessageAt, now, handleOwner],
  })
}

/** The handle of a stored profile; null: none. */
export async function handleOf(db: Queryable, fid: number): Promise<string | null> {
  const { rows } = await db.query<{ handle: string | null }>({
    name: 'handle-of',
    text: 'select handle from social_profile where fid = $1',
    values: [fid],
  })
  return rows[0]?.handle ?? null
}

/** Notes another hub that says whose a handle is; null: none does. A handle that has changed since is left alone. */
export async function storeNameWitness(
  db: Queryable,
  { fid, handle, url }: { readonly fid: number; readonly handle: string; readonly url: string | null },
): Promise<void> {
  await db.query({
    name: 'store-name-witness',
    text: `update social_profile set handle_witness = $3
            where fid = $1 and handle = $2 and handle_witness is distinct from $3`,
    values: [fid, handle, url],
  })
}

/** An address of another protocol than those of the chains here. */
interface OtherAddress {
  readonly address: string
  readonly verifiedAt: Date
  /** Of its message, 0x hex; null: unknown. */
  readonly hash: string | null
}

/** Stores the addresses of other protocols of a stored profile. Unchanged: nothing is written. */
export async function storeOtherAddresses(db: Queryable, fid: number, others: readonly OtherAddress[]): Promise<void> {
  const sorted = others
    .map(({ address, verifiedAt, hash }) => ({ address, verified_at: verifiedAt.toISOString(), message_hash: hash }))
    .sort((one, other) => (one.address < other.address ? -1 : 1))
  await db.query({
    name: 'store-other-addresses',
    text: 'update social_profile set other_addresses = $2 where fid = $1 and other_addresses is distinct from $2::jsonb',
    values: [fid, JSON.stringify(sorted)],
  })
}

const partColumns = {
  displayName: 'display_name',
  bio: 'bio',
  pfpUrl: 'pfp_url',
  profileUrl: 'profile_url',
  github: 'github',
  twitter: 'twitter',
} as const

/** Sets one part of a stored profile; accounts without one are not in the index. Unchanged: nothing is written. */
export async function setProfilePart(
  db: Queryable,
  { fid, part, text, now }: { fid: number; part: keyof typeof partColumns; text: string | null; now: Date },
): Promise<void> {
  const column = partColumns[part]
  await db.query({
    name: `set-profile-${column}`,
    text: `update social_profile set ${column} = $2, updated_at = $3 where fid = $1 and ${column} is distinct from $2`,
    values: [fid, text, now],
  })
}

/** Advances the last message of stored profiles, once for all messages; accounts without one are not in the index. */
export async function noteActivity(
  db: Queryable,
  messages: readonly { readonly fid: number; readonly at: Date }[],
): Promise<void> {
  await db.query({
    name: 'note-activity',
    text: `
update social_profile p
   set last_message_at = newest.at
  from (select fid, max(at) as at from unnest($1::bigint[], $2::timestamptz[]) as message (fid, at) group by fid) newest
 where p.fid = newest.fid
   and (p.last_message_at is null or newest.at > p.last_message_at)`,
    values: [messages.map(({ fid }) => fid), messages.map(({ at }) => at)],
  })
}
