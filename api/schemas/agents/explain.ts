import { z } from 'zod'
import { readingLimits } from '../../../config/limits.ts'
import { ensName } from '../registrations/registration.ts'
import { address, agentStatus, chainLabel, chainName, count, fid, time, tokenId } from '../scalars.ts'

const rule = z
  .strictObject({
    rule: z.enum(['verified', 'token', 'history', 'claim']).meta({
      description:
        'verified: an account verifies an address; token: such an address holds an ERC-8004 registration; history: one ' +
        'held a registration once; claim: the account was claimed.',
    }),
    holds: z.boolean(),
    found: z.string().meta({ description: 'What is known of it, in words for people.' }),
    next: z
      .string()
      .nullable()
      .meta({ description: 'What would make it hold, in words for people. Null: nothing has to be done.' }),
  })
  .meta({ id: 'ExplainedRule' })

const verification = {
  fid,
  address,
  verified_at: time
    .nullable()
    .meta({ description: 'When the account verified the address. Null: nobody has said when.' }),
  ended_at: time.nullable().meta({ description: 'When it withdrew that. Null: it verifies the address now.' }),
  tokens: count.meta({ description: 'ERC-8004 registrations that the address holds now.' }),
  chains: z.array(chainLabel).meta({ description: 'Chains of these registrations.' }),
  former_tokens: count.meta({ description: 'Registrations that the address held and passed on or burned.' }),
  chain_names: z.array(chainName).meta({ description: '`chains` by the names that rows have.' }),
}

const source = z
  .strictObject({
    source: z.string(),
    subject: z.string().meta({
      description: 'What was asked about: this FID or address, or the part of the network that is read for all.',
    }),
    last_attempt_at: time.nullable().meta({ description: 'Null: never yet.' }),
    last_success_at: time.nullable().meta({ description: 'Null: never yet.' }),
    last_outcome: z
      .string()
      .nullable()
      .meta({ description: 'How the last attempt ended: ok, empty, timeout and others.' }),
    due_at: time.meta({ description: 'When it is asked next.' }),
  })
  .meta({
    id: 'ExplainedSource',
    description: 'When a source was last asked about the FID or address, and when it is asked next.',
  })

const chain = z
  .strictObject({
    chain: chainName,
    indexed_block: count,
    indexed_at: time.nullable().meta({ description: 'Time of that block.' }),
  })
  .meta({ id: 'ExplainedChain', description: 'How far a chain is indexed.' })

export const agentExplanation = z
  .strictObject({
    fid,
    in_index: z.boolean().meta({ description: 'Whether it is listed as an agent.' }),
    agent_status: agentStatus.nullable().meta({ description: 'Null: it is not listed.' }),
    summary: z.string().meta({ description: 'The whole in a sentence, for people.' }),
    rules: z.array(rule),
    verifications: z.array(z.strictObject(verification)),
    ens_names: z
      .array(ensName.extend({ chain: chainName, erc8004_id: tokenId }).meta({ id: 'ExplainedName' }))
      .max(readingLimits.controlRegistrations * readingLimits.claimedNames)
      .meta({
        description: `Names of ENS that the files of its first ${readingLimits.controlRegistrations} registrations claim, and whether they name these too.`,
      }),
    doctor: z.string().nullable().meta({
      description: 'Path of what keeps callers or buyers from it. Null: it is not listed.',
    }),
    is_queued: z
      .boolean()
      .meta({ description: 'Whether something has happened since: the entry is being computed again.' }),
    sources: z.array(source),
    chains: z.array(chain),
  })
  .meta({ id: 'AgentExplanation' })

export const addressExplanation = z
  .strictObject({
    address,
    in_index: z.boolean().meta({ description: 'Whether it leads to an agent.' }),
    fid: fid.nullable().meta({ description: 'The agent it leads to. Null: none.' }),
    summary: z.string().meta({ description: 'The whole in a sentence, for people.' }),
    rules: z.array(rule),
    verifications: z.array(z.strictObject({ ...verification, agent_status: agentStatus.nullable() })),
    sources: z.array(source),
    chains: z.array(chain),
  })
  .meta({ id: 'AddressExplanation' })

export type ExplainedRule = z.infer<typeof rule>
export type AgentExplanation = z.infer<typeof agentExplanation>
export type AddressExplanation = z.infer<typeof addressExplanation>
