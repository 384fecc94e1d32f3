import { z } from 'zod'
import { grouped, incomeLimits, readingLimits, rowLimits } from '../../../config/limits.ts'
import { holdingContracts } from '../../../config/payments.ts'
import { intervals } from '../../../db/queries/settlements/buckets.ts'
import { incomeKinds } from '../../../db/queries/sql/income.ts'
import {
  address,
  availableSince,
  chainName,
  count,
  dollars,
  fid,
  hash,
  netDollars,
  nextCursor,
  otherWalletChain,
  time,
} from '../scalars.ts'

const paid = z.strictObject({ payments: count, amount_usdc: netDollars }).meta({ id: 'Paid' })
const kind = z.enum(incomeKinds).meta({
  id: 'IncomeKind',
  description:
    'eip3009_vrs, eip3009_bytes: transferWithAuthorization or receiveWithAuthorization, by the form of the signature. ' +
    'forwarded: passed on by a forwarder in the transaction that paid it. permit2_exact, permit2_upto: by one of the ' +
    'proxies for Permit2 of x402. batch_claim: claimed from a channel of batch-settlement. escrow_charge, ' +
    'escrow_capture: from an escrow of commerce-payments, at once or of what was held, without the fee. escrow_refund: ' +
    'what went back of these, below zero and no payment. job_release: paid by a job of ERC-8183, without the fees.',
})
const flag = z.enum(['self', 'same_owner', 'ring', 'none']).meta({
  id: 'IncomeFlag',
  description:
    'self: payer and recipient are one address; same_owner: the payer is or was an address of the same agent, as far ' +
    'as the directory can see; ring: the money goes round over three addresses or more, as docs/rules.md says; none.',
})
const filteredPaid = paid.meta({ description: 'Without payments flagged self, same_owner or ring.' })
const completeUntil = time.nullable().meta({
  description: 'Everything up to here is counted, of the chain that is least far. Null: not known of one of them.',
})
const unheld = `Null: more than ${grouped(readingLimits.payerSettlements)} payments into and out of contracts would have to be read.`
const uncounted = `Null: more than ${grouped(readingLimits.payerSettlements)} sums by payer would have to be read.`

const sums = {
  currency: z.literal('USD'),
  complete_until: completeUntil,
  raw: paid.meta({ description: 'Every payment.' }),
  filtered: filteredPaid,
  by_kind: z.array(z.strictObject({ kind, raw: paid, filtered: filteredPaid })),
  x402: z
    .strictObject({
      payments: count,
      amount_usdc: netDollars,
      share: z.number().min(0).max(1).nullable().meta({ description: 'Of the raw amount; null: there is none.' }),
    })
    .meta({
      description:
        'Of all payments, those that a facilitator known by name sent (GET /api/facilitators), that one of the ' +
        'contracts of x402 settled, and whose calldata names who had a part in them.',
    }),
  other_tokens: z.strictObject({ payments: count }).meta({
    description: 'Of all payments, those in tokens without a dollar figure: they are no part of any amount_usdc.',
  }),
}
const dust = paid.meta({ description: 'Payments below a thousandth of a dollar; they count.' })

const demand = z.strictObject({
  payers: count,
  new_payers_30d: count.meta({ description: 'Those whose first payment is in the last 30 days.' }),
  repeat_payers_30d: count.meta({
    description: 'Those whose newest payment is in the last 30 days and was not their first.',
  }),
  repeat_payers_all: count.meta({ description: 'Those who paid more than once.' }),
  payers_returned: count.meta({ description: 'Those whose newest payment came a day or more after their first.' }),
  median_seconds_between_payments: z.int().nonnegative().nullable().meta({
    description:
      'The mean time between a payer’s payments: of those who paid more than once, the one in the middle. Null: nobody did.',
  }),
  largest_payer_share: z.number().min(0).max(1).nullable().meta({
    description: 'Of the dollars of all of them, what the one who paid most paid. Null: there are none.',
  }),
})

export const agentIncome = z
  .strictObject({
    fid,
    ...sums,
    payers: z
      .strictObject({ raw: count, filtered: count })
      .nullable()
      .meta({ description: `Who paid, each once. ${uncounted}` }),
    demand: demand.nullable().meta({
      description:
        'Who pays and comes back, as `payers.filtered` counts them, however many they are: of all time but for the ' +
        '30 days, which begin with a full hour. A minute late. Null: nobody else has paid, or they are not counted yet.',
    }),
    first_paid_at: time.nullable(),
    last_paid_at: time.nullable(),
    pending: z
      .array(z.strictObject({ contract: z.enum(holdingContracts), amount_usdc: dollars }))
      .nullable()
      .meta({
        description:
          'What contracts hold for the agent, by kind of contract: no income yet, and in no other sum. At most so much: a ' +
          'contract that keeps the terms of a channel may claim or refund without naming them. batch_settlement: put ' +
          'into channels, not claimed, and not gone back. auth_capture: authorized, not captured, and not gone back. ' +
          unheld,
      }),
    flags: z.strictObject({
      self: paid,
      same_owner: paid,
      ring: paid,
      dust,
      reciprocal: z
        .strictObject({ payers: count, payments: count, amount_usdc: netDollars })
        .nullable()
        .meta({
          description:
            `By others whom the agent paid back at least half, with at most ${incomeLimits.paidBack.days} days between ` +
            `there and back; they count. ${uncounted}`,
        }),
      other_chain: paid.meta({
        description:
          'To contract wallets on other chains than their verifications name, where the address may be somebody else’s; they count.',
      }),
      single_payer: z
        .boolean()
        .nullable()
        .meta({
          description: `Whether nearly all of the value came from one payer: docs/rules.md says from which share on. ${uncounted}`,
        }),
    }),
    addresses: z
      .array(
        z.strictObject({
          address,
          source: z.enum(['verified', 'agent_wallet']),
          chain: chainName.nullable().meta({ description: 'Null: every chain.' }),
          since: time.nullable().meta({ description: 'Payments before it are not counted. Null: all are.' }),
          until: time
            .nullable()
            .meta({ description: 'Payments from then on are not counted: another wallet was named. Null: all are.' }),
        }),
      )
      .meta({ description: 'Whose payments are counted.' }),
  })
  .meta({ id: 'AgentIncome' })

export const incomeStats = z
  .strictObject({
    ...sums,
    flags: z.strictObject({ self: paid, same_owner: paid, ring: paid, dust }),
    generated_at: time,
  })
  .meta({
    id: 'IncomeStats',
    description:
      'Over all agents. What one passed on to another in the transaction that paid it is in it once; a payment to an ' +
      'address that two of them verify, twice.',
  })

export const incomeSeries = z
  .strictObject({
    fid,
    interval: z.enum(intervals),
    since: time.nullable(),
    until: time.nullable(),
    complete_until: completeUntil,
    count: count.max(readingLimits.points),
    points: z
      .array(
        z
          .strictObject({
            start: time,
            payments: count,
            amount_usdc: netDollars,
            filtered_payments: count,
            filtered_amount_usdc: netDollars,
          })
          .meta({ id: 'IncomePoint' }),
      )
      .max(readingLimits.points),
  })
  .meta({ id: 'IncomeSeries' })

const payment = z
  .strictObject({
    tx_hash: hash,
    block_number: count,
    log_index: count,
    block_timestamp: time,
    chain: chainName,
    payer_address: address,
    recipient_address: address,
    token_address: address,
    amount: z
      .string()
      .regex(/^-?\d+$/)
      .meta({ description: 'Base units of the token; below zero: they went back to the payer.' }),
    amount_usdc: netDollars.nullable().meta({ description: 'Null: the token has no dollar figure.' }),
    kind,
    forwarder_address: address.nullable().meta({ description: 'Who passed the money on. Null: not forwarded.' }),
    funder_address: address.nullable().meta({
      description:
        'Of a claim from a channel, who made the largest deposit in it before. Null: whoever pays, nobody that is known, ' +
        'or no claim.',
    }),
    flag,
    facilitator_address: address.meta({ description: 'Sender of the transaction.' }),
    facilitator_name: z.string().nullable().meta({ description: 'Null: the sender is not known by name.' }),
    builder_codes: z
      .strictObject({
        facilitator: z.string().nullable(),
        app: z.string().nullable().meta({ description: 'The seller’s.' }),
        services: z.array(z.string()).meta({ description: 'Further participants.' }),
      })
      .nullable()
      .meta({
        description:
          'Who had a part in the transaction, by the end of its own calldata (ERC-8021); nobody has checked it. Null: ' +
          'it does not say.',
      }),
    x402_evidence: z.enum(['contract', 'facilitator', 'builder_code', 'none']).meta({
      description: 'What says that it is a payment of x402: one of its contracts, the sender, or the calldata.',
    }),
    wallet_chain: otherWalletChain.meta({
      description:
        'other: the recipient is a contract wallet, and its verification names another chain, so that the address may be somebody else’s here. It counts. Null: it is not so.',
    }),
    final: z.boolean().meta({ description: 'At or below the finalized block: it will not be undone.' }),
  })
  .meta({ id: 'IncomePayment' })
export type IncomePayment = z.infer<typeof payment>

export const incomePayments = z
  .strictObject({
    fid,
    count,
    payments: z.array(payment).max(rowLimits.settlements.maximum),
    available_since: availableSince,
    next_cursor: nextCursor,
  })
  .meta({ id: 'IncomePayments' })
