import type { Mark } from './mark.ts'
import { change, claimEvent } from './routes.ts'

// What webhooks are sent: marks of the kind `webhook events`.

/** Whether somebody has a webhook. */
const isListening = 'exists (select from webhook where deleted_at is null)'
/** What a look at an endpoint of an agent found. */
const lookAt = (what: string) =>
  `'${what}:' || fid || ':' || kind || ':' || (extract(epoch from moved.last_check_at) * 1000)::bigint || ':' || url`
/** Whom an endpoint asks to pay. */
const payees = (spec: string) =>
  `array(select distinct price->>'payTo' from jsonb_array_elements(${spec}.prices) as price where price->>'payTo' is not null order by 1)`

export const webhookMarks: readonly Mark[] = [
  { table: 'webhook', on: ['insert', 'update'], key: `'endpoint:' || id`, from: 'moved where deleted_at is null' },
  { table: 'agent_change', on: ['insert'], key: change, from: `moved where ${isListening}` },
  { table: 'claim_event', on: ['insert'], key: claimEvent, from: `moved where kind = 'claimed' and ${isListening}` },
  {
    table: 'agent_spec',
    on: ['update'],
    key: lookAt('down'),
    from: `moved join were using (fid, kind, url)
     where were.last_alive_at = were.last_check_at and moved.last_alive_at < moved.last_check_at and ${isListening}`,
  },
  {
    table: 'agent_spec',
    on: ['update'],
    key: lookAt('pay_to'),
    from: `moved join were using (fid, kind, url)
     where moved.prices <> were.prices and ${payees('moved')} <> ${payees('were')} and ${isListening}`,
  },
]
