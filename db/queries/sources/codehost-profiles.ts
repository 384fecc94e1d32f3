import type { Queryable } from '../../pool.ts'

/** An account on a host of code. Texts are clean and short enough. */
export interface StoredAccount {
  readonly login: string
  readonly userId: number
  readonly type: string | null
  readonly name: string | null
  readonly url: string | null
  readonly avatarUrl: string | null
  readonly blog: string | null
  readonly bio: string | null
  readonly followers: number | null
  readonly following: number | null
  readonly publicRepos: number | null
  readonly accountCreatedAt: Date | null
}

/** Totals of its public repositories. */
export interface StoredWork {
  readonly totalStars: number | null
  readonly topLanguages: readonly string[]
  readonly lastPushAt: Date | null
}

export interface StoredCodehostProfile extends StoredAccount, StoredWork {
  readonly askedLogin: string
  readonly verified: boolean
  readonly source: string
  readonly userEtag: string | null
  readonly repositoriesEtag: string | null
}

const fields = {
  asked_login: 'askedLogin',
  login: 'login',
  user_id: 'userId',
  type: 'type',
  name: 'name',
  url: 'url',
  avatar_url: 'avatarUrl',
  blog: 'blog',
  bio: 'bio',
  followers: 'followers',
  following: 'following',
  public_repos: 'publicRepos',
  total_stars: 'totalStars',
  top_languages: 'topLanguages',
  account_created_at: 'accountCreatedAt',
  last_push_at: 'lastPushAt',
  verified: 'verified',
  source: 'source',
  user_etag: 'userEtag',
  repositories_etag: 'repositoriesEtag',
} as const satisfies Record<string, keyof StoredCodehostProfile>
const names = Object.keys(fields)
const of = (table: string) => names.map((name) => `${table}.${name}`).join(', ')

export async function readCodehostProfile(db: Queryable, fid: number): Promise<StoredCodehostProfile | undefined> {
  const { rows } = await db.query<StoredCodehostProfile>({
    name: 'read-codehost-profile',
    text: `select ${Object.entries(fields)
      .map(([name, field]) => `${name} as "${field}"`)
      .join(', ')} from codehost_profile where fid = $1`,
    values: [fid],
  })
  return rows[0]
}

/** Stores the account that an agent names on a code host. Nothing is written when it is unchanged. */
export async function storeCodehostProfile(
  db: Queryable,
  { fid, profile, now }: { fid: number; profile: StoredCodehostProfile; now: Date },
): Promise<void> {
  await db.query({
    name: 'store-codehost-profile',
    text: `
insert into codehost_profile as c (fid, fetched_at, ${names.join(', ')})
values ($1, $2, ${names.map((_, index) => `$${index + 3}`).join(', ')})
    on conflict (fid) do update
   set (fetched_at, ${names.join(', ')}) = row(excluded.fetched_at, ${of('excluded')})
 where (${of('c')}) is distinct from (${of('excluded')})`,
    values: [fid, now, ...Object.values(fields).map((field) => profile[field])],
  })
}

/** Deletes the stored account of an agent that names none that exists. */
export async function forgetCodehostProfile(db: Queryable, fid: number): Promise<void> {
  await db.query({
    name: 'forget-codehost-profile',
    text: 'delete from codehost_profile where fid = $1',
    values: [fid],
  })
}
