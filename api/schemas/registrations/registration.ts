import { z } from 'zod'
import { grouped, profileLimits, readingLimits, rowLimits } from '../../../config/limits.ts'
import {
  address,
  chainId,
  chainName,
  count,
  fid,
  hash,
  nextCursor,
  otherWalletChain,
  time,
  tokenId,
} from '../scalars.ts'

const text = z.string().nullable()
const walletChain = otherWalletChain.meta({
  description:
    'other: the holder is a contract wallet, and its verification names another chain. It counts, and supports no claim. Null: it is not so.',
})

/** A registration that a verified address of an agent holds now. */
const names = z.array(z.string()).optional()
const declared = z
  .strictObject({
    skills: names,
    domains: names,
    tools: names,
    prompts: names,
    resources: names,
    truncated: z.literal(true).optional().meta({ description: 'A list in the file has more entries than are kept.' }),
  })
  .meta({ id: 'Declared' })

/** A name of ENS that a registration's document claims. */
export const ensName = z.strictObject({
  name: z.string(),
  status: z.enum(['confirmed', 'unconfirmed', 'not_checked', 'invalid']).meta({
    description:
      'confirmed: the text record of draft ENSIP-25 for this registration is set at the name; not_checked: no node ' +
      'could be asked, or the resolver sends its readers to another host; invalid: no name of ENS.',
  }),
})

export const record = z
  .strictObject({
    chain: chainName,
    chain_id: chainId,
    erc8004_id: tokenId,
    registry_address: address.meta({ description: 'The ERC-8004 IdentityRegistry of the chain.' }),
    owner_address: address.meta({ description: 'The verified address that holds it.' }),
    agent_wallet: address.nullable().meta({ description: 'Where the registration wants payments. Null: nowhere.' }),
    agent_uri: text.meta({ description: 'Address of its registration file, or the file itself as a data URI.' }),
    uri_status: z.enum(['ok', 'pending', 'empty', 'unsupported', 'unreachable', 'invalid']).meta({
      description: 'What came of reading the registration file at `agent_uri`.',
    }),
    name: text.meta({ description: 'As the registration file says, and so are the fields up to supported_trust.' }),
    description: text,
    image: text,
    active: z.boolean().nullable(),
    x402_support: z.boolean().nullable(),
    services: z.array(
      z.strictObject({
        name: text,
        endpoint: text,
        version: text,
        declared: declared
          .optional()
          .meta({ description: 'What the file says it can do, which nobody has seen there.' }),
      }),
    ),
    supported_trust: z.array(z.string()),
    feedback_count: count.meta({ description: 'Feedback on it that was not revoked.' }),
    block_number: count.meta({ description: 'Block in which it was registered.' }),
    tx_hash: hash.meta({ description: 'Transaction in which it was registered.' }),
    deployed_at: time.meta({ description: 'When it was registered.' }),
    acquired_at: time.meta({ description: 'When the address came to hold it.' }),
    updated_at: time.meta({ description: 'Block time of the last event of it.' }),
    agent_uri_bytes: count.meta({
      description: `Length of the URI; with an agent those beyond ${grouped(profileLimits.uriBytes)} bytes are left out.`,
    }),
    unsolicited: z.boolean().meta({
      description:
        'Sent by a stranger, and the holder has set nothing since. It counts; what it says is the stranger’s.',
    }),
    wallet_chain: walletChain,
    truncated: z.partialRecord(z.enum(['services', 'supported_trust', 'registrations']), count).meta({
      description: 'Lists of the registration file of which only a part is read, with how many entries they have.',
    }),
    ens_names: z
      .array(ensName.meta({ id: 'EnsName' }))
      .max(readingLimits.claimedNames)
      .meta({
        description: 'Names of ENS that the registration file claims, and whether they name the registration too.',
      }),
  })
  .meta({ id: 'Erc8004Record' })

const heldRegistration = record
  .extend({
    agent_wallet_evidence: z
      .strictObject({
        kind: z.enum(['registered', 'signed']).meta({
          description:
            'registered: the address of whoever registered, unsigned; signed: the wallet signed for the registration and its holder, and the registry checked it.',
        }),
        block_number: count,
        log_index: count,
        tx_hash: hash,
        set_at: time,
      })
      .nullable()
      .meta({ description: 'The log that named the wallet: who is paid, and nothing about whose the agent is.' }),
  })
  .meta({ id: 'HeldRegistration' })
export type HeldRegistration = z.output<typeof heldRegistration>

/** A registration, whoever holds it. */
const listedRegistration = record
  .omit({ unsolicited: true, wallet_chain: true, ens_names: true })
  .extend({
    owner_address: address.meta({ description: 'Who holds it.' }),
    fid: fid.nullable().meta({ description: 'The agent that verifies the holder. Null: none does.' }),
    human: z
      .strictObject({
        fid,
        assurance: z.enum(['proven', 'signed', 'stated']).meta({ description: 'How that is known of the address.' }),
      })
      .nullable()
      .meta({ description: 'The account that verifies the holder. Null: there is no agent.' }),
  })
  .meta({ id: 'ListedRegistration' })

export const allRegistrationsList = z
  .strictObject({
    count,
    registrations: z.array(listedRegistration).max(rowLimits.registrations.maximum),
    next_cursor: nextCursor,
  })
  .meta({ id: 'AllRegistrationsList' })

/** A registration that a verified address of an agent held once. */
export const historicalRegistration = z
  .strictObject({
    chain: chainName,
    chain_id: chainId,
    erc8004_id: tokenId,
    block_number: count.meta({ description: 'Block in which it was registered.' }),
    deployed_at: time.meta({ description: 'When it was registered.' }),
    held_by: address.meta({ description: 'The address that held it, verified then.' }),
    acquired_at: time.meta({ description: 'When that address came to hold it.' }),
    released_at: time
      .nullable()
      .meta({ description: 'When it was passed on, burned, or lost with the verification. Null: not known.' }),
    released_block: count.nullable().meta({ description: 'Block of the transfer or the burn. Null: there was none.' }),
    released_tx: hash
      .nullable()
      .meta({ description: 'Transaction of the transfer or the burn. Null: there was none.' }),
    transferred_to: address
      .nullable()
      .meta({ description: 'Null: burned, or still held by an address that is no longer verified.' }),
    to_fid: fid.nullable().meta({ description: 'The agent that holds it since. Null: no agent does.' }),
    reason: z.enum(['transfer', 'burn', 'verification_removed']).meta({
      description: 'verification_removed: the account no longer verifies the address that holds it.',
    }),
    wallet_chain: walletChain,
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
