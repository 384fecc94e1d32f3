import { uptimeLimits } from '../../../config/limits.ts'
import { textList } from './json-text.ts'

/**
 * Whether a document's last check found it, by its failures in a row since a sign of life. What such a sign is, the check
 * decides (`enrichment/specs/check-status.ts`): it alone sets the count to none.
 */
export const isReadable = (failures: number) => failures === readableFailures
const readableFailures = 0
/** SQL: the same of a row `s` of `agent_spec`. */
export const isReadableRow = `s.consecutive_failures = ${readableFailures}`

/** Codes of answers that show somebody there: the right one of its protocol, or a demand for payment or a name. */
export const answering: readonly string[] = ['ok', 'payment_required', 'auth_required']
/** SQL: whether what a document `s` describes answers; the document alone counts only while nobody has asked that. */
export const isAlive = `coalesce(s.answers in (${textList(answering)}), ${isReadableRow})`

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
