import { z } from 'zod'
import { grouped, readingLimits } from '../../../config/limits.ts'
import { ensName } from '../registrations/registration.ts'
import { address, chainName, count, fid, hash, time, tokenId } from '../scalars.ts'
import { moment } from './as-of.ts'

const event = {
  since: time.meta({ description: 'When the event that says so was logged.' }),
  tx_hash: hash.nullable().meta({ description: 'Its transaction; null: not stored.' }),
}
const verifier = fid.nullable().meta({ description: 'Agent that verified the address then; null: none.' })

const readAt = {
  block_number: count.nullable().meta({ description: 'Final block that the chain was asked at; null: it was not.' }),
  block_timestamp: time.nullable(),
}
const digits = z.string().regex(/^[0-9]{1,78}$/)
const known = z
  .strictObject({ address, fid: fid.nullable() })
  .meta({ id: 'KnownAddress', description: 'An address, and the agent that verified it; null: none.' })

/** What a chain says of an address at a final block. */
const account = z
  .strictObject({
    kind: z.enum(['key', 'delegated', 'safe', 'token_bound', 'contract', 'not_checked']).meta({
      description:
        'key: no code; delegated: its key commands it, and `delegate` acts for it (EIP-7702); safe: the proxy of a ' +
        'published Safe, made by its factory 1.3.0 or 1.4.1; token_bound: its code has the form of ERC-6551 and names `token`; contract: any ' +
        'other code, also one that answers like a Safe, such as what other factories made; not_checked: no node could be asked.',
    }),
    code_hash: hash.nullable().meta({ description: 'Keccak-256 of its code.' }),
    delegate: address.nullable(),
    owners: z.array(known).max(readingLimits.safeOwners).meta({ description: 'The first owners of a Safe.' }),
    owners_total: count,
    threshold: count.nullable().meta({ description: 'Owners of a Safe that have to agree.' }),
    modules: z
      .array(address)
      .max(readingLimits.safeOwners)
      .nullable()
      .meta({ description: 'The first modules of a Safe, each of which may act without its owners. Null: not told.' }),
    token: z
      .strictObject({
        implementation: address
          .nullable()
          .meta({ description: 'Contract that the account leaves every call to. Null: read before this was kept.' }),
        chain_id: z.number().int().nonnegative().nullable().meta({ description: 'Null: it is no number of a chain.' }),
        contract: address,
        token_id: digits,
        holder: address
          .nullable()
          .meta({ description: 'Null: the token is on another chain, or its holder is not told.' }),
      })
      .nullable()
      .meta({
        description:
          'Token that the code names. Anybody can deploy code that names any token: whether its holder commands the account is ' +
          'up to `implementation` alone, which nobody checked.',
      }),
    ...readAt,
  })
  .nullable()
  .meta({ id: 'AccountRead', description: 'What the address is. Null: not read yet, or `as_of` was given.' })

const boundTo = z
  .strictObject({
    status: z.enum(['verified', 'unverified', 'not_checked']).meta({
      description:
        'verified: the contract holds the registration and binds it to this token, which has a holder; not_checked: no node ' +
        'could be asked.',
    }),
    standard: z.enum(['erc721', 'erc1155', 'erc6909']).nullable(),
    contract: address.nullable(),
    token_id: digits.nullable(),
    holder: address.nullable().meta({ description: 'Null: not known, or the token may have several.' }),
    fid: fid.nullable().meta({ description: 'Agent that verified the holder.' }),
    ...readAt,
  })
  .meta({ id: 'BoundTo', description: 'Token that a registration is bound to (draft ERC-8217).' })

const controller = z
  .strictObject({
    address,
    by: z.enum(['owner', 'approved', 'operator']).meta({
      description:
        'owner: it holds the registration; approved: for this registration (ERC-721 approve), until it is transferred; ' +
        'operator: for all that the owner holds (setApprovalForAll).',
    }),
    may: z
      .array(z.enum(['uri', 'metadata', 'wallet', 'transfer', 'approve']))
      .meta({ description: 'What the registry lets it change.' }),
    fid: verifier,
    ...event,
    account,
  })
  .meta({ id: 'Controller' })

const controlled = z
  .strictObject({
    erc8004_id: tokenId,
    held_by: address,
    controllers: z
      .array(controller)
      .max(readingLimits.controlOperators + 2)
      .meta({
        description:
          `Who could change it: its owner, who is approved, and ${readingLimits.controlOperators} operators at most, those ` +
          `named last. All are looked at of an owner that ever named ${grouped(readingLimits.operatorsNamed)} at most.`,
      }),
    operators_truncated: z.boolean().meta({
      description: 'There may be more operators: there are, or the owner ever named more than are looked at.',
    }),
    agent_wallet: z
      .strictObject({ address, fid: verifier, ...event, account })
      .nullable()
      .meta({
        description: '`agentWallet` of the registry, which may change nothing of it; it is paid, and gives feedback.',
      }),
    binding: z
      .strictObject({
        contract: address,
        holds_token: z.boolean().meta({ description: 'Whether that contract held the registration.' }),
        ...event,
        bound_to: boundTo.nullable().meta({
          description:
            'What that contract says. Null: it does not hold the registration, was not asked yet, or `as_of` was given.',
        }),
      })
      .nullable()
      .meta({
        description:
          'Contract that the metadata key `agent-binding` names (draft ERC-8217); whoever may write metadata can name any. ' +
          'Unless it holds the registration it rules over nothing. Null: none, or not known.',
      }),
    binding_known: z.boolean().meta({
      description:
        'False: the key was set after `as_of`, and only its newest value is stored, so what it was then is not known.',
    }),
    names: z
      .array(ensName.extend(readAt))
      .max(readingLimits.claimedNames)
      .nullable()
      .meta({ description: 'Names of ENS that its document claims, the first by name. Null: `as_of` was given.' }),
  })
  .meta({ id: 'ControlledRegistration' })

export const agentControlAnswer = z
  .strictObject({
    fid,
    ...moment,
    registrations_total: count,
    chains: z
      .array(
        z.strictObject({
          chain: chainName,
          registrations: z
            .array(controlled)
            .nullable()
            .meta({ description: 'Null: nothing is known of the chain at that time.' }),
        }),
      )
      .meta({ description: 'Every chain.' }),
    bound: z
      .array(z.strictObject({ chain: chainName, erc8004_id: tokenId, contract: address, bound_to: boundTo }))
      .max(readingLimits.controlRegistrations)
      .nullable()
      .meta({
        description:
          'Registrations that contracts hold for the holder of a token that an address of the account holds. Anybody can ' +
          'write such a contract. Null: `as_of` was given.',
      }),
    truncated: z.boolean().meta({
      description:
        `More than ${readingLimits.controlRegistrations} registrations, or as many in \`bound\`, or more than ` +
        `${grouped(readingLimits.receivedRegistrations)} received by one address: the first are told, those that strangers sent last.`,
    }),
  })
  .meta({ id: 'AgentControl' })
