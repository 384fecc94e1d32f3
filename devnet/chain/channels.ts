import { type Address, encodeFunctionData, type Hex, keccak256, toBytes } from 'viem'
import { channelsAbi } from './abi.ts'
import type { Call, DevChain } from './chain.ts'
import { type Authorization, packed } from './payments.ts'

/** A payment channel: whose money it holds, and for whom. */
export interface Channel {
  readonly payer: Address
  /** Who signs its vouchers; the zero address: the payer. Absent: the payer, by name. */
  readonly authorizer?: Address
  readonly receiver: Address
  readonly token: Address
  /** Tells two channels of the same people apart. */
  readonly salt?: Hex
}

/** Funds a channel; it needs an authorization `receive` to the deposit collector. */
export function fillChannel(chain: DevChain, authorization: Authorization, channel: Channel): Call {
  const { value } = authorization
  const args = [configOf(channel), value, chain.addresses.depositCollector, packed(authorization)] as const
  return { to: channelsOf(chain), data: encodeFunctionData({ abi: channelsAbi, functionName: 'deposit', args }) }
}

/** The receivers claim as earned what channels hold, up to `total` of each since it was opened; no token moves. */
export function claimFromChannels(
  chain: DevChain,
  claims: readonly { readonly channel: Channel; readonly total: bigint }[],
): Call {
  const rows = claims.map(({ channel, total }) => ({
    voucher: { channel: configOf(channel), maxClaimableAmount: total },
    signature: placeholder,
    totalClaimed: total,
  }))
  const data = encodeFunctionData({ abi: channelsAbi, functionName: 'claim', args: [rows] })
  return { to: channelsOf(chain), data }
}

/** The channels pay out what a receiver earned: a plain transfer. */
export function settleChannels(chain: DevChain, receiver: Address): Call {
  const args = [receiver, chain.addresses.token as Address] as const
  return { to: channelsOf(chain), data: encodeFunctionData({ abi: channelsAbi, functionName: 'settle', args }) }
}

/** The receiver gives back what is unclaimed, up to an amount. */
export function refundChannel(chain: DevChain, channel: Channel, amount: bigint): Call {
  const args = [configOf(channel), amount] as const
  return { to: channelsOf(chain), data: encodeFunctionData({ abi: channelsAbi, functionName: 'refund', args }) }
}

/** The payer takes back all that is unclaimed. */
export function withdrawFromChannel(chain: DevChain, channel: Channel): Call {
  const args = [configOf(channel)] as const
  return {
    to: channelsOf(chain),
    data: encodeFunctionData({ abi: channelsAbi, functionName: 'finalizeWithdraw', args }),
  }
}

/** Calls of the channels in one. */
export function allInChannels(chain: DevChain, calls: readonly Call[]): Call {
  const args = [calls.map(({ data }) => data)] as const
  return { to: channelsOf(chain), data: encodeFunctionData({ abi: channelsAbi, functionName: 'multicall', args }) }
}

/** The channels of the local chains check no signatures of vouchers. */
const placeholder = `0x${'07'.repeat(65)}` as const
const withdrawDelay = 86_400

function configOf({ payer, authorizer = payer, receiver, token, salt = keccak256(toBytes('channel')) }: Channel) {
  return { payer, payerAuthorizer: authorizer, receiver, receiverAuthorizer: receiver, token, withdrawDelay, salt }
}

/** Throws on a chain without channels. */
function channelsOf({ name, addresses }: DevChain): Address {
  if (!addresses.channels) throw new Error(`${name} has no channels`)
  return addresses.channels
}
