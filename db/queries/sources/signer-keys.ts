import type { Queryable } from '../../pool.ts'

/** A message that adds an app key off the chain, or removes one. */
export interface StoredKeyMessage {
  readonly kind: 'add' | 'remove'
  readonly fid: number
  /** 32 bytes. */
  readonly key: Uint8Array
  /** Who signed for it, lowercase hex with 0x; null: the key itself, which may remove itself. */
  readonly signer: string | null
  /** The time that its signer wrote. */
  readonly at: Date
  /** As received. */
  readonly message: unknown
}

/** When the signer of a stored message wrote it: of two about one key the later counts, in whatever order they come. */
const writtenAt = (message: string) => `(${message} -> 'data' ->> 'timestamp')::bigint`

/**
 * What a stored removal weighs: anybody can sign one, and write any time into it, so the word of the key, or of whoever
 * signed for it, goes before a stranger's. An expression over the stored row `k`.
 */
const weightOf = (removal: string) =>
  `(${removal}.key_remove_signer is null or ${removal}.key_remove_signer is not distinct from k.key_add_signer,
    ${writtenAt(`${removal}.key_remove`)})`

/**
 * What a stored addition weighs, for the same reason: the word of who is known to have, or have had, the FID goes before
 * that of anybody else. An expression over the stored row `k`.
 */
const addWeightOf = (addition: string) => {
  const signer = `${addition}.key_add_signer`
  return `((${signer} = k.key_add_signer and k.source is not distinct from 'offchain')
     or exists (select from custody_reading r where r.fid = k.fid and r.address = ${signer})
     or exists (select from fid_custody c where c.fid = k.fid and ${signer} in (c."from", c."to")),
    ${writtenAt(`${addition}.key_add`)})`
}

/** Keeps messages about keys. One that is older than what is kept changes nothing: anybody can show it again. */
export async function storeKeyMessages(db: Queryable, messages: readonly StoredKeyMessage[], now: Date): Promise<void> {
  for (const { kind, fid, key, signer, at, message } of messages) {
    const signedBy = signer === null ? null : Buffer.from(signer.slice(2), 'hex')
    if (kind === 'add') {
      await db.query({
        name: 'store-key-add',
        text: `
insert into signer_key as k (fid, key, key_add, key_add_signer) values ($1, $2, $3, $4)
    on conflict (fid, key) do update
   set (key_add, key_add_signer) = row(excluded.key_add, excluded.key_add_signer),
       (key_remove, key_remove_signer, key_removed_at, key_remove_seen_at) =
         (select k.key_remove, k.key_remove_signer, k.key_removed_at, k.key_remove_seen_at
           where ${writtenAt('excluded.key_add')} <= ${writtenAt('k.key_remove')})
 where k.key_add is null or ${addWeightOf('excluded')} > ${addWeightOf('k')}`,
        values: [fid, key, JSON.stringify(message), signedBy],
      })
      continue
    }
    await db.query({
      name: 'store-key-remove',
      text: `
insert into signer_key as k (fid, key, key_remove, key_remove_signer, key_removed_at, key_remove_seen_at)
values ($1, $2, $3, $4, $5, $6)
    on conflict (fid, key) do update
   set (key_remove, key_remove_signer, key_removed_at, key_remove_seen_at) =
         row(excluded.key_remove, excluded.key_remove_signer, excluded.key_removed_at, excluded.key_remove_seen_at)
 where (k.key_add is null or ${writtenAt('excluded.key_remove')} >= ${writtenAt('k.key_add')})
   and (k.key_remove is null or ${weightOf('excluded')} > ${weightOf('k')})`,
      values: [fid, key, JSON.stringify(message), signedBy, at, now],
    })
  }
}

interface StoredKeyFacts {
  /** Block in which the FID last changed hands; null: never. */
  readonly transferBlock: number | null
  /** Who had the FID before, lowercase hex with 0x. */
  readonly formerCustodies: readonly `0x${string}`[]
  /** Who signed for the key off the chain; null: no such message is known. */
  readonly keyAddSigner: `0x${string}` | null
  /** What removed the key off the chain, when it was first read here, and who signed it; no signer: the key itself. */
  readonly keyRemoval: {
    readonly at: Date
    readonly seenAt: Date | null
    readonly signer: `0x${string}` | null
  } | null
  /** When the message that the key signed was first read here; null: not before now. */
  readonly messageSeenAt: Date | null
  /** Whether that message was found to be of the FID's key. */
  readonly messageHeld: boolean
  /** When the first message about an address of the FID was read here; null: none was. */
  readonly watchedSince: Date | null
}

/** What is known of a key of a FID, and of a message by it if one is named, before anybody is asked. */
export async function keyFactsOf(
  db: Queryable,
  { fid, key, hash = null }: { readonly fid: number; readonly key: Uint8Array; readonly hash?: Uint8Array | null },
): Promise<StoredKeyFacts> {
  const { rows } = await db.query<
    Omit<StoredKeyFacts, 'keyRemoval'> & {
      removedAt: Date | null
      removedBy: `0x${string}` | null
      removalSeenAt: Date | null
    }
  >({
    name: 'key-facts-of',
    text: `
select (select max(block_number) from fid_custody where fid = $1) as "transferBlock",
       array(select distinct '0x' || encode("from", 'hex') from fid_custody where fid = $1 order by 1)
         as "formerCustodies",
       '0x' || encode(k.key_add_signer, 'hex') as "keyAddSigner", k.key_removed_at as "removedAt",
       '0x' || encode(k.key_remove_signer, 'hex') as "removedBy", k.key_remove_seen_at as "removalSeenAt",
       m.first_seen_at as "messageSeenAt", coalesce(m.key = 'held', false) as "messageHeld",
       (select min(first_seen_at) from farcaster_message where fid = $1) as "watchedSince"
  from (values (1)) as one
  left join farcaster_message m on m.fid = $1 and m.hash = $3
  left join signer_key k on k.fid = $1 and k.key = $2`,
    values: [fid, key, hash],
  })
  const { removedAt, removedBy, removalSeenAt, ...facts } = rows[0]!
  return { ...facts, keyRemoval: removedAt && { at: removedAt, seenAt: removalSeenAt, signer: removedBy } }
}

/** Where a key was found to stand. */
export interface StoredKeyStanding {
  readonly fid: number
  readonly key: Uint8Array
  readonly source: 'chain' | 'offchain' | null
  readonly beforeCustody: boolean
  /** Block of the transfer that it was judged by; null: there was none. */
  readonly custodyBlock: number | null
  /** Of the log that added it; null: it was added off the chain, or is not found. */
  readonly addedLog: object | null
  /** Whether no reorg can undo that log any more; null: it was added off the chain, or never. */
  readonly isFinal: boolean | null
  /** What the registry says of its removal, with the log as far as it is found; null: it was not asked. */
  readonly removal: { readonly isRemoved: boolean; readonly log: object | null } | null
}

export async function storeKeyStandings(db: Queryable, keys: readonly StoredKeyStanding[], now: Date): Promise<void> {
  for (const { fid, key, source, beforeCustody, custodyBlock, addedLog, isFinal, removal } of keys) {
    await db.query({
      name: 'store-key-standing',
      text: `
insert into signer_key as k (fid, key, source, before_custody, custody_block, checked_at, added_log, removed, removed_log,
                             added_final)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
    on conflict (fid, key) do update
   set source = excluded.source, before_custody = excluded.before_custody, custody_block = excluded.custody_block,
       checked_at = excluded.checked_at,
       added_log = case when k.added_final then coalesce(excluded.added_log, k.added_log) else excluded.added_log end,
       added_final = case when excluded.added_final is null and (k.source = 'chain' or not k.added_final) then false
                          else excluded.added_final end,
       removed = coalesce(excluded.removed, k.removed),
       removed_log = coalesce(excluded.removed_log, k.removed_log)`,
      values: [
        fid,
        key,
        source,
        beforeCustody,
        custodyBlock,
        now,
        addedLog && JSON.stringify(addedLog),
        removal?.isRemoved ?? null,
        removal?.log ? JSON.stringify(removal.log) : null,
        isFinal,
      ],
    })
  }
}

/** What standing claims of a FID rest on besides messages. */
interface ClaimGrounds {
  readonly claimed: boolean
  /** Whether the name server signed for its handle, so that it matters whose the account is. */
  readonly named: boolean
  /** App keys that signed them and were not asked about yet, and those of the registry that are not known to be removed. */
  readonly keys: readonly Buffer[]
}

/** Keys of an account that are asked about at once; accounts have some tens. */
const mostKeys = 200

export async function claimGrounds(db: Queryable, fid: number): Promise<ClaimGrounds> {
  const { rows } = await db.query<ClaimGrounds>({
    name: 'claim-grounds',
    text: `
select exists (select from claim where fid = $1 and state <> 'ended') as claimed,
       exists (select from social_profile where fid = $1 and handle_owner is not null) as named,
       array(select distinct decode(substr(c.signer, 3), 'hex') from claim c
              where c.fid = $1 and c.state <> 'ended' and c.method = 'jfs'
                and not exists (select from signer_key k
                                 where k.fid = c.fid and k.key = decode(substr(c.signer, 3), 'hex')
                                   and k.added_log is not null and k.removed)
              union
             select k.key from signer_key k
              where k.fid = $1 and k.source = 'chain' and k.removed is not true
                and exists (select from claim c where c.fid = $1 and c.state <> 'ended')
              order by 1
              limit ${mostKeys}) as keys`,
    values: [fid],
  })
  return rows[0] as ClaimGrounds
}

/** Notes whose a FID was when its chain was asked. */
export async function storeCustodyReading(
  db: Queryable,
  {
    fid,
    address,
    block,
    blockHash,
    now,
  }: { fid: number; address: string; block: number; blockHash: string; now: Date },
): Promise<void> {
  const bytes = (hex: string) => Buffer.from(hex.slice(2), 'hex')
  await db.query({
    name: 'store-custody-reading',
    text: `
insert into custody_reading as r (fid, address, block_number, block_hash, read_at) values ($1, $2, $3, $4, $5)
    on conflict (fid) do update
   set address = excluded.address, block_number = excluded.block_number, block_hash = excluded.block_hash,
       read_at = excluded.read_at
 where r.block_number <= excluded.block_number`,
    values: [fid, bytes(address), block, bytes(blockHash), now],
  })
}
