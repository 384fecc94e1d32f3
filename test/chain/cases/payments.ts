import type { Address } from 'viem'
import type { Call, DevChain } from '../../../devnet/chain/chain.ts'
import { aggregate, collectForEscrow, mint, pay, transferDollars } from '../../../devnet/chain/payments.ts'
import { allowProxy, dollarOf, payByProxy, payUpto } from '../../support/chain/permit2.ts'
import { type ExpectedPayment, type SettlementCase, selectors, sendDelegated } from './settlement-case.ts'

const drawn = { selector: selectors.receiveBytes, source: 'trace', inferred: selectors.receive } as const
const calldata = { selector: selectors.transfer, source: 'calldata' } as const

/** Pays `to` from the second batch contract, which the first one calls. */
function fromSecond(chain: DevChain, to: Address, amount: bigint): Call {
  const { secondBatcher } = chain.addresses
  return { ...aggregate(chain, [transferDollars(chain, to, amount)]), to: secondBatcher }
}

const other = '0x00000000000000000000000000000000000be0be'

/** Payments that are no settlements: by a Permit2 proxy, or forwarded in the same transaction. */
export const paymentCases: SettlementCase[] = [
  {
    name: 'a forwarder splits what it was paid',
    async act({ chain, payer, merchant, facilitator, authorize }) {
      const { batcher } = chain.addresses
      const authorization = await authorize(payer, { to: batcher, value: 100n })
      const parts = [transferDollars(chain, merchant.address, 90n), transferDollars(chain, other, 10n)]
      const hash = await chain.send(facilitator, aggregate(chain, [pay(authorization), ...parts]))
      const forwarding = { forwarder: batcher, depth: 1 }
      const common = { kind: 'forwarded', token: dollarOf(chain), payer: payer.address, forwarding }
      return {
        hash,
        settlements: [{ authorization, ...calldata }],
        payments: [
          { ...common, payee: merchant.address, gross: 90n },
          { ...common, payee: other, gross: 10n },
        ],
      }
    },
  },
  {
    name: 'a forwarder gives change back to the payer, which is nobody’s income',
    async act({ chain, payer, merchant, facilitator, authorize }) {
      const { batcher } = chain.addresses
      const authorization = await authorize(payer, { to: batcher, value: 100n })
      const parts = [transferDollars(chain, payer.address, 40n), transferDollars(chain, merchant.address, 60n)]
      const hash = await chain.send(facilitator, aggregate(chain, [pay(authorization), ...parts]))
      const forwarding = { forwarder: batcher, depth: 1 }
      const payments = [
        {
          kind: 'forwarded',
          token: dollarOf(chain),
          payer: payer.address,
          payee: merchant.address,
          gross: 60n,
          forwarding,
        },
      ]
      return { hash, settlements: [{ authorization, ...calldata }], payments }
    },
  },
  {
    name: 'a facilitator that has code is paid itself and passes on, and is no payer',
    async act({ chain, payer, merchant, delegator, authorize }) {
      const authorization = await authorize(payer, { to: delegator.address, value: 100n })
      const calls = [pay(authorization), transferDollars(chain, merchant.address, 97n)]
      const hash = await sendDelegated(chain, delegator, calls)
      const forwarding = { forwarder: delegator.address.toLowerCase() as Address, depth: 1 }
      const common = { token: dollarOf(chain), payer: payer.address, payee: merchant.address }
      return {
        hash,
        settlements: [{ authorization, ...calldata }],
        payments: [{ ...common, kind: 'forwarded', gross: 97n, forwarding }],
      }
    },
  },
  {
    name: 'a forwarder pays another one that pays the merchant',
    async act({ chain, payer, merchant, facilitator, authorize }) {
      const { batcher, secondBatcher } = chain.addresses
      const authorization = await authorize(payer, { to: batcher, value: 100n })
      const hops = [transferDollars(chain, secondBatcher, 99n), fromSecond(chain, merchant.address, 98n)]
      const hash = await chain.send(facilitator, aggregate(chain, [pay(authorization), ...hops]))
      const common = { kind: 'forwarded', token: dollarOf(chain), payer: payer.address }
      return {
        hash,
        settlements: [{ authorization, ...calldata }],
        payments: [
          {
            ...common,
            payee: secondBatcher,
            gross: 99n,
            forwarding: { forwarder: batcher, depth: 1 },
          },
          {
            ...common,
            payee: merchant.address,
            gross: 98n,
            forwarding: { forwarder: secondBatcher, depth: 2 },
          },
        ],
      }
    },
  },
  {
    name: 'a contract that pools two payments and pays once keeps them',
    async act({ chain, payer, otherPayer, merchant, facilitator, authorize }) {
      const { batcher } = chain.addresses
      const first = await authorize(payer, { to: batcher, value: 50n })
      const second = await authorize(otherPayer, { to: batcher, value: 50n })
      const calls = [pay(first), pay(second), transferDollars(chain, merchant.address, 100n)]
      const hash = await chain.send(facilitator, aggregate(chain, calls))
      return { hash, settlements: [first, second].map((authorization) => ({ authorization, ...calldata })) }
    },
  },
  {
    name: 'a contract that passes on less than half keeps the payment',
    async act({ chain, payer, merchant, facilitator, authorize }) {
      const authorization = await authorize(payer, { to: chain.addresses.batcher, value: 100n })
      const calls = [pay(authorization), transferDollars(chain, merchant.address, 49n)]
      const hash = await chain.send(facilitator, aggregate(chain, calls))
      return { hash, settlements: [{ authorization, ...calldata }] }
    },
  },
  {
    name: 'a Permit2 proxy pays, by anybody’s token, twice in a transaction',
    async act({ chain, payer, otherPayer, merchant, facilitator }) {
      const { unlistedToken } = chain.addresses
      await chain.execute(payer, allowProxy(chain))
      await chain.execute(otherPayer, allowProxy(chain, unlistedToken))
      const dollars = { owner: payer.address, to: merchant.address, amount: 71n }
      const others = { owner: otherPayer.address, to: other, amount: 72n, token: unlistedToken, permit: true } as const
      const calls = [payByProxy(chain, dollars), payByProxy(chain, others)]
      const hash = await chain.send(facilitator, aggregate(chain, calls))
      const payments: ExpectedPayment[] = [
        {
          kind: 'permit2_exact',
          token: dollarOf(chain),
          payer: payer.address,
          payee: merchant.address,
          gross: 71n,
        },
        { kind: 'permit2_exact', token: unlistedToken, payer: otherPayer.address, payee: other, gross: 72n },
      ]
      return { hash, settlements: [], payments }
    },
  },
  {
    name: 'a Permit2 payment in a token that keeps a part goes to whom the calldata names, not to who got the part',
    async act({ chain, payer, merchant, facilitator }) {
      const token = chain.addresses.taxedToken
      await chain.execute(facilitator, mint(chain, payer.address, 1_000n, token))
      await chain.execute(payer, allowProxy(chain, token))
      const pays = (permit: boolean) =>
        payByProxy(chain, { owner: payer.address, to: merchant.address, amount: 100n, token, permit })
      const hash = await chain.send(facilitator, aggregate(chain, [pays(false), pays(true)]))
      const payment = { kind: 'permit2_exact', token, payer: payer.address, payee: merchant.address, gross: 90n }
      return { hash, settlements: [], payments: [payment, payment] }
    },
  },
  {
    name: 'a Permit2 payment to a forwarder is passed on',
    async act({ chain, payer, merchant, facilitator }) {
      const { batcher } = chain.addresses
      const calls = [
        payByProxy(chain, { owner: payer.address, to: batcher, amount: 80n }),
        transferDollars(chain, merchant.address, 79n),
      ]
      const hash = await chain.send(facilitator, aggregate(chain, calls))
      const common = { token: dollarOf(chain), payer: payer.address }
      const forwarding = { forwarder: batcher, depth: 1 }
      return {
        hash,
        settlements: [],
        payments: [
          { ...common, kind: 'permit2_exact', payee: batcher, gross: 80n },
          { ...common, kind: 'forwarded', payee: merchant.address, gross: 79n, forwarding },
        ],
      }
    },
  },
  {
    name: 'a call of a proxy without code succeeds and pays nobody',
    async act({ chain, payer, merchant, facilitator }) {
      const proxy = chain.addresses.codelessProxy
      const call = payByProxy(chain, { owner: payer.address, to: merchant.address, amount: 73n, proxy })
      return { hash: await chain.send(facilitator, call), settlements: [] }
    },
  },
  {
    name: 'a Permit2 payment that is refused inside a batch pays nobody',
    async act({ chain, payer, merchant, facilitator }) {
      const refused = payByProxy(chain, { owner: payer.address, to: merchant.address, amount: 0n })
      return { hash: await chain.send(facilitator, aggregate(chain, [refused])), settlements: [] }
    },
  },
  {
    name: 'a Permit2 proxy pays what was used of the most, and nothing above it or for anybody else',
    async act({ chain, payer, merchant, facilitator }) {
      await chain.execute(payer, allowProxy(chain, dollarOf(chain), chain.addresses.uptoProxy))
      const payment = { owner: payer.address, to: merchant.address, amount: 41n, most: 100n }
      const used = { ...payment, facilitator: facilitator.address }
      const refused = [
        payUpto(chain, used),
        payUpto(chain, { ...used, amount: 101n, facilitator: chain.addresses.batcher }),
      ]
      await chain.execute(facilitator, aggregate(chain, refused))
      const hash = await chain.send(facilitator, payUpto(chain, used))
      const common = { token: dollarOf(chain), payer: payer.address, payee: merchant.address }
      return { hash, settlements: [], payments: [{ ...common, kind: 'permit2_upto', gross: 41n }] }
    },
  },
  {
    name: 'what an escrow has drawn is passed on to its store, and the change is nobody’s',
    async act({ chain, payer, facilitator, authorize }) {
      const { depositCollector } = chain.addresses
      const authorization = await authorize(payer, { to: depositCollector, value: 100n, kind: 'receive' })
      const hash = await chain.send(facilitator, collectForEscrow(chain, authorization, other, 70n))
      const forwarding = { forwarder: depositCollector, depth: 1 }
      const common = { token: dollarOf(chain), payer: payer.address }
      return {
        hash,
        settlements: [{ authorization, ...drawn }],
        payments: [{ ...common, kind: 'forwarded', payee: other, gross: 70n, forwarding }],
      }
    },
  },
]
