import { type Address, encodeFunctionData } from 'viem'
import { commerceEscrowAbi } from './abi.ts'
import type { Call, DevChain } from './chain.ts'
import { type Authorization, packed } from './payments.ts'

/** A payment through an escrow: who moves it, who pays, and who is paid. */
export interface EscrowPayment {
  readonly operator: Address
  readonly payer: Address
  readonly receiver: Address
  readonly token: Address
  /** Tells two payments of the same people apart. */
  readonly salt: bigint
}

/** A part of what is captured or charged that somebody else gets. */
interface Fee {
  readonly amount: bigint
  readonly receiver: Address
}
const noFee: Fee = { amount: 0n, receiver: '0x0000000000000000000000000000000000000000' }

/** The escrow holds what a payer authorized; it needs an authorization `receive` to the deposit collector. */
export function authorizePayment(chain: DevChain, payment: EscrowPayment, authorization: Authorization): Call {
  const { depositCollector } = chain.addresses
  const args = [infoOf(payment), authorization.value, depositCollector, packed(authorization)] as const
  return callOf(chain, encodeFunctionData({ abi: commerceEscrowAbi, functionName: 'authorize', args }))
}

/** The escrow draws a payment, as `authorizePayment`, and pays it out at once. */
export function chargePayment(
  chain: DevChain,
  payment: EscrowPayment,
  authorization: Authorization,
  fee: Fee = noFee,
): Call {
  const { depositCollector } = chain.addresses
  const { value } = authorization
  const args = [infoOf(payment), value, depositCollector, packed(authorization), fee.amount, fee.receiver] as const
  return callOf(chain, encodeFunctionData({ abi: commerceEscrowAbi, functionName: 'charge', args }))
}

/** The receiver gets a part of what is held, less a fee. */
export function capturePayment(chain: DevChain, payment: EscrowPayment, amount: bigint, fee: Fee = noFee): Call {
  const args = [infoOf(payment), amount, fee.amount, fee.receiver] as const
  return callOf(chain, encodeFunctionData({ abi: commerceEscrowAbi, functionName: 'capture', args }))
}

/** All that is held goes back to the payer: the operator voids it, or the payer reclaims it. */
export function returnPayment(chain: DevChain, payment: EscrowPayment, functionName: 'void' | 'reclaim'): Call {
  return callOf(chain, encodeFunctionData({ abi: commerceEscrowAbi, functionName, args: [infoOf(payment)] }))
}

/** What was captured goes back to the payer, of the operator's own money, which it has allowed the escrow to take. */
export function refundPayment(chain: DevChain, payment: EscrowPayment, amount: bigint): Call {
  const args = [infoOf(payment), amount, chain.addresses.depositCollector, '0x'] as const
  return callOf(chain, encodeFunctionData({ abi: commerceEscrowAbi, functionName: 'refund', args }))
}

/** The escrow of the chain. Throws on a chain without one. */
export function escrowOf({ name, addresses }: DevChain): Address {
  if (!addresses.commerceEscrow) throw new Error(`${name} has no escrow of commerce-payments`)
  return addresses.commerceEscrow
}

const callOf = (chain: DevChain, data: Call['data']): Call => ({ to: escrowOf(chain), data })
const never = 2 ** 47

const infoOf = (payment: EscrowPayment) => ({
  ...payment,
  maxAmount: 2n ** 119n,
  preApprovalExpiry: never,
  authorizationExpiry: never,
  refundExpiry: never,
  minFeeBps: 0,
  maxFeeBps: 10_000,
  feeReceiver: noFee.receiver,
})
