import {
  aggregate,
  depositInEscrow,
  pay,
  payInColumns,
  pull,
  releaseFromEscrow,
} from '../../../devnet/chain/payments.ts'
import { type SettlementCase, selectors } from './settlement-case.ts'

/** Contracts that build the call to the token themselves, so that the calldata does not show its entry point. */
export const contractCases: SettlementCase[] = [
  {
    name: 'a batch contract that builds its calls from columns',
    async act({ chain, payer, otherPayer, merchant, facilitator, authorize }) {
      const first = await authorize(payer, { to: merchant.address, value: 31n })
      const second = await authorize(otherPayer, { to: merchant.address, value: 32n })
      const third = await authorize(payer, { to: merchant.address, value: 31n })
      const hash = await chain.send(facilitator, payInColumns(chain, [first, second, third]))
      const found = { selector: selectors.transfer, source: 'trace', inferred: selectors.transfer } as const
      return {
        hash,
        settlements: [first, second, third].map((authorization) => ({ authorization, ...found })),
      }
    },
  },
  {
    name: 'a contract that draws the payment and passes it on was paid itself, and nobody else',
    async act({ chain, payer, merchant, facilitator, authorize }) {
      const { puller } = chain.addresses
      const authorization = await authorize(payer, { to: puller, value: 33n, kind: 'receive' })
      const hash = await chain.send(facilitator, pull(chain, authorization, merchant.address))
      const forwarding = { forwarder: puller, depth: 1 }
      const { token } = authorization
      return {
        hash,
        payments: [{ kind: 'forwarded', token, payer: payer.address, payee: merchant.address, gross: 33n, forwarding }],
        settlements: [
          { authorization, selector: selectors.receiveBytes, source: 'trace', inferred: selectors.receive },
        ],
      }
    },
  },
  {
    name: 'an escrow is paid when it draws the payment',
    async act({ chain, payer, merchant, facilitator, authorize }) {
      const { escrow } = chain.addresses
      const authorization = await authorize(payer, { to: escrow, value: 34n, kind: 'receive' })
      const hash = await chain.send(facilitator, depositInEscrow(chain, authorization, merchant.address))
      return {
        hash,
        settlements: [
          { authorization, selector: selectors.receiveBytes, source: 'trace', inferred: selectors.receive },
        ],
      }
    },
  },
  {
    name: 'what an escrow pays out later is no settlement',
    async act({ chain, merchant, facilitator }) {
      return { hash: await chain.send(facilitator, releaseFromEscrow(chain, merchant.address)), settlements: [] }
    },
  },
  {
    name: 'a decoy next to a built call: the same nonce and payer, another recipient',
    async act({ chain, payer, otherPayer, merchant, facilitator, authorize }) {
      const authorization = await authorize(payer, { to: merchant.address, value: 35n })
      const decoy = pay({ ...authorization, to: otherPayer.address }, 'bytes')
      const hash = await chain.send(facilitator, aggregate(chain, [decoy, payInColumns(chain, [authorization])]))
      return {
        hash,
        settlements: [{ authorization, selector: selectors.transfer, source: 'trace', inferred: selectors.transfer }],
      }
    },
  },
  {
    name: 'a built call that was undone with its parent, before the one that paid by another entry point',
    async act({ chain, payer, merchant, facilitator, authorize }) {
      const { puller } = chain.addresses
      const authorization = await authorize(payer, { to: merchant.address, value: 36n })
      const { nonce } = authorization
      const drawn = await authorize(payer, { to: puller, value: 36n, nonce, kind: 'receive' })
      const forged = { ...(await authorize(payer, { to: merchant.address, value: 37n })), value: 38n }
      const undone = [pull(chain, drawn, merchant.address), { ...pay(forged), allowFailure: false }]
      const calls = [aggregate(chain, undone), payInColumns(chain, [authorization])]
      const hash = await chain.send(facilitator, aggregate(chain, calls))
      return {
        hash,
        settlements: [{ authorization, selector: selectors.transfer, source: 'trace', inferred: selectors.transfer }],
      }
    },
  },
  {
    name: 'a built call between two that stand in the calldata, all of one payer and one amount',
    async act({ chain, payer, merchant, facilitator, authorize }) {
      const first = await authorize(payer, { to: merchant.address, value: 39n })
      const built = await authorize(payer, { to: merchant.address, value: 39n })
      const last = await authorize(payer, { to: merchant.address, value: 39n })
      const calls = [pay(first, 'bytes'), payInColumns(chain, [built]), pay(last, 'bytes')]
      const hash = await chain.send(facilitator, aggregate(chain, calls))
      return {
        hash,
        settlements: [
          { authorization: first, selector: selectors.transferBytes, source: 'calldata' },
          { authorization: built, selector: selectors.transfer, source: 'trace', inferred: selectors.transfer },
          { authorization: last, selector: selectors.transferBytes, source: 'calldata' },
        ],
      }
    },
  },
]
