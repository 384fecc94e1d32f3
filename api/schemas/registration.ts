import { z } from 'zod'
import { grouped, profileLimits, rowLimits } from '../../limits.config.ts'
import { address, chainId, chainName, count, fid, hash, nextCursor, time, tokenId } from './scalars.ts'

const text = z.string().nullable()

/** A token an agent's verified address owns now. */
export const record = z
  .strictObject({
    chain: chainName,
    chain_id: chainId,
    erc8004_id: tokenId,
    registry_address: address,
    owner_address: address,
    agent_wallet: address.nullable(),
    agent_uri: text,
    uri_status: z.enum(['ok', 'pending', 'empty', 'unsupported', 'unreachable', 'invalid']),
    name: text,
    description: text,
    image: text,
    active: z.boolean().nullable(),
    x402_support: z.boolean().nullable(),
    services: z.array(z.strictObject({ name: text, endpoint: text, version: text })),
    supported_trust: z.array(z.string()),
    feedback_count: count,
    block_number: count,
    tx_hash: hash,
    deployed_at: time.meta({ description: 'Mint.' }),
    acquired_at: time,
    updated_at: time,
    agent_uri_bytes: count.meta({
      description: `Length of the URI; with an agent those beyond ${grouped(profileLimits.uriBytes)} bytes are left out.`,
    }),
    unsolicited: z.boolean().meta({
      description:
        'Sent by a stranger, and the holder has set nothing since. It counts; what it says is the stranger’s.',
    }),
  })
  .meta({ id: 'Erc8004Record' })

const heldRegistration = record
  .extend({
    agent_wallet_evidence: z
      .strictObject({
        kind: z.enum(['registered', 'signed']).meta({
          description:
            'registered: the address of whoever registered, unsigned; signed: the wallet signed for the token and its owner, and the registry checked it.',
        }),
        block_number: count,
        log_index: count,
        tx_hash: hash.nullable().meta({ description: 'Null: not known yet.' }),
        set_at: time,
      })
      .nullable()
      .meta({ description: 'The log that named the wallet: who is paid, and nothing about whose the agent is.' }),
  })
  .meta({ id: 'HeldRegistration' })
export type HeldRegistration = z.output<typeof heldRegistration>

/** A holding that ended. */
export const historicalRegistration = z
  .strictObject({
    chain: chainName,
    chain_id: chainId,
    erc8004_id: tokenId,
    block_number: count,
    deployed_at: time,
    held_by: address,
    acquired_at: time,
    released_at: time.nullable(),
    released_block: count.nullable(),
    released_tx: hash.nullable(),
    transferred_to: address.nullable().meta({ description: 'Null: burned, or still held.' }),
    to_fid: fid.nullable(),
    reason: z.enum(['transfer', 'burn', 'verification_removed']),
  })
  .meta({ id: 'HistoricalRegistration' })

export const registrationList = z
  .strictObject({
    fid,
    state: z.enum(['current', 'historical']),
    count,
    registrations: z.union([
      z.array(heldRegistration).max(rowLimits.registrations.maximum),
      z.array(historicalRegistration).max(rowLimits.registrations.maximum),
    ]),
    next_cursor: nextCursor,
  })
  .meta({ id: 'RegistrationList' })
