import { encodeFunctionData, parseSignature } from 'viem'
import { dollarAbi } from '../../../devnet/chain/abi.ts'
import { aggregate, mint, pay, transferDollars } from '../../../devnet/chain/payments.ts'
import { type SettlementCase, selectors } from './settlement-case.ts'

/** Transactions that look like a settlement and execute none. */
export const unpaidCases: SettlementCase[] = [
  {
    name: 'a direct call that reverts',
    async act({ chain, payer, merchant, facilitator, authorize }) {
      const forged = { ...(await authorize(payer, { to: merchant.address, value: 41n })), value: 42n }
      return { hash: await chain.send(facilitator, pay(forged)), settlements: [] }
    },
  },
  {
    name: 'a payment inside a transaction that reverts as a whole',
    async act({ chain, payer, merchant, facilitator, authorize }) {
      const paid = await authorize(payer, { to: merchant.address, value: 43n })
      const forged = { ...(await authorize(payer, { to: merchant.address, value: 44n })), value: 45n }
      const calls = [pay(paid), { ...pay(forged), allowFailure: false }]
      return { hash: await chain.send(facilitator, aggregate(chain, calls)), settlements: [] }
    },
  },
  {
    name: 'an authorization of a token nobody lists',
    async act({ chain, payer, merchant, facilitator, authorize }) {
      const token = chain.addresses.unlistedToken
      const authorization = await authorize(payer, { to: merchant.address, value: 46n, token })
      return { hash: await chain.send(facilitator, pay(authorization)), settlements: [] }
    },
  },
  {
    name: 'a plain transfer',
    async act({ chain, payer, merchant }) {
      return { hash: await chain.send(payer, transferDollars(chain, merchant.address, 47n)), settlements: [] }
    },
  },
  {
    name: 'a cancelled authorization',
    async act({ chain, payer, merchant, facilitator, authorize }) {
      const { token } = chain.addresses
      if (!token) throw new Error('the cases need a native dollar')
      const authorization = await authorize(payer, { to: merchant.address, value: 48n })
      const { nonce } = authorization
      const signature = await payer.signTypedData({
        domain: { name: 'USD Coin', version: '2', chainId: chain.chainId, verifyingContract: token },
        types: {
          CancelAuthorization: [
            { name: 'authorizer', type: 'address' },
            { name: 'nonce', type: 'bytes32' },
          ],
        },
        primaryType: 'CancelAuthorization',
        message: { authorizer: payer.address, nonce },
      })
      const { r, s, yParity } = parseSignature(signature)
      const args = [payer.address, nonce, yParity + 27, r, s] as const
      const data = encodeFunctionData({ abi: dollarAbi, functionName: 'cancelAuthorization', args })
      const hash = await chain.send(facilitator, aggregate(chain, [{ to: token, data }, pay(authorization)]))
      return { hash, settlements: [] }
    },
  },
  {
    name: 'an approval by authorization is counted, not stored',
    async act({ chain, payer, merchant, facilitator, authorize }) {
      const token = chain.addresses.bridgedToken
      const approval = await authorize(payer, { to: merchant.address, value: 49n, token, kind: 'approve' })
      return { hash: await chain.send(facilitator, pay(approval)), settlements: [], unpaid: { [token]: 1 } }
    },
  },
  {
    name: 'an approval next to a payment of the same payer takes nothing from it',
    async act({ chain, payer, merchant, facilitator, authorize }) {
      const token = chain.addresses.bridgedToken
      const approval = await authorize(payer, { to: facilitator.address, value: 50n, token, kind: 'approve' })
      const authorization = await authorize(payer, { to: merchant.address, value: 50n, token })
      const hash = await chain.send(facilitator, aggregate(chain, [pay(approval), pay(authorization)]))
      return {
        hash,
        settlements: [{ authorization, selector: selectors.transfer, source: 'calldata' }],
        unpaid: { [token]: 1 },
      }
    },
  },
  {
    name: 'an approval next to a plain transfer of somebody else',
    async act({ chain, payer, merchant, facilitator, authorize }) {
      const { bridgedToken: token, batcher } = chain.addresses
      await chain.execute(facilitator, mint(chain, batcher, 52n, token))
      const approval = await authorize(payer, { to: merchant.address, value: 52n, token, kind: 'approve' })
      const calls = [pay(approval), transferDollars(chain, merchant.address, 52n, token)]
      return { hash: await chain.send(facilitator, aggregate(chain, calls)), settlements: [], unpaid: { [token]: 1 } }
    },
  },
  {
    name: 'an approval that is drawn on in the same transaction',
    async act({ chain, payer, merchant, facilitator, authorize }) {
      const { bridgedToken: token, batcher } = chain.addresses
      const approval = await authorize(payer, { to: batcher, value: 51n, token, kind: 'approve' })
      const args = [payer.address, merchant.address, 51n] as const
      const drawn = encodeFunctionData({ abi: dollarAbi, functionName: 'transferFrom', args })
      const hash = await chain.send(facilitator, aggregate(chain, [pay(approval), { to: token, data: drawn }]))
      return { hash, settlements: [], unpaid: { [token]: 1 } }
    },
  },
]
