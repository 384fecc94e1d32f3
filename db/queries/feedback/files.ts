import type { ChainName } from '../../../config/chains.ts'
import { sources } from '../../../config/sources.ts'
import type { Queryable } from '../../pool.ts'

const source = sources.feedbackFiles.name
/** How much later than the feedback a payment was at least that was not made before it: clocks of chains differ. */
const laterAtLeast = `interval '10 minutes'`
/** Payments of a transaction that are kept, the first: of several to one recipient one may be of the recipient's own money. */
const mostPayments = 1_000

interface FiledFeedback {
  readonly uri: string
  readonly chain: ChainName
  readonly agentId: string
  /** Lowercase hex. */
  readonly client: string
  readonly hash: string
}

/** Undefined: there is no such feedback, or no longer, or it names no file. */
export async function readFeedbackUri(db: Queryable, id: string): Promise<FiledFeedback | undefined> {
  const { rows } = await db.query<FiledFeedback>({
    name: 'read-feedback-uri',
    text: `
select feedback_uri as uri, chain, agent_id::text as "agentId", '0x' || encode(client, 'hex') as client,
       '0x' || encode(feedback_hash, 'hex') as hash
  from feedback
 where id = $1 and feedback_uri <> ''`,
    values: [id],
  })
  return rows[0]
}

interface StoredFile {
  readonly id: string
  readonly uri: string
  /** As of feedback_file. */
  readonly status: string
  readonly hash: string | null
  /** Addresses and hash in lowercase hex. */
  readonly payment: {
    readonly fromAddress: string | null
    readonly toAddress: string | null
    readonly chainId: number
    readonly txHash: string
  } | null
  readonly now: Date
}

/** Stores what was read of a file; a failed reading keeps what was read before, as does any of one that was compared. */
export async function storeFile(db: Queryable, { id, uri, status, hash, payment, now }: StoredFile): Promise<void> {
  const bytes = (hex: string | null | undefined) => (hex ? Buffer.from(hex.slice(2), 'hex') : null)
  await db.query({
    name: 'store-feedback-file',
    text: `
insert into feedback_file as kept (feedback_id, uri_sha256, status, hash, payment_from, payment_to, payment_chain_id, payment_tx, read_at)
values ($1, sha256(convert_to($2, 'UTF8')), $3, $4, $5, $6, $7, $8, $9)
    on conflict (feedback_id) do update
   set (uri_sha256, status, hash, payment_from, payment_to, payment_chain_id, payment_tx, read_at, named, registry_compared)
       = row(excluded.uri_sha256, excluded.status, excluded.hash, excluded.payment_from, excluded.payment_to,
             excluded.payment_chain_id, excluded.payment_tx, excluded.read_at,
             case when (kept.payment_from, kept.payment_to, kept.payment_chain_id, kept.payment_tx)
                       is not distinct from (excluded.payment_from, excluded.payment_to, excluded.payment_chain_id, excluded.payment_tx)
                  then kept.named end, true)
 where kept.status <> 'ok' or kept.uri_sha256 <> excluded.uri_sha256
    or not kept.registry_compared and excluded.status in ('ok', 'foreign')`,
    values: [
      id,
      uri,
      status,
      hash,
      bytes(payment?.fromAddress),
      bytes(payment?.toAddress),
      payment?.chainId ?? null,
      bytes(payment?.txHash),
      now,
    ],
  })
}

export async function forgetFile(db: Queryable, id: string): Promise<void> {
  await db.query({
    name: 'forget-feedback-file',
    text: 'delete from feedback_file where feedback_id = $1',
    values: [id],
  })
}

/** Forgets the files of feedback that was undone, or came again with another URI. Returns whose files are not asked for any more. */
export async function forgetGoneFiles(db: Queryable, ids: readonly string[]): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>({
    name: 'forget-gone-files',
    text: `
with gone as materialized (
  select given.id
    from unnest($1::text[]) as given (id)
    left join feedback f on f.id = given.id and f.feedback_uri <> ''
    left join feedback_file kept on kept.feedback_id = given.id
   where f.id is null or kept.uri_sha256 <> sha256(convert_to(f.feedback_uri, 'UTF8'))
),
forgotten as (delete from feedback_file kept using gone where kept.feedback_id = gone.id)
select id from gone`,
    values: [ids],
  })
  return rows.map(({ id }) => id)
}

/** Has the files read that were not yet, or not compared, those of agents' feedback first. */
export async function askForFiles(db: Queryable, ids: readonly string[], now: Date): Promise<void> {
  await db.query({
    name: 'ask-for-feedback-files',
    text: `
insert into source_state (source, subject, due_at, priority)
select '${source}', 'feedback:' || f.id, $2,
       case when exists (select from agent_holding h
                          where h.chain = f.chain and h.agent_id = f.agent_id and h.reason is null)
            then 2 else 0 end
  from feedback f
 where f.id = any ($1::text[]) and f.feedback_uri <> ''
   and not exists (select from feedback_file kept
                    where kept.feedback_id = f.id and (kept.registry_compared or kept.status <> 'ok'))
 order by f.id
    on conflict (source, subject) do nothing`,
    values: [ids, now],
  })
}

const matchText = `
with wanted as materialized (
  select f.id, f.client, f.block_timestamp, kept.payment_from, kept.payment_to, kept.payment_tx, c.chain, c.finalized_block,
         c.indexed_at > f.block_timestamp + interval '1 hour'
           and not exists (select from settlement_scope s where s.chain = c.chain)
           and not exists (select from settlement_archive a where a.chain = c.chain)
           and not exists (select from backfill b where b.chain = c.chain and b.completed_at is null) as is_whole
    from feedback_file kept
    join feedback f on f.id = kept.feedback_id
    left join chain_state c on c.chain_id = kept.payment_chain_id
   where kept.feedback_id = any ($1::text[]) and kept.payment_tx is not null
),
matched as (
  select w.id, w.block_timestamp, one.*,
         case when one.chain is not null then 'found' when paid.is_others then 'others'
              when w.is_whole and not paid.any_row then 'missing' else 'unknown' end as named
    from wanted w
   cross join lateral (
     select count(*) > 0 as any_row,
            min(its.at) > w.block_timestamp + ${laterAtLeast}
              or count(*) = 1 and w.payment_from = w.client
                 and bool_and(its.is_known and its.payer <> w.client and its.recipient = w.payment_to) as is_others
       from ((select s.block_timestamp as at, s.payer, s.recipient,
                     s.amount > 0 and exists (select from facilitator_sender k where k.address = s.facilitator) as is_known
                from settlement s
               where s.chain = w.chain and s.tx_hash = w.payment_tx and s.block_number <= w.finalized_block
               limit 2)
              union all
             (select p.block_timestamp, p.payer, p.payee, false
                from payment p
               where p.tx_hash = w.payment_tx and p.chain = w.chain and p.block_number <= w.finalized_block
               limit 2)) its
   ) paid
    left join lateral (
      select its.chain, its.block_number, its.at, array_agg(its.recipient order by its.log_index, its.recipient) as recipients,
             array_agg(its.log_index order by its.log_index, its.recipient) as log_indexes
        from (select its.chain, its.block_number, its.at, its.recipient, its.log_index
                from (select s.chain, s.block_number, s.log_index, s.block_timestamp as at, s.payer, null::bytea as funder,
                             s.recipient
                        from settlement s
                       where s.chain = w.chain and s.tx_hash = w.payment_tx and s.amount > 0
                       union all
                      select p.chain, p.block_number, p.log_index, p.block_timestamp, p.payer, p.funder, p.payee
                        from payment p
                       where p.chain = w.chain and p.tx_hash = w.payment_tx and p.net > 0) its
               where w.client in (its.payer, its.funder) and its.at <= w.block_timestamp and its.block_number <= w.finalized_block
                 and coalesce(w.payment_from, w.client) in (its.payer, its.funder) and its.recipient = coalesce(w.payment_to, its.recipient)
               order by its.log_index, its.recipient
               limit ${mostPayments}) its
       group by its.chain, its.block_number, its.at
       limit 1
    ) one on true
),
stored as (
  update feedback_file kept
     set (named, named_chain, named_block, named_at, named_recipients, named_log_indexes)
         = row(m.named, m.chain, m.block_number, m.at, m.recipients, m.log_indexes)
    from matched m
   where kept.feedback_id = m.id
     and (kept.named, kept.named_chain, kept.named_block, kept.named_recipients, kept.named_log_indexes)
         is distinct from (m.named, m.chain, m.block_number, m.recipients, m.log_indexes)
)
select id, block_timestamp as "givenAt" from matched where named in ('missing', 'unknown') order by id`

/**
 * Looks up the payments that files name, in final blocks: those of the transaction are found that the client signed, or whose
 * money was its own, by one of these two and to whom the file says, not later than the feedback. Only of a chain that is indexed whole they can be said to be missing: our rows
 * lack them, as they lack each plain transfer. A transaction may move more than our rows say, and who paid may have another
 * address. So it is somebody else's only where it came later, or where the file says that the client itself paid and a known
 * facilitator settled nothing else in it than another one's payment to that recipient. Returns the files whose payments may
 * still come, with the time of the feedback.
 */
export async function matchPayments(db: Queryable, ids: readonly string[]): Promise<{ id: string; givenAt: Date }[]> {
  const { rows } = await db.query<{ id: string; givenAt: Date }>({
    name: 'match-named-payments',
    text: matchText,
    values: [ids],
  })
  return rows
}
