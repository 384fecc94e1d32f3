import { type Address, encodeFunctionData, parseAbi } from 'viem'
import { dollarAbi } from '../../../devnet/chain/abi.ts'
import type { Call, DevChain } from '../../../devnet/chain/chain.ts'

const proxyAbi = parseAbi([
  'function settle(address token, address owner, address to, uint256 amount, uint256 nonce)',
  'function settleWithPermit(address token, address owner, address to, uint256 amount, uint256 nonce)',
])

interface ProxyPayment {
  readonly owner: Address
  readonly to: Address
  /** Base units. */
  readonly amount: bigint
  /** Default: the chain's native dollar. */
  readonly token?: Address
  /** Used once by this owner; default: the next. */
  readonly nonce?: bigint
  /** Whether the call that brings a permit is made. */
  readonly permit?: boolean
  readonly proxy?: Address | null
}

let nonces = 0n

/** A call of a Permit2 proxy. */
export function payByProxy(chain: DevChain, { owner, to, amount, ...given }: ProxyPayment): Call {
  const { token = dollarOf(chain), nonce = ++nonces, permit = false, proxy = chain.addresses.permit2Proxy } = given
  const functionName = permit ? 'settleWithPermit' : 'settle'
  const data = encodeFunctionData({ abi: proxyAbi, functionName, args: [token, owner, to, amount, nonce] })
  return { to: proxy as Address, data }
}

/** Lets the proxy take the sender's dollars, as Permit2 may once it is approved. */
export function allowProxy(chain: DevChain, token = dollarOf(chain)): Call {
  const args = [chain.addresses.permit2Proxy as Address, 10n ** 12n] as const
  return { to: token, data: encodeFunctionData({ abi: dollarAbi, functionName: 'approve', args }) }
}

export const dollarOf = (chain: DevChain) => chain.addresses.token as Address
