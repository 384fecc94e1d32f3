import { profileLimits } from '../../../config/limits.ts'
import { chainPosition } from './json-text.ts'

const table = 'unnest(chain_names()) with ordinality'

/**
 * A relation: the registrations that an agent holds now, as far as they are shown with it, those it acted on first.
 * Looked up chain by chain, so that a holder of a hundred thousand costs no more than one of some hundreds.
 */
export const shownRecords = (fid: string) => `(
select held.*
  from (values (false), (true)) as sent (unsolicited)
 cross join ${table} as chain (name, position)
 cross join lateral (
   select h.*
     from agent_holding h
    where h.fid = ${fid} and h.reason is null and h.unsolicited = sent.unsolicited and h.chain = chain.name
    order by h.agent_id
    limit ${profileLimits.registrations}
 ) held
 order by sent.unsolicited, chain.position, held.agent_id
 limit ${profileLimits.registrations}
)`

/** Order of the registrations an agent holds, over a holding `h`. */
export const recordOrder = `h.unsolicited, ${chainPosition('h.chain')}, h.agent_id`

/** Order of the holdings that ended, the last first: over a holding `h`. */
export const historyOrder = `h.released_at desc, ${chainPosition('h.chain')}, h.agent_id, h.acquired_block, h.acquired_log_index`

/** A relation: the holdings of an agent that ended, as far as they are shown with it. */
export const shownHistory = (fid: string) => `(
select h.* from agent_holding h where h.fid = ${fid} and h.reason is not null order by ${historyOrder} limit ${profileLimits.registrations}
)`
