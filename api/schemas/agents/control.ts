import { z } from 'zod'
import { grouped, readingLimits } from '../../../limits.config.ts'
import { address, chainName, count, fid, hash, time, tokenId } from '../scalars.ts'
import { moment } from './as-of.ts'

const event = {
  since: time.meta({ description: 'When the event that says so was logged.' }),
  tx_hash: hash.nullable().meta({ description: 'Its transaction; null: not stored.' }),
}
const verifier = fid.nullable().meta({ description: 'Agent that verified the address then; null: none.' })

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
          `Who could change it: its owner, who is approved, and ${readingLimits.controlOperators} operators at most, the ` +
          `newest of the last ${grouped(readingLimits.operatorEvents)} that the owner named or took back.`,
      }),
    operators_truncated: z.boolean().meta({
      description: 'There may be more operators: there are, or the owner named or took back more than are looked at.',
    }),
    agent_wallet: z
      .strictObject({ address, fid: verifier, ...event })
      .nullable()
      .meta({
        description: '`agentWallet` of the registry, which may change nothing of it; it is paid, and gives feedback.',
      }),
    binding: z
      .strictObject({
        contract: address,
        holds_token: z.boolean().meta({ description: 'Whether that contract held the registration.' }),
        ...event,
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
    truncated: z.boolean().meta({
      description:
        `More than ${readingLimits.controlRegistrations} registrations, or more than ` +
        `${grouped(readingLimits.receivedRegistrations)} received by one address: the first are told, those that strangers sent last.`,
    }),
  })
  .meta({ id: 'AgentControl' })
