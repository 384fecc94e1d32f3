import { uptimeLimits } from '../../../config/limits.ts'
import type { Queryable } from '../../pool.ts'

/** One check of a document; meaning of the fields: docs/rules.md 3. */
interface Probe {
  readonly kind: string
  readonly url: string
  readonly alive: boolean
  readonly status: string
  readonly httpStatus: number | null
  readonly latencyMs: number | null
  /** How what the document describes answered; null: nobody has asked. */
  readonly answer: string | null
  /** What kept callers or buyers from it, and blocks that chains were asked at: as StoredSpec. */
  readonly findings: readonly object[]
  readonly chainBlocks: readonly object[]
}

/** Keeps the checks of one look at an agent, recounts its day, and forgets what is too old of this agent. */
export async function keepProbes(db: Queryable, fid: number, probes: readonly Probe[], now: Date): Promise<void> {
  await db.query({
    name: 'keep-probes',
    text: `
insert into spec_probe (fid, checked_at, kind, url, alive, status, http_status, latency_ms, answers, findings, chain_blocks)
select $1, $2, p.kind, p.url, p.alive, p.status, p."httpStatus", p."latencyMs", p.answer, p.findings,
       p."chainBlocks"
  from json_to_recordset($3::json) as p (
         kind text, url text, alive boolean, status text, "httpStatus" int, "latencyMs" int, answer text, findings jsonb,
         "chainBlocks" jsonb)
    on conflict do nothing`,
    values: [fid, now, JSON.stringify(probes)],
  })
  const values = [fid, now]
  await db.query({ name: 'count-uptime-day', text: countDay, values })
  await db.query({ name: 'forget-old-probes', text: forgetOld, values })
}

/** Forgets the history of agents that left the index. */
export async function forgetUptime(db: Queryable, fids: readonly number[]): Promise<void> {
  await db.query({
    name: 'forget-uptime',
    text: `
with days as (delete from spec_day where fid = any ($1::bigint[]))
delete from spec_probe where fid = any ($1::bigint[])`,
    values: [fids],
  })
}

const dayOf = (time: string) => `(${time} at time zone 'UTC')::date`

/** All of an agent's documents: a few, with a day's checks each. */
const countDay = `
insert into spec_day as d (fid, day, kind, url, checks, alive, latency_ms)
select fid, ${dayOf('$2::timestamptz')}, kind, url, count(*), count(*) filter (where alive),
       percentile_disc(0.5) within group (order by latency_ms) filter (where alive)
  from spec_probe
 where fid = $1 and checked_at >= date_trunc('day', $2::timestamptz, 'UTC')
   and checked_at < date_trunc('day', $2::timestamptz, 'UTC') + interval '24 hours'
 group by fid, kind, url
    on conflict (fid, day, kind, url) do update
   set checks = excluded.checks, alive = excluded.alive, latency_ms = excluded.latency_ms
 where (d.checks, d.alive, d.latency_ms) is distinct from (excluded.checks, excluded.alive, excluded.latency_ms)`

const forgetOld = `
with days as (
  delete from spec_day where fid = $1 and day <= ${dayOf('$2::timestamptz')} - ${uptimeLimits.days.maximum})
delete from spec_probe where fid = $1 and checked_at < $2::timestamptz - interval '${uptimeLimits.checkDays} days'`
