import { lockClasses } from '../../lock-keys.ts'
import type { Queryable } from '../../pool.ts'
import { removes, takenBack, witnessed } from '../sql/disputed-messages.ts'
import { isUntimed } from '../sql/verification-time.ts'

interface LiveVerification {
  /** Lowercase hex with 0x. */
  readonly address: string
  readonly verifiedAt: Date
}

/** What a complete answer about one FID said, and when it was asked for. */
export interface VerifiedSet {
  readonly fid: number
  readonly live: readonly LiveVerification[]
  readonly askedAt: Date
  readonly now: Date
}

/**
 * An answer of a node that may be behind. What was stored at `settledBefore` or later, such as an event that another
 * node behind the same address brought, may be unknown to it: its silence does not end that, and its word does not undo
 * it.
 */
export type Settled<Answer> = Answer & { readonly settledBefore: Date }

/** Makes writers of these FIDs' verifications wait for each other until the transaction ends. Always in one order. */
export async function lockVerifications(db: Queryable, fids: readonly number[]): Promise<void> {
  await db.query({
    name: 'lock-verifications',
    text: `select pg_advisory_xact_lock($1, key)
             from (select distinct hashint8(fid) as key from unnest($2::bigint[]) as fid order by key) as ordered`,
    values: [lockClasses.verifications, fids],
  })
}

/** Removes live verifications without a time of these addresses: rows with theirs take their place. */
export async function removeUntimed(db: Queryable, fid: number, addresses: readonly string[]): Promise<void> {
  await db.query({
    name: 'remove-untimed',
    text: `delete from verified_address
            where fid = $1 and address = any ($2::bytea[]) and ended_at is null and ${isUntimed('verified_address')}`,
    values: [fid, addresses.map(bytes)],
  })
}

/** What a complete answer without times said about one FID. */
export interface AddressSet extends Pick<VerifiedSet, 'fid'> {
  /** Lowercase hex with 0x. */
  readonly addresses: readonly string[]
}

/** What one answer without times said about several FIDs. */
export interface AddressSets extends Pick<VerifiedSet, 'askedAt' | 'now'> {
  readonly sets: readonly AddressSet[]
}

/** Brings the stored sets of FIDs to an answer without times; those that are known stay. */
export async function storeAddresses(
  db: Queryable,
  { sets, settledBefore, now }: Settled<Omit<AddressSets, 'askedAt'>>,
): Promise<void> {
  if (sets.length === 0) return
  const pairs = sets.flatMap(({ fid, addresses }) => addresses.map((address) => ({ fid, address: bytes(address) })))
  const given = [pairs.map(({ fid }) => fid), pairs.map(({ address }) => address)]
  await db.query({
    name: 'end-addresses',
    text: `
update verified_address v set ended_at = greatest(v.verified_at, $4), observed_at = $4
 where v.fid = any ($5::bigint[]) and v.ended_at is null and v.observed_at < $3
   and not exists (select from unnest($1::bigint[], $2::bytea[]) as given (fid, address)
                    where given.fid = v.fid and given.address = v.address)
   and not ${witnessed('v')}`,
    values: [...given, settledBefore, now, sets.map(({ fid }) => fid)],
  })
  await db.query({
    name: 'open-addresses',
    text: `
insert into verified_address as v (fid, address, verified_at, observed_at, seen_from)
select distinct given.fid, given.address, timestamptz '-infinity', $4::timestamptz, $4::timestamptz
  from unnest($1::bigint[], $2::bytea[]) as given (fid, address)
 where not exists (select from verified_address o where o.fid = given.fid and o.address = given.address
                                                    and (o.ended_at is null or o.observed_at >= $3))
    on conflict (fid, address, verified_at) do update
   set ended_at = null, observed_at = excluded.observed_at, seen_from = excluded.seen_from, pruned = false`,
    values: [...given, settledBefore, now],
  })
}

/**
 * Ends what a complete answer does not name any more: when another verification of the address took its place, at that
 * one's time; otherwise now. Rows that became what they are after the question was asked are newer than the answer; one
 * that is not settled, or that another hub still has, goes on unless another took its place.
 */
export async function endVerifications(
  db: Queryable,
  { fid, live, askedAt, settledBefore, now }: Settled<VerifiedSet>,
): Promise<void> {
  await db.query({
    name: 'end-verifications',
    text: `
with live as (select * from unnest($2::bytea[], $3::timestamptz[]) as live (address, verified_at))
update verified_address v
   set ended_at = greatest(v.verified_at, coalesce(
         (select l.verified_at from live l where l.address = v.address and l.verified_at > v.verified_at), $5)),
       observed_at = $5
 where v.fid = $1 and v.ended_at is null and v.observed_at < $4
   and not exists (select from live l where l.address = v.address and l.verified_at = v.verified_at)
   and (exists (select from live l where l.address = v.address and l.verified_at > v.verified_at)
        or (v.observed_at < $6 and not ${witnessed('v')}))`,
    values: [fid, ...columns(live), askedAt, now, settledBefore],
  })
}

/**
 * Hashes (0x hex) of the messages that a complete answer does not name and another hub still has, so that their
 * verifications go on; `toldAt`: when the last such hub said so. Undefined: no hub but the followed one was ever asked
 * about the FID. Call `endVerifications` first.
 */
export async function keptByWitnesses(
  db: Queryable,
  { fid, live, settledBefore }: Settled<Pick<VerifiedSet, 'fid' | 'live'>>,
): Promise<{ readonly hashes: readonly string[]; readonly toldAt: Date | null } | undefined> {
  const { rows } = await db.query<{ hashes: string[]; toldAt: Date | null }>({
    name: 'kept-by-witnesses',
    text: `
with live as (select * from unnest($2::bytea[], $3::timestamptz[]) as live (address, verified_at)),
     kept as (
  select v.message_hash from verified_address v
   where v.fid = $1 and v.ended_at is null and v.observed_at < $4
     and not exists (select from live l where l.address = v.address and l.verified_at = v.verified_at)
     and ${witnessed('v')})
select array(select '0x' || encode(message_hash, 'hex') from kept order by message_hash) as hashes,
       (select max(w.checked_at) from verification_witness w join kept using (message_hash)
         where w.fid = $1 and w.has) as "toldAt"
 where exists (select from verification_witness where fid = $1)`,
    values: [fid, ...columns(live), settledBefore],
  })
  return rows[0]
}

/**
 * Opens what a complete answer names and is not open, and knows that what is open was not let go of. The very
 * verification that was thought to have ended goes on, if its end is settled; a newer one of the same address is a row
 * of its own, and one that was taken back does not count. Call `endVerifications` first.
 */
export async function openVerifications(
  db: Queryable,
  { fid, live, askedAt, settledBefore, now }: Settled<VerifiedSet>,
): Promise<void> {
  await db.query({
    name: 'open-verifications',
    text: `
with live as (select * from unnest($2::bytea[], $3::timestamptz[]) as live (address, verified_at)),
     still as (
  update verified_address v set pruned = false
    from live l
   where v.fid = $1 and v.address = l.address and v.verified_at = l.verified_at and v.ended_at is null and v.pruned
     and v.observed_at < $4)
insert into verified_address as v (fid, address, verified_at, observed_at)
select $1, l.address, l.verified_at, $5
  from live l
 where not exists (select from verified_address o where o.fid = $1 and o.address = l.address and o.ended_at is null)
   and not ${takenBack('$1', 'l.address', 'l.verified_at')}
    on conflict (fid, address, verified_at) do update set ended_at = null, observed_at = $5, pruned = false
 where v.ended_at is not null and v.observed_at < $6`,
    values: [fid, ...columns(live), askedAt, now, settledBefore],
  })
}

/**
 * The FIDs whose answers contradict what was stored of an address shortly before the question, too late to be settled.
 * They have to be asked about again. Call it after the answers were stored.
 */
export async function unsettledFids(
  db: Queryable,
  { sets, askedAt, settledBefore }: Settled<Omit<AddressSets, 'now'>>,
): Promise<number[]> {
  const pairs = sets.flatMap(({ fid, addresses }) => addresses.map((address) => ({ fid, address: bytes(address) })))
  const { rows } = await db.query<{ fid: number }>({
    name: 'unsettled-fids',
    text: `
select distinct v.fid from verified_address v
 where v.fid = any ($5::bigint[]) and v.observed_at >= $4 and v.observed_at < $3
   and exists (select from unnest($1::bigint[], $2::bytea[]) as given (fid, address)
                where given.fid = v.fid and given.address = v.address)
       <> exists (select from verified_address o where o.fid = v.fid and o.address = v.address and o.ended_at is null)
 order by v.fid`,
    values: [
      pairs.map(({ fid }) => fid),
      pairs.map(({ address }) => address),
      askedAt,
      settledBefore,
      sets.map(({ fid }) => fid),
    ],
  })
  return rows.map(({ fid }) => fid)
}

interface VerificationEvent {
  readonly fid: number
  readonly address: string
  readonly at: Date
  readonly now: Date
}

/** Ends what a new verification of the same address replaces. */
export async function replaceVerification(
  db: Queryable,
  { fid, address, verifiedAt, now }: VerificationEvent & { verifiedAt: Date },
): Promise<void> {
  await db.query({
    name: 'replace-verification',
    text: `update verified_address set ended_at = $3, observed_at = $4
            where fid = $1 and address = $2 and ended_at is null and verified_at < $3`,
    values: [fid, bytes(address), verifiedAt, now],
  })
}

/**
 * Opens a verification that an event reported, unless a newer one of the address is known, or a signed message that took
 * it back: then the event is old news.
 * Reported again after its end, it goes on. Call `replaceVerification` first.
 */
export async function openVerification(
  db: Queryable,
  { fid, address, verifiedAt, at, now }: VerificationEvent & { verifiedAt: Date },
): Promise<void> {
  await db.query({
    name: 'open-verification',
    text: `
insert into verified_address as v (fid, address, verified_at, observed_at)
select $1, $2::bytea, $3::timestamptz, $5
 where not exists (select from verified_address n where n.fid = $1 and n.address = $2 and n.verified_at > $3)
   and not ${takenBack('$1', '$2', '$3')}
    on conflict (fid, address, verified_at) do update set ended_at = null, observed_at = $5, pruned = false
 where v.ended_at <= $4`,
    values: [fid, bytes(address), verifiedAt, at, now],
  })
}

/**
 * Ends the verification an event took away: the one made at `verifiedAt`, which the network is said to have let go of by
 * itself, or any made up to `at`, by a message that removes it. Returns true when one goes on: another hub still has what
 * the network is said to have let go of, or the removal is not signed for the account. Store the removal first.
 */
export async function endVerification(
  db: Queryable,
  { fid, address, verifiedAt, at, now }: VerificationEvent & { verifiedAt?: Date },
): Promise<boolean> {
  const { rows } = await db.query<{ kept: boolean }>({
    name: 'end-verification',
    text: `
with gone as (
  select v.verified_at, case when $3::timestamptz is null then not ${takenBack('v.fid', 'v.address', 'v.verified_at')}
                             else ${witnessed('v')} end as kept
    from verified_address v
   where v.fid = $1 and v.address = $2 and v.ended_at is null
     and (v.verified_at = $3 or ($3 is null and v.verified_at <= $4) or ${isUntimed('v')})
),
ended as (
  update verified_address v
     set ended_at = case when not gone.kept then greatest(v.verified_at, $4) end,
         observed_at = case when gone.kept then v.observed_at else $5 end, pruned = $3 is not null
    from gone
   where v.fid = $1 and v.address = $2 and v.verified_at = gone.verified_at
)
select coalesce(bool_or(kept), false) as kept from gone`,
    values: [fid, bytes(address), verifiedAt ?? null, at, now],
  })
  return rows[0]?.kept === true
}

/**
 * Ends the live verifications of a FID that a removal signed for the account takes back, by the account's own word at the
 * removal's time. Returns whether there were any.
 */
export async function endTakenBack(db: Queryable, fid: number, now: Date): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'end-taken-back',
    text: `
update verified_address v set ended_at = gone.at, observed_at = $2
  from (select v.address, v.verified_at, max(m.message_time) as at
          from verified_address v join farcaster_message m on ${removes('m', 'v.fid', 'v.address', 'v.verified_at')}
         where v.fid = $1 and v.ended_at is null
         group by v.address, v.verified_at) as gone
 where v.fid = $1 and v.address = gone.address and v.verified_at = gone.verified_at and v.ended_at is null`,
    values: [fid, now],
  })
  return rowCount !== 0
}

/** Whether a signed message is kept that takes back what a FID verified then. */
export async function isTakenBack(db: Queryable, fid: number, address: string, verifiedAt: Date): Promise<boolean> {
  const { rows } = await db.query<{ gone: boolean }>({
    name: 'is-taken-back',
    text: `select ${takenBack('$1', '$2', '$3')} as gone`,
    values: [fid, bytes(address), verifiedAt],
  })
  return rows[0]?.gone === true
}

/** The sets now stored as live, lowercase hex. A FID that verifies nothing is left out. */
export async function liveAddresses(db: Queryable, fids: readonly number[]): Promise<Map<number, string[]>> {
  const { rows } = await db.query<{ fid: number; addresses: string[] }>({
    name: 'live-addresses',
    text: `select fid, array_agg('0x' || encode(address, 'hex') order by address) as addresses
             from verified_address
            where fid = any ($1::bigint[]) and ended_at is null
            group by fid`,
    values: [fids],
  })
  return new Map(rows.map(({ fid, addresses }) => [fid, addresses]))
}

interface Standing {
  /** Whether it is in the index. */
  readonly listed: boolean
  readonly claimed: boolean
  /** Wants to be no agent here. */
  readonly unlisted: boolean
  /** A registration went to one of its addresses, so it is about to be in the index if it is not yet. */
  readonly holder: boolean
}

/** What the directory has to do with a FID. */
export async function standingOf(db: Queryable, fid: number): Promise<Standing> {
  const { rows } = await db.query<Standing>({
    name: 'standing-of',
    text: `
select exists (select from agent where fid = $1) as listed,
       exists (select from claim where fid = $1 and state <> 'ended') as claimed,
       exists (select from unlisted where fid = $1) as unlisted,
       exists (select from verified_address v join registration_transfer t on t."to" = v.address
                where v.fid = $1) as holder`,
    values: [fid],
  })
  return rows[0] as Standing
}

/**
 * Of FIDs and what they verify, those whose times matter: they are or were agents, or claimed, or one of the addresses,
 * new or stored, was given a registration.
 */
export async function fidsToTime(
  db: Queryable,
  pairs: readonly { readonly fid: number; readonly addresses: readonly string[] }[],
): Promise<Set<number>> {
  const flat = pairs.flatMap(({ fid, addresses }) => addresses.map((address) => ({ fid, address: bytes(address) })))
  const { rows } = await db.query<{ fid: number }>({
    name: 'fids-to-time',
    text: `
select fid from unnest($1::bigint[]) as given (fid)
 where exists (select from agent a where a.fid = given.fid) or exists (select from claim c where c.fid = given.fid)
 union
select fid from unnest($2::bigint[], $3::bytea[]) as given (fid, address)
 where exists (select from registration_transfer t where t."to" = given.address)
 union
select v.fid from verified_address v
 where v.fid = any ($1::bigint[]) and exists (select from registration_transfer t where t."to" = v.address)`,
    values: [pairs.map(({ fid }) => fid), flat.map(({ fid }) => fid), flat.map(({ address }) => address)],
  })
  return new Set(rows.map(({ fid }) => fid))
}

/** The FIDs of a list that are in the index. */
export async function listedAmong(db: Queryable, fids: readonly number[]): Promise<number[]> {
  const { rows } = await db.query<{ fid: number }>({
    name: 'listed-among',
    text: 'select fid from agent where fid = any ($1::bigint[]) order by fid',
    values: [fids],
  })
  return rows.map(({ fid }) => fid)
}

function columns(live: readonly LiveVerification[]): [Buffer[], Date[]] {
  return [live.map(({ address }) => bytes(address)), live.map(({ verifiedAt }) => verifiedAt)]
}

function bytes(address: string): Buffer {
  return Buffer.from(address.slice(2), 'hex')
}
