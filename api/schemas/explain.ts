import { z } from 'zod'
import { address, agentStatus, chainId, chainLabel, chainName, count, fid, hash, time, tokenId } from './scalars.ts'

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

const payeeOutcome = z
  .enum([
    'verified-wallet',
    'verified-delegation',
    'mismatch',
    'invalid-delegation',
    'endpoint-unlisted',
    'owner-only',
    'no-agent-wallet',
    'no-identity',
    'not-read',
  ])
  .meta({
    id: 'PayeeOutcome',
    description:
      'As the draft ERC-8478 names them. verified-wallet: the address is the wallet that the registry stores for the agent; ' +
      'mismatch: it is neither that wallet nor the owner; owner-only: it is the owner’s, who is not the wallet; ' +
      'no-agent-wallet: the registry stores none, as after each transfer; endpoint-unlisted: nothing ties the origin of ' +
      'the endpoint to the agent; no-identity: no agent was named; not-read: something that decides could not be read. ' +
      'verified-delegation and invalid-delegation are not answered yet: see `not_checked`.',
  })

const payeeEvidence = z
  .strictObject({
    kind: z.enum(['owner', 'agent_wallet', 'offer', 'registration_file', 'host']).meta({
      description:
        'owner, agent_wallet: the log of the registry that named it last; offer: the document that asks to be paid; ' +
        'registration_file: it lies on the host of the endpoint; host: it lists a registration of the account as its own.',
    }),
    chain: chainName.nullable(),
    block_number: count.nullable(),
    tx_hash: hash.nullable(),
    url: z.string().nullable(),
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .nullable()
      .meta({ description: 'Of the document as it was last read.' }),
  })
  .meta({ id: 'PayeeEvidence' })

/** GET /api/payee */
export const payeeAnswer = z
  .strictObject({
    outcome: payeeOutcome,
    human: z
      .strictObject({
        fid,
        assurance: z.enum(['proven', 'signed', 'stated']).meta({ description: 'How that is proven: docs/rules.md.' }),
      })
      .nullable()
      .meta({
        description:
          'The account that verifies the paid address as its own and, where an agent is named, its owner’s address too. ' +
          'Null: no such account.',
      }),
    pay_to: z.string().nullable().meta({ description: 'Who is to be paid; lowercase where it is an EVM address.' }),
    network: z.string().nullable().meta({ description: 'The network as it was given or is declared. Null: neither.' }),
    agent: z
      .strictObject({
        chain: chainName,
        chain_id: chainId,
        erc8004_id: tokenId,
        fid: fid.nullable().meta({ description: 'The agent here whose verified address owns it. Null: none.' }),
      })
      .nullable()
      .meta({ description: 'The registration that the address is held against. Null: none was named or found.' }),
    evidence: z.array(payeeEvidence),
    as_of: z
      .strictObject({
        chain: chainName.nullable(),
        block_number: count.nullable(),
        block_timestamp: time.nullable().meta({ description: 'Null: the index has no time of that block.' }),
      })
      .meta({
        description:
          'The final block that the registry was read at; with `as_of`, the last block by then that changed the owner or ' +
          'the wallet. Null: no chain was read.',
      }),
    not_checked: z.array(z.enum(['payee-delegation'])).meta({
      description:
        'What could change the outcome and is not looked at: the signed form of a payee delegation is not published.',
    }),
  })
  .meta({ id: 'Payee' })

export type PayeeAnswer = z.output<typeof payeeAnswer>
