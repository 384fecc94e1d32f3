import type { Queryable } from '../../pool.ts'

/** A message about an address, and the result of checking it. */
export interface StoredMessage {
  readonly fid: number
  readonly hash: Uint8Array
  readonly type: string
  /** Lowercase hex with 0x. */
  readonly address: string
  readonly messageTime: Date
  readonly signer: Uint8Array | null
  /** As received. */
  readonly message: unknown
  readonly verdict: string
  readonly envelope: string
  readonly claim: string
  readonly verificationType: number | null
  readonly verificationChain: number | null
}

/**
 * Keeps messages. One that is known stays as it is, unless the new one was found to be worth more. Call it before the
 * verifications are written, which ask who signed what takes them back, and `noteVerdicts` after them.
 */
export async function storeMessages(db: Queryable, messages: readonly StoredMessage[], now: Date): Promise<void> {
  const named = messages.filter(({ hash }) => hash.length > 0) // the hash is the key
  if (named.length === 0) return
  const rows = named.map(({ hash, signer, address, ...row }) => ({
    ...row,
    hash: Buffer.from(hash).toString('hex'),
    signer: signer && Buffer.from(signer).toString('hex'),
    address: address.slice(2),
  }))
  await db.query({
    name: 'store-messages',
    text: `
insert into farcaster_message as m
       (fid, hash, type, address, message_time, signer, message, verdict, envelope, claim, verification_type,
        verification_chain, first_seen_at)
select distinct on (fid, hash) fid, decode(hash, 'hex'), type, decode(address, 'hex'), "messageTime", decode(signer, 'hex'),
       message, verdict, envelope, claim, "verificationType", "verificationChain", $2
  from json_to_recordset($1) as r (fid bigint, hash text, type text, address text, "messageTime" timestamptz, signer text,
                                   message json, verdict text, envelope text, claim text, "verificationType" smallint,
                                   "verificationChain" int)
 order by fid, hash, array_position(array['proven', 'signed', 'stated'], verdict)
    on conflict (fid, hash) do update
   set (type, address, message_time, signer, message, verdict, envelope, claim, verification_type, verification_chain)
       = row(excluded.type, excluded.address, excluded.message_time, excluded.signer, excluded.message, excluded.verdict,
             excluded.envelope, excluded.claim, excluded.verification_type, excluded.verification_chain)
 where m.verdict = 'stated' and m.checked_at is null and excluded.verdict <> 'stated'`,
    values: [JSON.stringify(rows), now],
  })
}

/** Notes at the verifications of FIDs the messages they rest on, and what these are worth. */
export async function noteVerdicts(db: Queryable, fids: readonly number[]): Promise<void> {
  if (fids.length === 0) return
  await db.query({
    name: 'note-verdicts',
    text: `
update verified_address v
   set message_hash = m.hash, verification_type = m.verification_type, verification_chain = m.verification_chain,
       verdict = m.verdict
  from farcaster_message m
 where v.fid = any ($1::bigint[])
   and m.fid = v.fid and m.address = v.address and m.message_time = v.verified_at
   and m.type = 'MESSAGE_TYPE_VERIFICATION_ADD_ETH_ADDRESS'
   and (v.verdict is null or (v.verdict = 'stated' and m.verdict <> 'stated'))`,
    values: [[...new Set(fids)]],
  })
}

/** A message whose key, and whose wallet, the chains have to be asked about. */
interface MessageToProve {
  readonly hash: Buffer
  readonly address: string
  readonly message: unknown
}

/** Messages of an account that are checked in one pass; a FID has at most 25 verifications. */
const mostToProve = 100

/**
 * The newest messages of an account that the chains have to be asked about: of keys that are not known to be its own,
 * whose log a reorg may yet undo, or that were asked about before it last changed hands; and of contract wallets, whose
 * answer may be another today.
 */
export async function messagesToProve(db: Queryable, fid: number): Promise<MessageToProve[]> {
  const { rows } = await db.query<MessageToProve>({
    name: 'messages-to-prove',
    text: `
select m.hash, '0x' || encode(m.address, 'hex') as address, m.message
  from farcaster_message m
  left join signer_key k on k.fid = m.fid and k.key = m.signer
 where m.fid = $1
   and (m.key is distinct from 'held' or m.verification_type = 1 or (k.source = 'chain' and k.added_log is null)
        or (k.source = 'chain' and k.added_final is not true)
        or k.custody_block is distinct from (select max(c.block_number) from fid_custody c where c.fid = m.fid))
 order by m.message_time desc, m.hash
 limit ${mostToProve}`,
    values: [fid],
  })
  return rows
}

/** What the chains said about a message. */
export interface ProvedMessage {
  readonly fid: number
  readonly hash: Uint8Array
  readonly verdict: string
  readonly claim: string
  readonly key: string
  /** Block and code at which a contract wallet answered; null: it was not asked. */
  readonly wallet: { readonly block: number; readonly blockHash: string; readonly codeSha256: string | null } | null
}

/** Notes with messages, and with the verifications that rest on them, what the chains said. */
export async function storeProofs(db: Queryable, proofs: readonly ProvedMessage[], now: Date): Promise<void> {
  const bytes = (hex: string | null | undefined) => (hex ? Buffer.from(hex.slice(2), 'hex') : null)
  for (const { fid, hash, verdict, claim, key, wallet } of proofs) {
    await db.query({
      name: 'store-proof',
      text: `
with proved as (
  update farcaster_message
     set verdict = $3, claim = $4, key = $5, checked_at = $6,
         wallet_block = coalesce($7, wallet_block), wallet_block_hash = coalesce($8, wallet_block_hash),
         wallet_code_sha256 = case when $7::bigint is null then wallet_code_sha256 else $9 end
   where fid = $1 and hash = $2
  returning fid, hash)
update verified_address v set verdict = $3
  from proved m
 where v.fid = m.fid and v.message_hash = m.hash and v.verdict is distinct from $3`,
      values: [
        fid,
        hash,
        verdict,
        claim,
        key,
        now,
        wallet?.block ?? null,
        bytes(wallet?.blockHash),
        bytes(wallet?.codeSha256),
      ],
    })
  }
}
