import type { Queryable } from '../../pool.ts'
import type { Installation } from '../sql/installation.ts'
import { members } from '../sql/json-text.ts'
import { profileFields, sourceTimes } from '../sql/profile-fields.ts'
import { settlementFigures, tailFigures, windowStart } from '../sql/settlement-windows.ts'
import { leadingFirst } from '../sql/verification-time.ts'

interface ProfileOptions {
  readonly fid: number
  readonly settlementOverloads: 'spec' | 'all'
  readonly installation: Installation
  /** Names of the fields to build; absent: all. */
  readonly fields?: readonly string[]
}

/** JSON of `GET /api/agent/:fid`. Undefined: the fid is not in the index. */
export async function agentProfile(
  db: Queryable,
  { fid, settlementOverloads, installation, fields }: ProfileOptions,
): Promise<string | undefined> {
  const { object, joined } = built(fields)
  const { rows } = await db.query<{ body: string }>({
    name: fields ? undefined : 'agent-profile',
    text: `
with ${tail('select unnest(verified_addresses) from agent where fid = $2')}
select ${object}::text as body from agent a ${joined} where a.fid = $2 and ${everyParameter}`,
    values: [JSON.stringify(installation), fid, settlementOverloads === 'all'],
  })
  return rows[0]?.body
}

const overloads = '$3::boolean'
const since = windowStart.last_30d('now()')
const paid = `
 cross join lateral (
   select recent as last_30d, ever, newest_at
     from (${settlementFigures({ addresses: 'a.verified_addresses', overloads, since, tail: 'tail' })}) figures
 ) paid`
/** What the sums of all recipients leave out: counted once, and only when a field says it. */
const tail = (recipients: string) =>
  `tail as materialized (${tailFigures({ addresses: `array(${recipients})`, overloads, since })})`
const source = ` cross join lateral (${sourceTimes}) source`
/** A statement names all of its parameters, whichever fields it builds. */
const everyParameter = '$1::jsonb is not null and $3::boolean is not null'

/** The object of some fields, and what it joins with the agent: pieces that nobody asked for are not built. */
function built(fields: readonly string[] | undefined) {
  const object = `json_build_object(${members(profileFields, fields ?? null)})`
  const joined = `${object.includes('paid.') ? paid : ''}${object.includes('source.') ? source : ''}`
  return { object, joined }
}

/** The agents asked for, and those that addresses lead to. */
const batch = ({ object, joined }: ReturnType<typeof built>) => `
with given as (
  select fid, null::bytea as address, place from unnest($2::bigint[]) with ordinality as one (fid, place)
   union all
  select (select a.fid from verified_address v join agent a using (fid)
           where v.address = one.address and v.ended_at is null
           order by ${leadingFirst} limit 1),
         one.address, cardinality($2::bigint[]) + one.place
    from unnest($4::bytea[]) with ordinality as one (address, place)
),
found as (select g.fid, min(g.place) as place from given g join agent using (fid) group by g.fid),
recipient as (select distinct unnest(verified_addresses) as address from found join agent using (fid)),
${tail('select address from recipient')}
select (select coalesce(json_agg(${object} order by found.place), '[]') from found join agent a using (fid) ${joined})::text
         as agents,
       (select count(*) from found) as count,
       (select coalesce(json_agg(coalesce(to_json('0x' || encode(g.address, 'hex')), to_json(g.fid)) order by g.place), '[]')
          from given g where not exists (select from found where found.fid = g.fid))::text as "notFound"
 where ${everyParameter}`

interface ProfileBatch {
  /** JSON array of profiles in the order of the request, each agent once. */
  readonly agents: string
  readonly count: number
  /** JSON array of the fids and addresses that lead to no agent. */
  readonly notFound: string
}

/** The profiles of some agents, a hundred at most, by fid and by verified address, lowercase hex. */
export async function agentProfiles(
  db: Queryable,
  options: Omit<ProfileOptions, 'fid'> & { readonly fids: readonly number[]; readonly addresses: readonly string[] },
): Promise<ProfileBatch> {
  const { fids, addresses, settlementOverloads, installation, fields } = options
  const bytes = addresses.map((address) => Buffer.from(address.slice(2), 'hex'))
  const { rows } = await db.query<ProfileBatch>({
    name: fields ? undefined : 'agent-profiles',
    text: batch(built(fields)),
    values: [JSON.stringify(installation), fids, settlementOverloads === 'all', bytes],
  })
  return rows[0] ?? { agents: '[]', count: 0, notFound: '[]' }
}

/** Status of an agent in the directory. */
export interface Standing {
  readonly claimed: boolean
  readonly agent_status: 'active' | 'historical' | 'claimed-only'
  /** Whether each of its offers is paid to the wallet of its registration; null: it has none. */
  readonly pays_own_wallet: boolean | null
}

/** What is shown in place of an agent's face, and with which letter where there is none. */
export interface Face {
  readonly fid: number
  readonly handle: string | null
  readonly display_name: string | null
  readonly pfp_url: string | null
}

/** Undefined: no such agent. */
export async function agentFace(db: Queryable, fid: number): Promise<Face | undefined> {
  const { rows } = await db.query<Face>({
    name: 'agent-face',
    text: 'select fid::float8 as fid, handle, display_name, pfp_url from agent where fid = $1',
    values: [fid],
  })
  return rows[0]
}

/** Characters of a description that are read. */
const describedLength = 300

/**
 * What agents do in their own words, the beginning of it, by FID: what their registrations say, without those that
 * strangers sent, else the bio of the account. Absent: nothing is said of the agent.
 */
export async function agentDescriptions(db: Queryable, fids: readonly number[]): Promise<ReadonlyMap<number, string>> {
  const { rows } = await db.query<{ fid: number; text: string }>({
    name: 'agent-descriptions',
    text: `
select a.fid::float8 as fid, left(coalesce(nullif(w.descriptions, ''), a.bio), ${describedLength}) as text
  from agent a
  left join agent_words w using (fid)
 where a.fid = any ($1::bigint[]) and coalesce(nullif(w.descriptions, ''), a.bio) <> ''`,
    values: [fids],
  })
  return new Map(rows.map(({ fid, text }) => [fid, text]))
}

/** The address that an account's profile names as its own, as it was last read; null: none is known. */
export async function accountUrl(db: Queryable, fid: number): Promise<string | null> {
  const { rows } = await db.query<{ url: string | null }>({
    name: 'account-url',
    text: 'select profile_url as url from social_profile where fid = $1',
    values: [fid],
  })
  return rows[0]?.url ?? null
}

/** Undefined: no such agent. */
export async function agentStanding(db: Queryable, fid: number): Promise<Standing | undefined> {
  const { rows } = await db.query<Standing>({
    name: 'agent-standing',
    text: `
select claimed, agent_status,
       (select bool_and(y.outcome = 'verified-wallet') from directory.payees y where y.fid = a.fid) as pays_own_wallet
  from agent a where fid = $1`,
    values: [fid],
  })
  return rows[0]
}
