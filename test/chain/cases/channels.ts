import type { Address } from 'viem'
import type { DevChain } from '../../../devnet/chain/chain.ts'
import {
  allInChannels,
  type Channel,
  claimFromChannels,
  fillChannel,
  refundChannel,
  settleChannels,
  withdrawFromChannel,
} from '../../../devnet/chain/channels.ts'
import { aggregate } from '../../../devnet/chain/payments.ts'
import { dollarOf } from '../../support/chain/permit2.ts'
import { type ExpectedPayment, type SettlementCase, type Stage, selectors } from './settlement-case.ts'

const drawn = { selector: selectors.receiveBytes, source: 'trace', inferred: selectors.transfer } as const
const salted = (number: number) => `0x${number.toString(16).padStart(64, '0')}` as const

function channelOf({ chain, payer, merchant }: Pick<Stage, 'chain' | 'payer' | 'merchant'>, salt: number): Channel {
  return { payer: payer.address, receiver: merchant.address, token: dollarOf(chain), salt: salted(salt) }
}

const channelsOf = (chain: DevChain) => chain.addresses.channels as Address

const moved = (kind: string, { payer, receiver, token }: Channel, gross: bigint): ExpectedPayment => ({
  kind,
  token,
  payer,
  payee: receiver,
  gross,
  ...(kind === 'batch_claim' ? {} : { net: 0n }),
})

/** A deposit: paid to its collector, and passed on to the channels. */
function deposit(which: string, salt: number, value: bigint): SettlementCase {
  return {
    name: `a deposit in a channel ${which}`,
    async act(stage) {
      const { chain, facilitator, payer, otherPayer, authorize } = stage
      const { depositCollector } = chain.addresses
      const signer = salt === 4 ? otherPayer : payer
      const channel = { ...channelOf(stage, salt), payer: signer.address }
      const authorization = await authorize(signer, { to: depositCollector, value, kind: 'receive' })
      const hash = await chain.send(facilitator, fillChannel(chain, authorization, channel))
      const forwarding = { forwarder: depositCollector, depth: 1 }
      const passedOn = { kind: 'forwarded', token: channel.token, payer: channel.payer, gross: value, forwarding }
      return {
        hash,
        settlements: [{ authorization, ...drawn }],
        payments: [{ ...passedOn, payee: channelsOf(chain) }, moved('batch_deposit', channel, value)],
      }
    },
  }
}

/** Payment channels: what is deposited, claimed, paid out and given back. */
export const channelCases: SettlementCase[] = [
  deposit('is passed on to the channels, which hold it for the receiver', 1, 90n),
  deposit('of the same payer, under another salt', 3, 40n),
  deposit('of another payer', 4, 30n),
  {
    name: 'claims of two channels in a batch are income from each payer, and paying it out counts nothing more',
    async act(stage) {
      const { chain, facilitator, otherPayer, merchant } = stage
      const mine = channelOf(stage, 1)
      const others = { ...channelOf(stage, 4), payer: otherPayer.address }
      const claim = claimFromChannels(chain, [
        { channel: mine, total: 60n },
        { channel: others, total: 7n },
        { channel: mine, total: 60n },
      ])
      const calls = [claim, settleChannels(chain, merchant.address), settleChannels(chain, merchant.address)]
      const hash = await chain.send(facilitator, aggregate(chain, calls))
      return { hash, settlements: [], payments: [moved('batch_claim', mine, 60n), moved('batch_claim', others, 7n)] }
    },
  },
  {
    name: 'a deposit that is claimed and paid out at once is income once',
    async act(stage) {
      const { chain, payer, merchant, facilitator, authorize } = stage
      const channel = channelOf(stage, 2)
      const { depositCollector } = chain.addresses
      const authorization = await authorize(payer, { to: depositCollector, value: 50n, kind: 'receive' })
      const fill = fillChannel(chain, authorization, channel)
      const claim = claimFromChannels(chain, [{ channel, total: 50n }])
      const hash = await chain.send(
        facilitator,
        allInChannels(chain, [fill, claim, settleChannels(chain, merchant.address)]),
      )
      const forwarding = { forwarder: depositCollector, depth: 1 }
      const common = { token: channel.token, payer: channel.payer, gross: 50n }
      return {
        hash,
        settlements: [{ authorization, ...drawn }],
        payments: [
          { ...common, kind: 'forwarded', payee: channelsOf(chain), forwarding },
          moved('batch_deposit', channel, 50n),
          moved('batch_claim', channel, 50n),
        ],
      }
    },
  },
  {
    name: 'who signs the vouchers pays, whomever the channel names as its payer, and whose money it is stands with it',
    async act(stage) {
      const { chain, payer, otherPayer, facilitator, authorize } = stage
      const unasked = { ...channelOf(stage, 5), payer: facilitator.address, authorizer: otherPayer.address }
      const { depositCollector } = chain.addresses
      const authorization = await authorize(payer, { to: depositCollector, value: 11n, kind: 'receive' })
      const fill = fillChannel(chain, authorization, unasked)
      const claim = claimFromChannels(chain, [{ channel: unasked, total: 11n }])
      const hash = await chain.send(facilitator, allInChannels(chain, [fill, claim]))
      const forwarding = { forwarder: depositCollector, depth: 1 }
      const passedOn = {
        kind: 'forwarded',
        token: unasked.token,
        payer: payer.address,
        payee: channelsOf(chain),
        forwarding,
      }
      const signed = { ...unasked, payer: otherPayer.address }
      return {
        hash,
        settlements: [{ authorization, ...drawn }],
        payments: [
          { ...passedOn, gross: 11n },
          moved('batch_deposit', { ...unasked, payer: payer.address }, 11n),
          { ...moved('batch_claim', signed, 11n), funder: payer.address },
        ],
      }
    },
  },
  {
    name: 'what is unclaimed goes back to the payer, by a refund and by a withdrawal, and was nobody’s income',
    async act(stage) {
      const { chain, facilitator } = stage
      const channel = channelOf(stage, 3)
      const calls = [refundChannel(chain, channel, 15n), withdrawFromChannel(chain, channel)]
      const hash = await chain.send(facilitator, allInChannels(chain, calls))
      const back = [moved('batch_return', channel, 15n), moved('batch_return', channel, 25n)]
      return { hash, settlements: [], payments: back }
    },
  },
  deposit('that is empty, which creates it again', 3, 20n),
  {
    name: 'a refund of a channel with nothing free leaves nothing, and a withdrawal of nothing is only counted',
    async act(stage) {
      const { chain, facilitator } = stage
      const channel = channelOf(stage, 2)
      const calls = [refundChannel(chain, channel, 15n), withdrawFromChannel(chain, channel)]
      const hash = await chain.send(facilitator, allInChannels(chain, calls))
      return { hash, settlements: [], unpaid: { [channelsOf(chain)]: 1 } }
    },
  },
  {
    name: 'a claim of more than a channel holds is refused inside a batch and pays nobody',
    async act(stage) {
      const { chain, facilitator } = stage
      const claim = claimFromChannels(chain, [{ channel: channelOf(stage, 1), total: 91n }])
      return { hash: await chain.send(facilitator, aggregate(chain, [claim])), settlements: [] }
    },
  },
]
