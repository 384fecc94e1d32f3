import { documentLimits } from '../../config/limits.ts'
import type { WebhookType } from '../../trust/webhooks/types.ts'
import type { Mark } from './mark.ts'
import { change, claimEvent } from './routes.ts'

// What webhooks are sent: marks of the kind `webhook events`.

/** Whether somebody has a webhook. */
const isListening = 'exists (select from webhook where deleted_at is null)'
/** Whether somebody has one for events of a type. */
const isListeningTo = (type: WebhookType) =>
  `exists (select from webhook where deleted_at is null and '${type}' = any (types))`
/**
 * Whether somebody has one for the settlement `paid`, of an agent: a row for each of everybody's, because one endpoint wants
 * those of one, would be kept for a month. Tokens of finer units may have paid a part of a base unit more.
 */
const isWanted = `exists (
  select from verified_address v
    join webhook w on w.deleted_at is null and 'settlement.received' = any (w.types)
                  and (w.fids is null or v.fid = any (w.fids)) and (w.chains is null or paid.chain = any (w.chains))
                  and (w.min_amount is null or (paid.amount + 1) / 1e6 > w.min_amount)
   where v.address = paid.recipient and v.ended_at is null)`
/** Older rows are a past that is being loaded: events are kept for as long. */
const isRecent = (row: string) => `${row}.block_timestamp > now() - interval '${documentLimits.changeDays} days'`
/** What a look at an endpoint of an agent found. */
const lookAt = (what: string) =>
  `'${what}:' || fid || ':' || kind || ':' || (extract(epoch from moved.last_check_at) * 1000)::bigint || ':' || url`
/** Whom an endpoint asks to pay. */
const payees = (spec: string) =>
  `array(select distinct price->>'payTo' from jsonb_array_elements(${spec}.prices) as price where price->>'payTo' is not null order by 1)`

export const webhookMarks: readonly Mark[] = [
  { table: 'webhook', on: ['insert'], key: `'endpoint:' || id` },
  {
    table: 'webhook',
    on: ['update'],
    key: `'endpoint:' || id`,
    from: 'moved join were using (id) where moved.deleted_at is null and moved.moves <> were.moves',
  },
  { table: 'agent_change', on: ['insert'], key: change, from: `moved where ${isListening}` },
  { table: 'claim_event', on: ['insert'], key: claimEvent, from: `moved where kind = 'claimed' and ${isListening}` },
  {
    table: 'directory_event',
    on: ['insert'],
    key: `'control:' || seq`,
    from: `moved where kind = 'control' and ${isListeningTo('agent.control')}`,
  },
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
  {
    table: 'registration_operator',
    on: ['insert'],
    key: `'operator:' || id`,
    from: `moved where approved and ${isRecent('moved')} and ${isListeningTo('operator.added')}`,
  },
  {
    table: 'registration_approval',
    on: ['insert'],
    key: `'approval:' || id`,
    from: `moved where approved is not null and ${isRecent('moved')} and ${isListeningTo('operator.added')}`,
  },
  // Blocks are rolled up when they are final: what is told of here is not undone.
  {
    table: 'settlement_rollup',
    on: ['update'],
    key: `'settlement:' || paid.chain || ':' || paid.block_number || ':' || paid.log_index`,
    from: `moved join were using (chain)
     cross join lateral (
       select * from settlement s
        where s.chain = moved.chain and s.block_number >= were.next_block and s.block_number < moved.next_block
       offset 0) paid
     where ${isListeningTo('settlement.received')} and ${isRecent('paid')} and ${isWanted}`,
  },
]
