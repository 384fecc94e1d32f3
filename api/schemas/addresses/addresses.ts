import { z } from 'zod'
import { address, count, fid, hash, otherWalletChain, time } from '../scalars.ts'

const outcome = z.enum(['held', 'failed', 'unknown'])

/** A verified address, and what its verification is worth. */
const verifiedAddress = z
  .strictObject({
    address: z.union([address, z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/)]),
    indexed: z.boolean().meta({
      description:
        'false: an address of Solana, base58, which is shown as the account verified it, unchecked, and joined to nothing.',
    }),
    verified_at: time
      .nullable()
      .meta({ description: 'When its signer says that the message was signed. Null: nobody has said when.' }),
    verdict: z.enum(['proven', 'signed', 'stated']).nullable().meta({
      description:
        'proven: message, address and place of the key hold; signed: the chain was not asked about the key; stated: a part cannot be checked; null: the message was not seen yet.',
    }),
    checks: z
      .strictObject({
        envelope: outcome.meta({ description: 'Hash and signature of the message.' }),
        claim: outcome.meta({ description: 'The address’s own signature, or its contract wallet’s word.' }),
        key: outcome.meta({ description: 'That the key of the message is, or was, the account’s.' }),
      })
      .nullable(),
    checked_at: time.nullable().meta({ description: 'When the chains were last asked.' }),
    first_seen_at: time.nullable(),
    message_hash: z
      .string()
      .regex(/^0x[0-9a-f]{40}$/)
      .nullable(),
    verification_type: z.int().nonnegative().nullable().meta({ description: '0: a key signed; 1: a contract wallet.' }),
    verification_chain_id: count.nullable().meta({ description: 'Chain of the contract wallet.' }),
    wallet_chain: otherWalletChain.meta({
      description:
        'other: it is a contract wallet, and holds registrations on other chains than that. They count, and support no claim. Null: it does not.',
    }),
    key: hash.nullable().meta({ description: 'The app key that signed the message.' }),
    key_source: z.enum(['chain', 'offchain']).nullable().meta({
      description: 'Who says that the key is the account’s: the KeyRegistry, or its custody address’s own signature.',
    }),
    before_custody: z.boolean().meta({
      description: 'Made before the account last changed hands, or with a key from before: it cannot carry a claim.',
    }),
    disputed: z.boolean().meta({
      description: 'Another fresh hub, asked twice, does not know its message: it cannot carry a new claim.',
    }),
    witnesses: z
      .array(z.strictObject({ hub: z.string(), has: z.boolean(), checked_at: time }))
      .meta({ description: 'Other fresh hubs, and whether they know its message.' }),
  })
  .meta({ id: 'VerifiedAddress' })

export const addressList = z.strictObject({ fid, addresses: z.array(verifiedAddress) }).meta({ id: 'AddressList' })
