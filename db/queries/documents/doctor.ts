import { profileLimits } from '../../../config/limits.ts'
import type { Queryable } from '../../pool.ts'
import { isoTime, list } from '../sql/json-text.ts'

/** What keeps callers or buyers from an agent, as it was last found. */
interface Diagnosis {
  /** When a look at its hosts last ended; null: there was none yet. */
  readonly checked_at: string | null
  /** `code` is one of net/findings.ts; null members: not known. */
  readonly findings: readonly {
    readonly code: string
    readonly endpoint: string | null
    readonly detail: string | null
    readonly since: string | null
  }[]
  readonly endpoints: readonly object[]
  readonly truncated: boolean
}

/** As it is now, or as the looks by a time had found it (ISO 8601). Undefined: no such agent. */
export async function agentDiagnosis(
  db: Queryable,
  fid: number,
  asOf: string | null = null,
): Promise<Diagnosis | undefined> {
  const { rows } = await db.query<Diagnosis>({ name: 'agent-diagnosis', text, values: [fid, asOf] })
  return rows[0]
}

const most = profileLimits.findings

const text = `
with document as (
  select kind, url, declared, last_check_at, last_check_status, http_status, findings, chain_blocks
    from agent_spec where fid = $1 and $2::timestamptz is null
   union all
  select * from (
    select distinct on (p.kind, p.url) p.kind, p.url, coalesce(s.declared, false), p.checked_at, p.status, p.http_status,
           p.findings, p.chain_blocks
      from spec_probe p
      left join agent_spec s using (fid, kind, url)
     where p.fid = $1 and p.checked_at <= $2
     order by p.kind, p.url, p.checked_at desc) probe
),
-- A registration that a stranger sent says nothing of the agent.
registered as (
  select h.chain, h.agent_id, d.uri_status, d.services, left(r.agent_uri, 200) as uri
    from agent_holding h
    join registration r using (chain, agent_id)
    join registration_document d using (chain, agent_id)
   where h.fid = $1 and h.reason is null and not h.unsolicited and $2::timestamptz is null
   order by h.chain, h.agent_id
   limit ${most}
),
found as (
  select one->>'code' as code, d.url as endpoint, one->>'detail' as detail, one->>'since' as since
    from document d cross join lateral jsonb_array_elements(d.findings) as one
   union all
  select distinct 'pay_to_not_wallet', y.url, y.outcome || ' ' || y.pay_to, null
    from directory.payees y where y.fid = $1 and $2::timestamptz is null and y.outcome in ('mismatch', 'owner-only', 'no-agent-wallet')
   union all
  select 'file_unread', case when uri ~* '^[a-z]+://' then uri end, chain || ':' || agent_id || ' ' || uri_status, null
    from registered where uri_status in ('empty', 'unsupported', 'unreachable', 'invalid')
   union all
  select distinct 'plain_http', service->>'endpoint', null, null
    from registered cross join lateral json_array_elements(services) as service where service->>'endpoint' ilike 'http://%'
   union all
  select 'no_endpoint', null, null, null
   where $2::timestamptz is null and not exists (select from document)
     and not exists (select from registered where json_array_length(services) > 0)
     and exists (select from agent_spec_check where fid = $1)
     and exists (select from agent where fid = $1 and agent_status = 'active')
),
kept as (select * from found order by since desc nulls last, code, endpoint, detail limit ${most} + 1)
select case when $2::timestamptz is null then (select ${isoTime('checked_at')} from agent_spec_check where fid = a.fid)
            else (select ${isoTime('max(last_check_at)')} from document) end as checked_at,
       (select coalesce(json_agg(k order by k.endpoint nulls first, k.code, k.detail), '[]')
          from (select * from kept limit ${most}) k) as findings,
       (select ${list(
         `json_build_object('kind', kind, 'url', url, 'declared', declared, 'checked_at', ${isoTime('last_check_at')},
                            'status', last_check_status, 'http_status', http_status,
                            'as_of', (select coalesce(json_agg(json_build_object('chain', b->>'chain', 'block_number', b->'number',
                                                                      'block_timestamp', b->>'time') order by place), '[]')
                                        from jsonb_array_elements(chain_blocks) with ordinality as block (b, place)))`,
         'kind, url',
       )} from document) as endpoints,
       (select count(*) from kept) > ${most} as truncated
  from agent a where a.fid = $1`
