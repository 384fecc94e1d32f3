import { sources } from '../../../config/sources.ts'
import type { Queryable } from '../../pool.ts'

interface HubStanding {
  /** Total accounts of the network at the last check that the hub passed; null: it did not report them. */
  readonly accounts: number | null
  readonly messages: number | null
  /** Why this hub is not trusted; null: it is. */
  readonly doubt: string | null
}

/** Whether a hub is trusted, and the totals it last reported. Undefined: it was not checked yet. */
export async function readHubStanding(db: Queryable, url: string): Promise<HubStanding | undefined> {
  const { rows } = await db.query<HubStanding>({
    name: 'read-hub-standing',
    text: 'select accounts, messages, doubt from hub_standing where url = $1',
    values: [url],
  })
  return rows[0]
}

/** Totals of the hub that was trusted last; another hub of the same network must report about as much. */
export async function lastBelievedTotals(db: Queryable): Promise<Pick<HubStanding, 'accounts' | 'messages'>> {
  const { rows } = await db.query<Pick<HubStanding, 'accounts' | 'messages'>>({
    name: 'last-believed-totals',
    text: `select accounts, messages from hub_standing
            where accounts is not null or messages is not null
            order by coalesce(doubted_since, checked_at) desc, url limit 1`,
  })
  return rows[0] ?? { accounts: null, messages: null }
}

/** Those totals, and the id of the last event that was read of each shard. */
export async function knownOfNetwork(db: Queryable) {
  const { rows } = await db.query<{ shard: number; position: string }>({
    name: 'event-positions',
    text: 'select shard::int as shard, position from source_cursor where source = $1',
    values: [sources.events.name],
  })
  const positions = new Map(rows.map(({ shard, position }) => [shard, Number(position)]))
  return { ...(await lastBelievedTotals(db)), positions }
}

/** Stores a check of a hub. Totals are those of the last check that it passed. */
export async function storeHubStanding(
  db: Queryable,
  {
    url,
    accounts,
    messages,
    doubt,
    witness,
    now,
  }: HubStanding & { readonly url: string; readonly witness: boolean; readonly now: Date },
): Promise<void> {
  await db.query({
    name: 'store-hub-standing',
    text: `
insert into hub_standing as h (url, checked_at, accounts, messages, doubt, doubted_since, witness)
values ($1, $5, case when $4::text is null then $2::bigint end, case when $4::text is null then $3::bigint end, $4,
        case when $4::text is not null then $5::timestamptz end, $6)
    on conflict (url) do update
   set checked_at = excluded.checked_at, doubt = excluded.doubt, witness = excluded.witness,
       accounts = case when excluded.doubt is null then excluded.accounts else h.accounts end,
       messages = case when excluded.doubt is null then excluded.messages else h.messages end,
       doubted_since = case when excluded.doubt is not null then coalesce(h.doubted_since, excluded.doubted_since) end`,
    values: [url, accounts, messages, doubt, now, witness],
  })
}

/** URL of the hub that is followed; undefined: no other than the first was ever. */
export async function followedHub(db: Queryable): Promise<string | undefined> {
  const { rows } = await db.query<{ url: string }>({
    name: 'followed-hub',
    text: 'select url from hub_standing where followed_since is not null order by followed_since desc, url limit 1',
  })
  return rows[0]?.url
}

/** Makes a hub the one that is followed, for all processes; another that was becomes a witness. */
export async function followHub(db: Queryable, url: string, now: Date): Promise<void> {
  await db.query({
    name: 'follow-hub',
    text: `
update hub_standing
   set followed_since = case when url = $1 then $2::timestamptz end, witness = url <> $1
 where (followed_since is not null) <> (url = $1)`,
    values: [url, now],
  })
}

/**
 * Whether an answer that an account verifies nothing may be stored: nothing is known that it would end, or another answer
 * said so `afterMs` before. Else the answer is remembered. `askedAt`: when the question went out.
 */
export async function confirmEmpty(
  db: Queryable,
  { fid, askedAt, afterMs }: { readonly fid: number; readonly askedAt: Date; readonly afterMs: number },
): Promise<boolean> {
  const { rows } = await db.query<{ confirmed: boolean }>({
    name: 'confirm-empty',
    text: `
with known as (
  select from verified_address where fid = $1 and ended_at is null and observed_at < $2 limit 1),
noted as (
  insert into emptied_account (fid, first_empty_at) select $1, $2 from known on conflict do nothing)
select not exists (select from known)
       or exists (select from emptied_account where fid = $1 and first_empty_at <= $3) as confirmed`,
    values: [fid, askedAt, new Date(askedAt.getTime() - afterMs)],
  })
  return rows[0]?.confirmed === true
}

/** Deletes the remembered empty answers about these accounts. */
export async function forgetEmptied(db: Queryable, fids: readonly number[]): Promise<void> {
  if (fids.length === 0) return
  const text = 'delete from emptied_account where fid = any ($1::bigint[])'
  await db.query({ name: 'forget-emptied', text, values: [fids] })
}

/** Notes how a hub stands that is asked about what the followed one says; `doubt`: why it does not count, null: it does. */
export async function storeWitnessStanding(
  db: Queryable,
  { url, doubt, now }: { readonly url: string; readonly doubt: string | null; readonly now: Date },
): Promise<void> {
  await db.query({
    name: 'store-witness-standing',
    text: `
insert into hub_standing as h (url, checked_at, doubt, doubted_since, witness)
values ($1, $3, $2, case when $2::text is not null then $3::timestamptz end, true)
    on conflict (url) do update
   set checked_at = excluded.checked_at, doubt = excluded.doubt, witness = true,
       doubted_since = case when excluded.doubt is not null then coalesce(h.doubted_since, excluded.doubted_since) end`,
    values: [url, doubt, now],
  })
}
