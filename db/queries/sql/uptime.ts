import { uptimeLimits } from '../../../limits.config.ts'

/**
 * Whether a document's last check found it alive, by its failures in a row since a sign of life. What such a sign is, the
 * check decides (`enrichment/specs/check-status.ts`): it alone sets the count to none.
 */
export const foundAlive = (failures: number) => failures === aliveFailures
const aliveFailures = 0
/** SQL: the same of a row `s` of `agent_spec`. */
export const isAlive = `s.consecutive_failures = ${aliveFailures}`

/** The UTC day that is not over. */
export const today = `(now() at time zone 'UTC')::date`

/** Share of checks that found a document alive within the last days, today's included; null where there are too few. */
const share = (days: number) => {
  const within = `filter (where d.day > ${today} - ${days})`
  return `
       case when sum(d.checks) ${within} >= ${uptimeLimits.fewestChecks}
            then round(sum(d.alive) ${within} / (sum(d.checks) ${within})::numeric, 4) end as uptime_${days}d`
}

/** Uptime of each document of an agent that was checked lately, by kind and URL: one range of an index. */
export const uptimeOf = (fid: string) => `
select d.kind, d.url, ${[7, 30].map(share).join(',')}
  from spec_day d
 where d.fid = ${fid} and d.day > ${today} - 30
 group by d.kind, d.url`
