import type { Queryable } from '../../pool.ts'
import { isoTime, list } from '../sql/json-text.ts'
import { today, uptimeOf } from '../sql/uptime.ts'

interface Uptime {
  readonly count: number
  /** JSON array of documents with their days. */
  readonly documents: string
  /** Start of the first and of the last day, ISO. */
  readonly since: string
  readonly until: string
}

/** Checks of an agent's documents by UTC day, ascending, days without one included. Undefined: no such agent. */
export async function agentUptime(
  db: Queryable,
  { fid, days }: { readonly fid: number; readonly days: number },
): Promise<Uptime | undefined> {
  const { rows } = await db.query<Uptime>({
    name: 'agent-uptime',
    text: `
with calendar as (
  select ${today} - back as day from generate_series(0, $2::int - 1) as back
),
one as (
  select s.kind, s.url, json_build_object(
           'kind', s.kind,
           'url', s.url,
           'last_check_at', ${isoTime('s.last_check_at')},
           'last_check_status', s.last_check_status,
           'uptime_7d', u.uptime_7d,
           'uptime_30d', u.uptime_30d,
           'days', (select json_agg(json_build_object(
                             'start', ${isoTime(`(c.day::timestamp at time zone 'UTC')`)},
                             'checks', coalesce(d.checks, 0),
                             'alive', coalesce(d.alive, 0),
                             'latency_ms', d.latency_ms) order by c.day)
                      from calendar c
                      left join spec_day d on d.fid = s.fid and d.day = c.day and d.kind = s.kind and d.url = s.url)
         ) as document
    from agent_spec s
    left join (${uptimeOf('$1')}) u using (kind, url)
   where s.fid = $1
)
select (select count(*) from one) as count,
       (select ${list('document', 'kind, url')} from one)::text as documents,
       ${isoTime(`((${today} - $2::int + 1)::timestamp at time zone 'UTC')`)} as since,
       ${isoTime(`((${today} + 1)::timestamp at time zone 'UTC')`)} as until
  from agent a where a.fid = $1`,
    values: [fid, days],
  })
  return rows[0]
}
