import type { Queryable } from '../../pool.ts'

/** A message about an address, and what checking it came to. */
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
 * Keeps messages, and notes at the verifications what they are worth. A message that is known stays as it is, unless the
 * new one was found to be worth more.
 */
export async function storeMessages(db: Queryable, messages: readonly StoredMessage[], now: Date): Promise<void> {
  const named = messages.filter(({ hash }) => hash.length > 0) // else there is nothing to keep it by
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
 where m.verdict = 'stated' and excluded.verdict <> 'stated'`,
    values: [JSON.stringify(rows), now],
  })
  await db.query({
    name: 'note-verdicts',
    text: `
update verified_address v
   set message_hash = m.hash, verification_type = m.verification_type, verification_chain = m.verification_chain,
       verdict = m.verdict
  from farcaster_message m
 where v.fid = any ($1::bigint[]) and v.timed
   and m.fid = v.fid and m.address = v.address and m.message_time = v.verified_at
   and m.type = 'MESSAGE_TYPE_VERIFICATION_ADD_ETH_ADDRESS'
   and (v.verdict is null or (v.verdict = 'stated' and m.verdict <> 'stated'))`,
    values: [[...new Set(named.map(({ fid }) => fid))]],
  })
}
