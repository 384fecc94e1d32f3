import { type Address, encodeFunctionData } from 'viem'
import { commerceEscrowAbi, dollarAbi } from '../../../devnet/chain/abi.ts'
import {
  authorizePayment,
  capturePayment,
  chargePayment,
  type EscrowPayment,
  escrowOf,
  refundPayment,
  returnPayment,
} from '../../../devnet/chain/escrows.ts'
import { aggregate, mint } from '../../../devnet/chain/payments.ts'
import { dollarOf } from '../../support/chain/permit2.ts'
import { type ExpectedPayment, type SettlementCase, type Stage, selectors } from './settlement-case.ts'

const drawn = { selector: selectors.receiveBytes, source: 'trace', inferred: selectors.transfer } as const
const treasury = '0x0000000000000000000000000000000000fee000'

function paymentOf({ chain, facilitator, payer, merchant }: Stage, salt: bigint): EscrowPayment {
  const people = { operator: facilitator.address, payer: payer.address, receiver: merchant.address }
  return { ...people, token: dollarOf(chain), salt }
}

const moved = (kind: string, { payer, receiver, token }: EscrowPayment, gross: bigint, net = 0n): ExpectedPayment => ({
  kind,
  token,
  payer,
  payee: receiver,
  gross,
  net,
})

async function passedOn({ chain }: Stage, { payer, token, operator }: EscrowPayment, gross: bigint) {
  const args = [operator] as const
  const store = await chain.client.readContract({
    address: escrowOf(chain),
    abi: commerceEscrowAbi,
    functionName: 'stores',
    args,
  })
  const forwarding = { forwarder: chain.addresses.depositCollector, depth: 1 }
  return { kind: 'forwarded', token, payer, payee: store, gross, forwarding }
}

const hold = (stage: Stage, value: bigint) =>
  stage.authorize(stage.payer, { to: stage.chain.addresses.depositCollector, value, kind: 'receive' })

/** A payment that the escrow holds: paid to its collector, and passed on to where the operator's money is kept. */
function authorization(which: string, salt: bigint, value: bigint): SettlementCase {
  return {
    name: `an authorization ${which}`,
    async act(stage) {
      const { chain, facilitator } = stage
      const payment = paymentOf(stage, salt)
      const signed = await hold(stage, value)
      const hash = await chain.send(facilitator, authorizePayment(chain, payment, signed))
      await chain.mined(hash)
      const payments = [moved('escrow_authorization', payment, value), await passedOn(stage, payment, value)]
      return { hash, settlements: [{ authorization: signed, ...drawn }], payments }
    },
  }
}

/** A payment that is drawn and paid out in one call. */
function charge(which: string, salt: bigint, value: bigint, amount: bigint): SettlementCase {
  return {
    name: `a charge ${which}`,
    async act(stage) {
      const { chain, facilitator } = stage
      const payment = paymentOf(stage, salt)
      const signed = await hold(stage, value)
      const hash = await chain.send(facilitator, chargePayment(chain, payment, signed, { amount, receiver: treasury }))
      await chain.mined(hash)
      const forwarding = await passedOn(stage, payment, value)
      const forwardedFee = {
        ...forwarding,
        payee: treasury,
        gross: amount,
        forwarding: { forwarder: lower(forwarding.payee), depth: 2 },
      } as const
      const payments = [
        moved('escrow_charge', payment, value, value - amount),
        forwarding,
        ...(amount < value ? [] : [forwardedFee]),
      ]
      return { hash, settlements: [{ authorization: signed, ...drawn }], payments }
    },
  }
}

/** Escrows of commerce-payments: what is authorized, captured, charged, voided, reclaimed and refunded. */
export const escrowCases: SettlementCase[] = [
  authorization('is held for the receiver', 1n, 100n),
  authorization('that will be voided', 2n, 30n),
  authorization('that is never captured', 3n, 20n),
  {
    name: 'a part that is captured is income without its fee',
    async act(stage) {
      const { chain, facilitator } = stage
      const payment = paymentOf(stage, 1n)
      const hash = await chain.send(
        facilitator,
        capturePayment(chain, payment, 40n, { amount: 4n, receiver: treasury }),
      )
      return { hash, settlements: [], payments: [moved('escrow_capture', payment, 40n, 36n)] }
    },
  },
  {
    name: 'so is another part',
    async act(stage) {
      const { chain, facilitator } = stage
      const payment = paymentOf(stage, 1n)
      const hash = await chain.send(facilitator, capturePayment(chain, payment, 25n))
      return { hash, settlements: [], payments: [moved('escrow_capture', payment, 25n, 25n)] }
    },
  },
  {
    name: 'what is voided was nobody’s income',
    async act(stage) {
      const { chain, facilitator } = stage
      const payment = paymentOf(stage, 2n)
      const hash = await chain.send(facilitator, returnPayment(chain, payment, 'void'))
      return { hash, settlements: [], payments: [moved('escrow_return', payment, 30n)] }
    },
  },
  {
    name: 'what is refunded is less income',
    async act(stage) {
      const { chain, facilitator } = stage
      const payment = paymentOf(stage, 1n)
      await chain.execute(facilitator, mint(chain, facilitator.address, 1_000n, payment.token))
      await chain.execute(facilitator, { to: payment.token, data: allowance(escrowOf(chain)) })
      const hash = await chain.send(facilitator, refundPayment(chain, payment, 15n))
      return { hash, settlements: [], payments: [moved('escrow_refund', payment, -15n, -15n)] }
    },
  },
  charge('is income without its fee', 11n, 10n, 2n),
  charge('that is all a fee is nobody’s income but its own', 12n, 5n, 5n),
  {
    name: 'what is authorized and captured at once is income once',
    async act(stage) {
      const { chain, facilitator } = stage
      const payment = { ...paymentOf(stage, 14n), operator: chain.addresses.batcher }
      const signed = await hold(stage, 18n)
      const calls = [
        authorizePayment(chain, payment, signed),
        capturePayment(chain, payment, 8n),
        capturePayment(chain, payment, 8n),
      ]
      const hash = await chain.send(facilitator, aggregate(chain, calls))
      await chain.mined(hash)
      return {
        hash,
        settlements: [{ authorization: signed, ...drawn }],
        payments: [
          moved('escrow_authorization', payment, 18n),
          await passedOn(stage, payment, 18n),
          moved('escrow_capture', payment, 8n, 8n),
          moved('escrow_capture', payment, 8n, 8n),
        ],
      }
    },
  },
]

const lower = (address: Address) => address.toLowerCase() as Address

const allowance = (spender: Address) =>
  encodeFunctionData({ abi: dollarAbi, functionName: 'approve', args: [spender, 1_000n] })
