import { z } from 'zod'
import { chainId, chainName, count, fid, hash, time, tokenId } from '../scalars.ts'

/** Outcomes of the draft ERC-8478. */
export const payeeOutcome = z
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
      'the endpoint to the agent; no-identity: no agent was named, or one that the seller does not hold; not-read: ' +
      'something that decides could not be read. verified-delegation and invalid-delegation are not answered yet: see `not_checked`.',
  })

const payeeEvidence = z
  .strictObject({
    kind: z.enum(['owner', 'agent_wallet', 'offer', 'registration_file', 'host']).meta({
      description:
        'owner, agent_wallet: the log of the registry that named it last; offer: the document that asks to be paid; ' +
        'registration_file: it lies on the host of the endpoint and lists the agent; host: it lists a registration of the account as its own.',
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
