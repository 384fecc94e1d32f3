import { profileLimits, readingLimits } from '../../../config/limits.ts'
import type { Queryable } from '../../pool.ts'
import type { Installation } from '../sql/installation.ts'
import { hex, list, type Member, members } from '../sql/json-text.ts'
import { registrationMembers, truncated } from '../sql/registration-objects.ts'
import { type Acting, actingTerms } from './acting.ts'
import { type RegistrationFilter, registrationConditions } from './filters.ts'

const limits = { walked: readingLimits.registrationsWalked, matched: readingLimits.registrationsMatched }

/** Times that the list can be in the order of, the newest first. Each order is total, and has its indexes. */
const orders = { updated: 'updated_at', newest: 'registered_at' } as const

type RegistrationSort = keyof typeof orders
export const registrationSorts = Object.keys(orders) as RegistrationSort[]

interface RegistrationsPage {
  readonly filter: RegistrationFilter
  readonly sort: RegistrationSort
  readonly limit: number
  /** Time (microseconds since 1970), chain and id of the last row before the page; undefined: the first page. */
  readonly after: readonly string[] | undefined
  readonly installation: Installation
  /** Registrations that a page may look at, and that may be looked up for it; set by tests only. */
  readonly most?: { readonly walked: number; readonly matched: number }
}

interface Rows {
  /** JSON array. */
  readonly rows: string
  readonly count: number
  readonly next: string[] | null
}

/**
 * A page of all registrations that a filter matches. First some are looked at along the order, which fills a page where
 * many match. Otherwise all that match are looked up by index. Where these are too many as well, they stand together
 * further on in the order: the page is short, and `next` leads on to what was not looked at yet.
 */
export async function registrationsPage(db: Queryable, page: RegistrationsPage): Promise<Rows> {
  const { operator } = page.filter
  const acting = await actingTerms(db, operator === null ? [] : [operator])
  const walked = await read<Rows & { edge: string[] | null }>(db, walk(page, acting))
  if (walked.edge === null) return walked
  const lookup = matching(page, acting)
  const matched = lookup && (await read<Rows & { complete: boolean }>(db, lookup))
  return matched?.complete ? matched : { ...walked, next: walked.edge }
}

interface Statement {
  readonly text: string
  readonly values: unknown[]
}

async function read<T>(db: Queryable, statement: Statement): Promise<T> {
  // Unnamed: planned with its values, as rare and common ones want other plans.
  const { rows } = await db.query(statement)
  return rows[0] as T
}

function parts({ filter, sort, limit, after, installation }: RegistrationsPage, acting: Acting) {
  const values: unknown[] = [JSON.stringify(installation), limit]
  const parameter = (value: unknown, type: string) => `$${values.push(value)}::${type}`
  const conditions = registrationConditions(filter, parameter, acting)
  const terms = conditions.terms === null ? null : parameter(conditions.terms, 'tsquery')
  const time = orders[sort]
  const [chain, ...others] = filter.chain ?? []
  const ofOne = chain !== undefined && others.length === 0 ? [`s.chain = ${parameter(chain, 'text')}`] : []
  const behind = after && [
    `(s.${time}, s.chain, s.agent_id) < (timestamptz 'epoch' + ${parameter(after[0], 'bigint')} * interval '1 microsecond',
      ${parameter(after[1], 'text')}, ${parameter(after[2], 'numeric')})`,
  ]
  // An order by times is begun, and ended, where these say.
  const since = sort === 'updated' ? filter.updated_since : filter.registered_since
  const bounds = since === null ? [] : [`s.${time} >= ${parameter(since, 'timestamptz')}`]
  return {
    values,
    time,
    parameter,
    conditions,
    order: `s.${time} desc, s.chain desc, s.agent_id desc`,
    key: `array[((extract(epoch from s.${time}) * 1000000)::bigint)::text, s.chain, s.agent_id::text]`,
    place: [...ofOne, ...(behind ?? []), ...bounds],
    fits: [...(terms === null ? [] : [`s.terms @@ ${terms}`]), ...conditions.others],
    terms,
  }
}

const whereOf = (conditions: readonly string[]) => (conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`)

/** `edge`: the last one looked at, where that was too few for a page; null: the page is complete. */
function walk(page: RegistrationsPage, acting: Acting): Statement {
  const { values, time, order, key, place, fits } = parts(page, acting)
  const { operator } = page.filter
  const isLookedUp = operator !== null && acting.get(operator) === null
  const walked = page.most?.walked ?? (isLookedUp ? readingLimits.registrationsLookedUp : limits.walked)
  const looked = `from searched_registration s ${whereOf(place)} order by ${order}`
  const found = `select s.* from (select s.* ${looked} limit ${walked}) s ${whereOf(fits)} order by ${order} limit $2::int + 1`
  const edge = `(select ${key} from (select s.${time}, s.chain, s.agent_id ${looked} offset ${walked} - 1 limit 1) s
          where (select count(*) from found) <= $2::int) as edge`
  return { text: shown({ found, order, key, more: edge }), values }
}

/** Undefined: there is nothing to look up by. `complete`: these are all. */
function matching(page: RegistrationsPage, acting: Acting): Statement | undefined {
  const { values, parameter, conditions, order, key, place, fits, terms } = parts(page, acting)
  const { name, description, feedback } = conditions
  const most = (page.most ?? limits).matched
  if ([terms, name, description, feedback].every((one) => one === null)) return undefined
  const matched = `matched as materialized (
  select array(select * from registrations_matching(${terms ?? 'null'}, lower(${parameter(name, 'text')}), lower(${parameter(description, 'text')}),
                                                    ${parameter(feedback, 'bigint')}, ${most})) as places
),`
  const found = `select s.* from searched_registration s
   ${whereOf(['s.ctid = any ((select places from matched)::tid[])', ...place, ...fits])} order by ${order} limit $2::int + 1`
  const complete = `(select cardinality(places) from matched) < ${most} as complete`
  return { text: shown({ before: matched, found, order, key, more: complete }), values }
}

/** The account behind the agent, and how it is known that the address which holds the registration is its own. */
const human: Member = [
  'human',
  `(select json_build_object('fid', v.fid, 'assurance', case when v.verdict in ('proven', 'signed') then v.verdict else 'stated' end)
     from verified_address v where v.fid = s.fid and v.address = r.owner and v.ended_at is null)`,
]
const uri = `case when r.agent_uri_length <= ${profileLimits.uriBytes} then r.agent_uri end`
const object = `json_build_object(${members([...registrationMembers('r', hex('r.owner'), uri), truncated, ['fid', 's.fid'], human])})`

/** The first of `found`, and where to go on. */
function shown({
  before = '',
  found,
  order,
  key,
  more,
}: Record<'found' | 'order' | 'key' | 'more', string> & { before?: string }) {
  return `
with ${before}found as (${found}),
page as (select * from found s order by ${order} limit $2::int)
select (select ${list(object, order)}
          from page s
          join registration r using (chain, agent_id)
          left join registration_document d using (chain, agent_id))::text as rows,
       (select count(*) from page) as count,
       (select ${key} from found s where (select count(*) from found) > $2::int
         order by ${order} offset $2::int - 1 limit 1) as next,
       ${more}`
}
