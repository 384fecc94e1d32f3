import type { ChainName } from '../../../config/chains.ts'
import { profileLimits } from '../../../config/limits.ts'
import type { Queryable } from '../../pool.ts'
import { answered, feedbackValue, flagsOf, isJudged, shownTag } from '../sql/feedback.ts'
import { chainId, hex, isoTime, list } from '../sql/json-text.ts'

/** Filters of a page of feedback; null: the filter is not set. */
interface FeedbackFilter {
  readonly chain: readonly ChainName[] | null
  readonly by: readonly string[] | null
  readonly paid: boolean | null
  readonly revoked: boolean | null
  readonly grounds: readonly string[] | null
  /** Whether any rule flags it. */
  readonly flagged: boolean | null
  /** Rules, any of which flags it. */
  readonly flag: readonly string[] | null
  readonly tag1: string | null
  readonly tag2: string | null
  readonly endpoint: string | null
  /** Decimal. */
  readonly min_value: string | null
  /** Lowercase hex. */
  readonly client: string | null
  /** Not given before this time. */
  readonly since: string | null
}

/** A filter that everything matches. */
export const everyFeedback: FeedbackFilter = {
  chain: null,
  by: null,
  paid: null,
  revoked: null,
  grounds: null,
  flagged: null,
  flag: null,
  tag1: null,
  tag2: null,
  endpoint: null,
  min_value: null,
  client: null,
  since: null,
}

interface FeedbackPage {
  readonly fid: number
  readonly limit: number
  readonly filter: FeedbackFilter
  /** Cursor: time (microseconds since 1970), chain, block and log index of the last row before the page. */
  readonly after: readonly string[] | undefined
}

const order = (row: string) =>
  ['block_timestamp', 'chain', 'block_number', 'log_index'].map((name) => `${row}.${name} desc`).join(', ')
const key = (
  row: string,
) => `array[((extract(epoch from ${row}.block_timestamp) * 1000000)::bigint)::text, ${row}.chain,
    ${row}.block_number::text, ${row}.log_index::text]`

/** SQL: an endpoint or URI; a long one is left out, as a shortened one would be of no use. */
const shownUri = (uri: string) =>
  `case when ${uri} <> '' and length(${uri}) <= ${profileLimits.feedbackUriCharacters} then ${uri} end`

const feedbackObject = `json_build_object(
    'chain', f.chain,
    'chain_id', ${chainId('f.chain')},
    'erc8004_id', f.agent_id,
    'client_address', ${hex('f.client')},
    'client', f.kind,
    'client_fid', f.client_fid,
    'feedback_index', f.feedback_index,
    'value', ${feedbackValue('f')},
    'tag1', ${shownTag('f.tag1')},
    'tag2', ${shownTag('f.tag2')},
    'endpoint', ${shownUri('f.endpoint')},
    'feedback_uri', ${shownUri('f.feedback_uri')},
    'feedback_hash', ${hex('f.feedback_hash')},
    'paid', f.paid,
    'before_holder', f.before_holder,
    'given_at', ${isoTime('f.block_timestamp')},
    'block_number', f.block_number,
    'log_index', f.log_index,
    'tx_hash', ${hex('f.tx_hash')},
    'revoked_at', ${isoTime('f.revoked_at')},
    'unit', f.unit,
    'grounds', f.grounds,
    'payment', case f.grounds
      when 'payment' then (
        select json_build_object('chain', p.chain, 'tx_hash', ${hex('p.tx_hash')}, 'block_number', p.block_number,
                                 'log_index', p.log_index)
          from payments_behind(f.fid, f.client, f.paid_at) p)
      when 'payment_named' then json_build_object(
        'chain', f.named_chain, 'tx_hash', ${hex('f.payment_tx')}, 'block_number', f.named_block,
        'log_index', f.named_log_index) end,
    'file', case when f.file_status is not null then json_build_object(
      'status', f.file_status,
      'hash', f.file_hash,
      'read_at', ${isoTime('f.file_read_at')},
      'payment', case when f.payment_tx is not null then json_build_object(
        'chain_id', f.payment_chain_id, 'tx_hash', ${hex('f.payment_tx')}, 'from_address', ${hex('f.payment_from')},
        'to_address', ${hex('f.payment_to')}, 'state', coalesce(f.named, 'unknown')) end) end,
    'responses', (select count(*)
                    from (select
                            from feedback_response r
                           where r.chain = f.chain and r.agent_id = f.agent_id and r.client = f.client
                             and r.feedback_index = f.feedback_index
                           limit ${profileLimits.responsesCounted}) r),
    'answered', ${answered('f.fid')},
    'flags', ${flagsOf('f')}
  )`

// Of each registration the newest row from the place on is read, in its index alone. A page has rows only of those whose newest
// ones are the first of them, as many as it may look at, so of these alone more is read. A filter that few rows match ends a
// page before it is full, with the place where the next one goes on. What is judged is named by its id and its place, so that
// whichever index the planner takes has one row for it: few have much feedback, and by the numbers that it knows a registration
// has as many as an id.
const after = `($4::bigint is null or (
        f.block_timestamp <= timestamptz 'epoch' + $4::bigint * interval '1 microsecond'
        and (f.block_timestamp, f.chain, f.block_number, f.log_index)
            < (timestamptz 'epoch' + $4::bigint * interval '1 microsecond', $5::text, $6::bigint, $7::bigint)))`

/** SQL: the newest feedback on a registration `h`, from the place on and not given before a time. */
const newestFirst = (columns: string, limit: string, least: string) => `
     select ${columns}
       from feedback f
      where f.chain = h.chain and f.agent_id = h.agent_id and ${after}
        and f.block_timestamp >= ${least}
      order by f.block_timestamp desc, f.block_number desc, f.log_index desc
      limit ${limit}`

const since = `coalesce($12::timestamptz, '-infinity')`
// As many registrations as a page looks at rows: it has none from before the newest of the last of them.
const oldest = '(select min(block_timestamp) from newest having count(*) > $3::int)'

const text = `
select page.*
  from agent a
 cross join lateral (
with newest as materialized (
  select h.chain, h.agent_id, f.block_timestamp
    from agent_holding h
   cross join lateral (${newestFirst('f.chain, f.block_timestamp, f.block_number, f.log_index', '1', since)}) f
   where h.fid = a.fid and ${isJudged} and ($8::text[] is null or h.chain = any ($8))
   order by ${order('f')}
   limit $3::int + 1
),
found as (
  select f.*
    from newest h
   cross join lateral (${newestFirst('f.*', '$3::int + 1', `greatest(${since}, ${oldest})`)}) f
   order by ${order('f')}
   limit $3::int + 1
),
numbered as materialized (select f.*, row_number() over (order by ${order('f')}) as place from found f),
looked as materialized (select * from numbered where place <= $3::int),
matching as materialized (
  select f.*, looked.place
    from (select * from looked order by place) looked
   cross join lateral (
     select * from judged_feedback f
      where f.fid = a.fid and f.chain = looked.chain and f.agent_id = looked.agent_id and f.id = looked.id
        and (f.block_timestamp, f.block_number, f.log_index) = (looked.block_timestamp, looked.block_number, looked.log_index)
      offset 0
   ) f
   where ($11::boolean is null or (looked.revoked_block is not null) = $11)
     and ($13::text is null or looked.tag1 = $13)
     and ($14::text is null or looked.tag2 = $14)
     and ($15::text is null or looked.endpoint = $15)
     and ($16::numeric is null or ${feedbackValue('looked')} >= $16)
     and ($17::bytea is null or looked.client = $17)
     and ($9::text[] is null or f.kind = any ($9))
     and ($10::boolean is null or f.paid = $10)
     and ($18::text[] is null or f.grounds = any ($18))
     and ($19::boolean is null or exists (select from feedback_flag x where x.id = looked.id) = $19)
     and ($20::text[] is null or exists (select from feedback_flag x where x.id = looked.id and x.rule = any ($20)))
   order by looked.place
   limit $2::int + 1
),
page as materialized (select * from matching order by place limit $2::int)
select (select ${list(feedbackObject, 'f.place')} from page f)::text as rows,
       (select count(*) from page) as count,
       case when (select count(*) from matching) > $2
            then (select ${key('f')} from page f order by f.place desc limit 1)
            when (select count(*) from numbered) > $3
            then (select ${key('f')} from looked f order by f.place desc limit 1) end as next
) page
 where a.fid = $1`

/**
 * A page of the feedback on the registrations that an agent holds now, newest first, with what is known of its clients.
 * Undefined: the fid is not in the index. `next` is null on the last page.
 */
export async function agentFeedback(
  db: Queryable,
  { fid, limit, filter, after }: FeedbackPage,
): Promise<{ rows: string; count: number; next: string[] | null } | undefined> {
  const { chain, since: from, ...judged } = filter
  const { by, paid, revoked, grounds, flagged, flag, tag1, tag2, endpoint, min_value, client } = judged
  const isFiltered = Object.values(judged).some((one) => one !== null)
  const looked = isFiltered ? profileLimits.feedbackLookedAt : limit
  const place = Array.from({ length: 4 }, (_, n) => after?.[n] ?? null)
  const who = client && Buffer.from(client.slice(2), 'hex')
  const words = [from, tag1, tag2, endpoint, min_value, who, grounds, flagged, flag]
  const { rows } = await db.query<{ rows: string; count: number; next: string[] | null }>({
    name: 'agent-feedback',
    text,
    values: [fid, limit, looked, ...place, chain, by, paid, revoked, ...words],
  })
  return rows[0]
}
