import { z } from 'zod'
import { address, agentStatus, chainLabel, chainName, count, fid, time } from './scalars.ts'

const rule = z
  .strictObject({
    rule: z.enum(['verified', 'token', 'history', 'claim']),
    holds: z.boolean(),
    found: z.string().meta({ description: 'What is known, for people.' }),
    next: z.string().nullable().meta({ description: 'What would make it hold; null: nothing to do.' }),
  })
  .meta({ id: 'ExplainedRule' })

const verification = {
  fid,
  address,
  verified_at: time,
  ended_at: time.nullable(),
  tokens: count.meta({ description: 'ERC-8004 tokens the address owns now.' }),
  chains: z.array(chainLabel),
  former_tokens: count.meta({ description: 'Tokens it had and has no more.' }),
}

const source = z
  .strictObject({
    source: z.string(),
    subject: z.string().meta({ description: 'This one, or the part of the network that is read for all.' }),
    last_attempt_at: time.nullable(),
    last_success_at: time.nullable(),
    last_outcome: z.string().nullable(),
    due_at: time,
  })
  .meta({ id: 'ExplainedSource', description: 'When a source was last asked about this, and when it is next.' })

const chain = z
  .strictObject({ chain: chainName, indexed_block: count, indexed_at: time.nullable() })
  .meta({ id: 'ExplainedChain', description: 'How far a chain has been read.' })

export const agentExplanation = z
  .strictObject({
    fid,
    in_index: z.boolean(),
    agent_status: agentStatus.nullable(),
    summary: z.string(),
    rules: z.array(rule),
    verifications: z.array(z.strictObject(verification)),
    is_queued: z.boolean().meta({ description: 'The entry is being worked out anew.' }),
    sources: z.array(source),
    chains: z.array(chain),
  })
  .meta({ id: 'AgentExplanation' })

export const addressExplanation = z
  .strictObject({
    address,
    in_index: z.boolean(),
    fid: fid.nullable().meta({ description: 'The agent the address leads to.' }),
    summary: z.string(),
    rules: z.array(rule),
    verifications: z.array(z.strictObject({ ...verification, agent_status: agentStatus.nullable() })),
    sources: z.array(source),
    chains: z.array(chain),
  })
  .meta({ id: 'AddressExplanation' })

export type ExplainedRule = z.infer<typeof rule>
export type AgentExplanation = z.infer<typeof agentExplanation>
export type AddressExplanation = z.infer<typeof addressExplanation>
