import { keccak256, toBytes } from 'viem'
import { aggregate, pay, transferDollars } from '../../../devnet/chain/payments.ts'
import { createWallet, walletOf } from '../../../devnet/chain/wallets.ts'
import { type SettlementCase, selectors } from './settlement-case.ts'

/** Several calls in one transaction; the calldata holds each of them whole. */
export const batchCases: SettlementCase[] = [
  {
    name: 'a batch of two payers, a payment of nothing, a self-payment and a call that fails',
    async act({ chain, payer, otherPayer, merchant, facilitator, authorize }) {
      const first = await authorize(payer, { to: merchant.address, value: 11n })
      const second = await authorize(otherPayer, { to: merchant.address, value: 12n })
      const nothing = await authorize(payer, { to: merchant.address, value: 0n })
      const self = await authorize(otherPayer, { to: otherPayer.address, value: 13n })
      const forged = { ...(await authorize(payer, { to: merchant.address, value: 14n })), value: 15n }
      const calls = [pay(first), pay(second, 'bytes'), pay(forged), pay(nothing), pay(self)]
      const hash = await chain.send(facilitator, aggregate(chain, calls))
      return {
        hash,
        settlements: [
          { authorization: first, selector: selectors.transfer, source: 'calldata' },
          { authorization: second, selector: selectors.transferBytes, source: 'calldata' },
          { authorization: nothing, selector: selectors.transfer, source: 'calldata' },
          { authorization: self, selector: selectors.transfer, source: 'calldata' },
        ],
      }
    },
  },
  {
    name: 'a nested batch that goes through',
    async act({ chain, payer, otherPayer, merchant, facilitator, authorize }) {
      const inner = await authorize(payer, { to: merchant.address, value: 16n })
      const outer = await authorize(otherPayer, { to: merchant.address, value: 17n })
      const call = aggregate(chain, [aggregate(chain, [pay(inner, 'bytes')]), pay(outer)])
      const hash = await chain.send(facilitator, call)
      return {
        hash,
        settlements: [
          { authorization: inner, selector: selectors.transferBytes, source: 'calldata' },
          { authorization: outer, selector: selectors.transfer, source: 'calldata' },
        ],
      }
    },
  },
  {
    name: 'a nested batch that is undone leaves only what its parent paid',
    async act({ chain, payer, otherPayer, merchant, facilitator, authorize }) {
      const undone = await authorize(payer, { to: merchant.address, value: 18n })
      const forged = { ...(await authorize(payer, { to: merchant.address, value: 19n })), value: 20n }
      const paid = await authorize(otherPayer, { to: merchant.address, value: 21n })
      const inner = aggregate(chain, [pay(undone), { ...pay(forged), allowFailure: false }])
      const hash = await chain.send(facilitator, aggregate(chain, [inner, pay(paid)]))
      return { hash, settlements: [{ authorization: paid, selector: selectors.transfer, source: 'calldata' }] }
    },
  },
  {
    name: 'the same payment twice, told apart by the nonces alone',
    async act({ chain, payer, merchant, facilitator, authorize }) {
      const first = await authorize(payer, { to: merchant.address, value: 22n })
      const second = await authorize(payer, { to: merchant.address, value: 22n })
      const hash = await chain.send(facilitator, aggregate(chain, [pay(first), pay(second, 'bytes')]))
      return {
        hash,
        settlements: [
          { authorization: first, selector: selectors.transfer, source: 'calldata' },
          { authorization: second, selector: selectors.transferBytes, source: 'calldata' },
        ],
      }
    },
  },
  {
    name: 'a wallet that is created and pays in the same transaction',
    async act({ chain, payer, merchant, facilitator, authorize }) {
      const salt = keccak256(toBytes('wallet to come'))
      const wallet = await walletOf(chain, payer.address, salt)
      await chain.execute(payer, transferDollars(chain, wallet, 100n))
      const authorization = await authorize(payer, { from: wallet, to: merchant.address, value: 23n })
      const calls = [createWallet(chain, payer.address, salt), pay(authorization, 'bytes')]
      const hash = await chain.send(facilitator, aggregate(chain, calls))
      return { hash, settlements: [{ authorization, selector: selectors.transferBytes, source: 'calldata' }] }
    },
  },
  {
    name: 'one payer and one nonce on two tokens',
    async act({ chain, payer, merchant, facilitator, authorize }) {
      const native = await authorize(payer, { to: merchant.address, value: 24n })
      const token = chain.addresses.bridgedToken
      const bridged = await authorize(payer, { to: merchant.address, value: 24n, nonce: native.nonce, token })
      const hash = await chain.send(facilitator, aggregate(chain, [pay(bridged), pay(native)]))
      return {
        hash,
        settlements: [
          { authorization: bridged, selector: selectors.transfer, source: 'calldata' },
          { authorization: native, selector: selectors.transfer, source: 'calldata' },
        ],
      }
    },
  },
  {
    name: 'the same arguments in a call that fails, before the one that pays by the same entry point',
    async act({ chain, payer, otherPayer, merchant, facilitator, authorize }) {
      const authorization = await authorize(payer, { to: merchant.address, value: 25n })
      const forged = { ...authorization, signature: (await authorize(otherPayer, authorization)).signature }
      const hash = await chain.send(facilitator, aggregate(chain, [pay(forged), pay(authorization)]))
      return { hash, settlements: [{ authorization, selector: selectors.transfer, source: 'calldata' }] }
    },
  },
  {
    name: 'the same arguments in a call that fails, by another entry point than the one that pays',
    async act({ chain, payer, merchant, facilitator, authorize }) {
      const authorization = await authorize(payer, { to: merchant.address, value: 26n })
      const notTheRecipient = pay({ ...authorization, kind: 'receive' })
      const hash = await chain.send(facilitator, aggregate(chain, [notTheRecipient, pay(authorization)]))
      return {
        hash,
        settlements: [{ authorization, selector: selectors.transfer, source: 'trace', inferred: selectors.transfer }],
      }
    },
  },
  {
    name: 'the same arguments for a token nobody lists, by the same entry point',
    async act({ chain, payer, merchant, facilitator, authorize }) {
      const authorization = await authorize(payer, { to: merchant.address, value: 27n })
      const token = chain.addresses.unlistedToken
      const { nonce } = authorization
      const unlisted = await authorize(payer, { to: merchant.address, value: 27n, nonce, token })
      const hash = await chain.send(facilitator, aggregate(chain, [pay(unlisted), pay(authorization)]))
      return { hash, settlements: [{ authorization, selector: selectors.transfer, source: 'calldata' }] }
    },
  },
  {
    name: 'the same arguments for a token nobody lists, by another entry point',
    async act({ chain, payer, merchant, facilitator, authorize }) {
      const authorization = await authorize(payer, { to: merchant.address, value: 28n })
      const token = chain.addresses.unlistedToken
      const { nonce } = authorization
      const unlisted = await authorize(payer, { to: merchant.address, value: 28n, nonce, token })
      const hash = await chain.send(facilitator, aggregate(chain, [pay(unlisted, 'bytes'), pay(authorization)]))
      return {
        hash,
        settlements: [{ authorization, selector: selectors.transfer, source: 'trace', inferred: selectors.transfer }],
      }
    },
  },
]
