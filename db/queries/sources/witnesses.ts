import type { Queryable } from '../../pool.ts'

/** Hashes (0x hex) of the messages that an account's live verifications rest on. */
export async function liveMessages(db: Queryable, fid: number): Promise<string[]> {
  const { rows } = await db.query<{ hash: string }>({
    name: 'live-messages',
    text: `
select distinct '0x' || encode(message_hash, 'hex') as hash
  from verified_address where fid = $1 and ended_at is null and message_hash is not null order by 1`,
    values: [fid],
  })
  return rows.map(({ hash }) => hash)
}

/** A live verification, and the key that signed the message it rests on. */
interface LiveGround {
  /** Lowercase hex with 0x. */
  readonly address: string
  readonly signer: Buffer | null
}

export async function liveGrounds(db: Queryable, fid: number): Promise<LiveGround[]> {
  const { rows } = await db.query<LiveGround>({
    name: 'live-grounds',
    text: `
select '0x' || encode(v.address, 'hex') as address, m.signer
  from verified_address v join farcaster_message m on m.fid = v.fid and m.hash = v.message_hash
 where v.fid = $1 and v.ended_at is null order by v.address, m.hash`,
    values: [fid],
  })
  return rows
}

/** What a hub said about an account. */
interface WitnessAnswer {
  readonly fid: number
  readonly url: string
  /** Messages it was asked about, 0x hex. */
  readonly hashes: readonly string[]
  /** Those it knows; null: its answer does not count, whatever it said before. */
  readonly known: ReadonlySet<string> | null
  /** A message that is missing for so long, asked twice at least, is disputed. */
  readonly disputedAfterMs: number
  readonly now: Date
}

/** Stores what a hub said. Returns how many messages it lacks. */
export async function storeWitness(
  db: Queryable,
  { fid, url, hashes, known, disputedAfterMs, now }: WitnessAnswer,
): Promise<number> {
  const asked = known === null ? [] : hashes
  await db.query({
    name: 'forget-witness',
    text: `delete from verification_witness where fid = $1 and url = $2 and not message_hash = any ($3::bytea[])`,
    values: [fid, url, asked.map(bytes)],
  })
  if (asked.length === 0) return 0
  const has = asked.map((hash) => known?.has(hash) === true)
  await db.query({
    name: 'store-witness',
    text: `
insert into verification_witness as w (fid, message_hash, url, has, missing_since, disputed, checked_at)
select $1, given.hash, $2, given.has, case when not given.has then $5::timestamptz end, false, $5
  from unnest($3::bytea[], $4::boolean[]) as given (hash, has)
    on conflict (fid, message_hash, url) do update
   set has = excluded.has, checked_at = excluded.checked_at,
       missing_since = case when not excluded.has then coalesce(w.missing_since, excluded.missing_since) end,
       disputed = not excluded.has and coalesce(w.missing_since <= $6, false)`,
    values: [fid, url, asked.map(bytes), has, now, new Date(now.getTime() - disputedAfterMs)],
  })
  return has.filter((one) => !one).length
}

/** Whether a hub, the followed one too, lacked one of these messages when it was asked last. */
export async function isMissingSomewhere(db: Queryable, fid: number, hashes: readonly string[]): Promise<boolean> {
  const { rows } = await db.query<{ missing: boolean }>({
    name: 'is-missing-somewhere',
    text: `select exists (select from verification_witness
                           where fid = $1 and message_hash = any ($2::bytea[]) and not has) as missing`,
    values: [fid, hashes.map(bytes)],
  })
  return rows[0]?.missing === true
}

/** Hashes (0x hex) of the messages of an account that hubs disagree about. */
export async function disputedMessages(db: Queryable, fid: number): Promise<string[]> {
  const { rows } = await db.query<{ hash: string }>({
    name: 'disputed-messages',
    text: `select distinct '0x' || encode(message_hash, 'hex') as hash
             from verification_witness where fid = $1 and disputed order by 1`,
    values: [fid],
  })
  return rows.map(({ hash }) => hash)
}

/** Deletes the answers of hubs that are no longer asked. */
export async function forgetAnswersOfOtherHubs(db: Queryable, urls: readonly string[]): Promise<void> {
  await db.query({
    name: 'forget-answers-of-other-hubs',
    text: 'delete from verification_witness where url <> all ($1)',
    values: [urls],
  })
}

function bytes(hex: string): Buffer {
  return Buffer.from(hex.slice(2), 'hex')
}
