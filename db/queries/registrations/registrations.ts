import type { ChainName } from '../../../config/chains.ts'
import { profileLimits } from '../../../config/limits.ts'
import type { Queryable } from '../../pool.ts'
import type { Installation } from '../sql/installation.ts'
import { chainPosition, hex } from '../sql/json-text.ts'
import { historyObject, recordObject, walletEvidence } from '../sql/registration-objects.ts'
import { historyOrder, recordOrder } from '../sql/shown-holdings.ts'

interface RegistrationPage {
  readonly fid: number
  readonly state: 'current' | 'historical'
  /** Null: all. */
  readonly chain: readonly ChainName[] | null
  readonly limit: number
  /**
   * Cursor: sort values of the last row before the page; undefined: the first page. They may have been made up, so a
   * statement takes them as `bigint`, which every cursor fits, whatever the type of its column.
   */
  readonly after: readonly string[] | undefined
  readonly installation: Installation
}

/**
 * All that an agent holds or once held, a page at a time, in the order of the profile. Undefined: the fid is not in the
 * index. `next` is null on the last page.
 */
export async function agentRegistrations(
  db: Queryable,
  { fid, state, chain, limit, after, installation }: RegistrationPage,
): Promise<{ rows: string; count: number; next: string[] | null } | undefined> {
  const { length } = state === 'current' ? currentKey : historicalKey
  const { rows } = await db.query<{ rows: string; count: number; next: string[] | null }>({
    name: `agent-registrations-${state}`,
    text: state === 'current' ? current : historical,
    values: [JSON.stringify(installation), fid, chain, limit, ...Array.from({ length }, (_, n) => after?.[n] ?? null)],
  })
  return rows[0]
}

const currentKey = ['h.unsolicited::int', chainPosition('h.chain'), 'h.agent_id']
const historicalKey = [
  '(extract(epoch from h.released_at) * 1000000)::bigint',
  chainPosition('h.chain'),
  'h.agent_id',
  'h.acquired_block',
  'h.acquired_log_index',
]

/** One row more than asked for is looked for: it tells whether there is a next page. */
function pageOf(found: string, { order, key, object }: { order: string; key: readonly string[]; object: string }) {
  return `
with found as (${found}),
counted as (
  select h.*, row_number() over (order by ${order}) as place,
         sum(coalesce(r.agent_uri_length, 0)) over (order by ${order} rows between unbounded preceding and 1 preceding)
           as bytes_before
    from found h
    left join registration r using (chain, agent_id)
),
page as (select * from counted where place <= $4 and coalesce(bytes_before, 0) < ${profileLimits.pageUriBytes})
select coalesce((select json_agg(${object} order by ${order})
                   from page h
                   left join registration r using (chain, agent_id)
                   left join registration_document d using (chain, agent_id)), '[]')::text as rows,
       (select count(*) from page) as count,
       (select array[${key.map((value) => `(${value})::text`).join(', ')}] from page h
         where (select count(*) from found) > (select count(*) from page)
         order by h.place desc limit 1) as next
  from agent
 where fid = $2 and $1::jsonb is not null`
}

const current = pageOf(
  `
  select held.*
    from (values (false), (true)) as sent (unsolicited)
   cross join unnest(chain_names()) with ordinality as chain (name, number)
   cross join lateral (
     select h.*
       from agent_holding h
      where h.fid = $2 and h.reason is null and h.unsolicited = sent.unsolicited and h.chain = chain.name
        and h.agent_id > case when (sent.unsolicited::int, chain.number - 1) = ($5::bigint, $6::bigint)
                              then $7::numeric else -1 end
      order by h.agent_id
      limit $4::bigint + 1
   ) held
   where ($3::text[] is null or chain.name = any ($3))
     and ($5::bigint is null or (sent.unsolicited::int, chain.number - 1) >= ($5::bigint, $6::bigint))
   order by sent.unsolicited, chain.number, held.agent_id
   limit $4::bigint + 1`,
  { order: recordOrder, key: currentKey, object: recordObject('r.agent_uri', [walletEvidence]) },
)

const released = `timestamptz 'epoch' + $5::bigint * interval '1 microsecond'`
const historical = pageOf(
  `
  select h.*
    from agent_holding h
   where h.fid = $2 and h.reason is not null and ($3::text[] is null or h.chain = any ($3))
     and ($5::bigint is null or h.released_at <= ${released})
     and ($5::bigint is null or h.released_at < ${released}
       or (${historicalKey.slice(1).join(', ')}) > ($6::bigint, $7::numeric, $8::bigint, $9::bigint))
   order by ${historyOrder}
   limit $4::bigint + 1`,
  { order: historyOrder, key: historicalKey, object: historyObject },
)

/** The address that holds a registration, `id` in digits; undefined: there is none. */
export async function tokenHolder(
  db: Queryable,
  { chain, id }: { chain: ChainName; id: string },
): Promise<string | undefined> {
  const { rows } = await db.query<{ owner: string }>({
    name: 'token-holder',
    text: `
select ${hex('owner')} as owner from registration
 where chain = $1 and agent_id = $2::numeric and not burned and owner is not null`,
    values: [chain, id],
  })
  return rows[0]?.owner
}
