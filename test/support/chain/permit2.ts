import { type Address, encodeFunctionData, parseAbi } from 'viem'
import { dollarAbi } from '../../../devnet/chain/abi.ts'
import type { Call, DevChain } from '../../../devnet/chain/chain.ts'

const proxyAbi = parseAbi([
  'function settle(address token, address owner, address to, uint256 amount, uint256 nonce)',
  'function settleWithPermit(address token, address owner, address to, uint256 amount, uint256 nonce)',
])

const uptoAbi = parseAbi([
  'function settle(address token, uint256 most, address owner, address to, uint256 amount, address facilitator, uint256 nonce)',
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
  readonly proxy?: Address
}

let nonces = 0n

/** A call of a Permit2 proxy. */
export function payByProxy(chain: DevChain, { owner, to, amount, ...given }: ProxyPayment): Call {
  const { token = dollarOf(chain), nonce = ++nonces, permit = false, proxy = chain.addresses.permit2Proxy } = given
  const functionName = permit ? 'settleWithPermit' : 'settle'
  const data = encodeFunctionData({ abi: proxyAbi, functionName, args: [token, owner, to, amount, nonce] })
  return { to: proxy as Address, data }
}

/** A call of the proxy for amounts up to `most`, which pays when the facilitator makes it. */
export function payUpto(
  chain: DevChain,
  { owner, to, amount, most, facilitator }: ProxyPayment & { readonly most: bigint; readonly facilitator: Address },
): Call {
  const args = [dollarOf(chain), most, owner, to, amount, facilitator, ++nonces] as const
  const data = encodeFunctionData({ abi: uptoAbi, functionName: 'settle', args })
  return { to: chain.addresses.uptoProxy as Address, data }
}

/** Lets a proxy take the sender's dollars, as Permit2 may once it is approved; default: that of fixed amounts. */
export function allowProxy(chain: DevChain, token = dollarOf(chain), proxy = chain.addresses.permit2Proxy): Call {
  const args = [proxy as Address, 10n ** 12n] as const
  return { to: token, data: encodeFunctionData({ abi: dollarAbi, functionName: 'approve', args }) }
}

export const dollarOf = (chain: DevChain) => chain.addresses.token as Address
