import { type Hex, keccak256, toBytes } from 'viem'
import { forwarded, pay, transferDollars, withTrailer } from '../../../devnet/chain/payments.ts'
import { createWallet, executeAs, walletOf } from '../../../devnet/chain/wallets.ts'
import { type SettlementCase, selectors, sendDelegated } from './settlement-case.ts'

/** 33 bytes behind the arguments, with the length and form of the builder code a large facilitator appends. */
const trailer: Hex = `0x${'a1'.repeat(15)}${'8021'.repeat(9)}`

/** One authorization, executed by a call whose calldata says everything. */
export const directCases: SettlementCase[] = [
  {
    name: 'a direct transfer with 33 bytes behind its arguments',
    async act({ chain, payer, merchant, facilitator, authorize }) {
      const authorization = await authorize(payer, { to: merchant.address, value: 1_500_000n })
      const hash = await chain.send(facilitator, withTrailer(pay(authorization), trailer))
      return { hash, settlements: [{ authorization, selector: selectors.transfer, source: 'calldata' }] }
    },
  },
  {
    name: 'a direct receive by the recipient',
    async act({ chain, payer, merchant, authorize }) {
      const authorization = await authorize(payer, { to: merchant.address, value: 2n, kind: 'receive' })
      const hash = await chain.send(merchant, pay(authorization))
      return { hash, settlements: [{ authorization, selector: selectors.receive, source: 'calldata' }] }
    },
  },
  {
    name: 'a transfer with its signature as bytes keeps its true selector',
    async act({ chain, payer, merchant, facilitator, authorize }) {
      const authorization = await authorize(payer, { to: merchant.address, value: 3n })
      const hash = await chain.send(facilitator, pay(authorization, 'bytes'))
      return { hash, settlements: [{ authorization, selector: selectors.transferBytes, source: 'calldata' }] }
    },
  },
  {
    name: 'a receive with its signature as bytes keeps its true selector',
    async act({ chain, payer, merchant, authorize }) {
      const authorization = await authorize(payer, { to: merchant.address, value: 4n, kind: 'receive' })
      const hash = await chain.send(merchant, pay(authorization, 'bytes'))
      return { hash, settlements: [{ authorization, selector: selectors.receiveBytes, source: 'calldata' }] }
    },
  },
  {
    name: 'a payer that is a contract wallet',
    async act({ chain, payer, merchant, facilitator, authorize }) {
      const salt = keccak256(toBytes('paying wallet'))
      const wallet = await walletOf(chain, payer.address, salt)
      await chain.execute(facilitator, createWallet(chain, payer.address, salt))
      await chain.execute(payer, transferDollars(chain, wallet, 100n))
      const authorization = await authorize(payer, { from: wallet, to: merchant.address, value: 5n })
      const hash = await chain.send(facilitator, pay(authorization, 'bytes'))
      return { hash, settlements: [{ authorization, selector: selectors.transferBytes, source: 'calldata' }] }
    },
  },
  {
    name: 'a recipient that is a contract wallet and calls the token itself',
    async act({ chain, payer, merchant, facilitator, authorize }) {
      const salt = keccak256(toBytes('paid wallet'))
      const wallet = await walletOf(chain, merchant.address, salt)
      await chain.execute(facilitator, createWallet(chain, merchant.address, salt))
      const authorization = await authorize(payer, { to: wallet, value: 6n, kind: 'receive' })
      const hash = await chain.send(merchant, executeAs(wallet, pay(authorization)))
      return { hash, settlements: [{ authorization, selector: selectors.receive, source: 'calldata' }] }
    },
  },
  {
    name: 'a forwarder that hands its own calldata to the token',
    async act({ chain, payer, merchant, facilitator, authorize }) {
      const authorization = await authorize(payer, { to: merchant.address, value: 7n })
      const hash = await chain.send(facilitator, forwarded(chain, pay(authorization)))
      return { hash, settlements: [{ authorization, selector: selectors.transfer, source: 'calldata' }] }
    },
  },
  {
    name: 'a payment of nothing',
    async act({ chain, payer, merchant, facilitator, authorize }) {
      const authorization = await authorize(payer, { to: merchant.address, value: 0n })
      const hash = await chain.send(facilitator, pay(authorization))
      return { hash, settlements: [{ authorization, selector: selectors.transfer, source: 'calldata' }] }
    },
  },
  {
    name: 'a payer who pays itself and broadcasts it',
    async act({ chain, payer, authorize }) {
      const authorization = await authorize(payer, { to: payer.address, value: 8n })
      const hash = await chain.send(payer, pay(authorization))
      return { hash, settlements: [{ authorization, selector: selectors.transfer, source: 'calldata' }] }
    },
  },
  {
    name: 'an account that delegates to a batch contract and pays out of itself',
    async act({ chain, delegator, merchant, authorize }) {
      const authorization = await authorize(delegator, { to: merchant.address, value: 9n })
      const hash = await sendDelegated(chain, delegator, [pay(authorization)])
      return { hash, settlements: [{ authorization, selector: selectors.transfer, source: 'calldata' }] }
    },
  },
  {
    name: 'an account that delegates to a batch contract and draws a payment to itself',
    async act({ chain, payer, delegator, authorize }) {
      const authorization = await authorize(payer, { to: delegator.address, value: 10n, kind: 'receive' })
      const hash = await sendDelegated(chain, delegator, [pay(authorization)])
      return { hash, settlements: [{ authorization, selector: selectors.receive, source: 'calldata' }] }
    },
  },
]
