import { type Address, encodeFunctionData, parseAbi } from 'viem'
import { dollarAbi } from '../../../devnet/chain/abi.ts'
import type { Call, DevChain } from '../../../devnet/chain/chain.ts'

const structs = [
  'struct TokenPermissions { address token; uint256 amount; }',
  'struct Permit { TokenPermissions permitted; uint256 nonce; uint256 deadline; }',
  'struct AllowancePermit { uint256 value; uint256 deadline; bytes32 r; bytes32 s; uint8 v; }',
] as const

/** ABI of the Permit2 proxies. Source: x402-foundation/x402, contracts/evm/src. */
export const proxyAbi = parseAbi([
  ...structs,
  'struct Witness { address to; uint256 validAfter; }',
  'function settle(Permit permit, address owner, Witness witness, bytes signature)',
  'function settleWithPermit(AllowancePermit permit2612, Permit permit, address owner, Witness witness, bytes signature)',
])

export const uptoAbi = parseAbi([
  ...structs,
  'struct Witness { address to; address facilitator; uint256 validAfter; }',
  'function settle(Permit permit, uint256 amount, address owner, Witness witness, bytes signature)',
])

/** 2100-01-01, Unix seconds. */
const deadline = 4_102_444_800n
const word = `0x${'07'.repeat(32)}` as const
/** A placeholder: the proxies of the local chains do not check signatures. */
const signature = `0x${'07'.repeat(65)}` as const

interface ProxyPayment {
  readonly owner: Address
  readonly to: Address
  /** Base units. */
  readonly amount: bigint
  /** Default: the chain's native dollar. */
  readonly token?: Address
  /** Single-use nonce of this owner; default: the next one. */
  readonly nonce?: bigint
  /** Whether to call the variant that submits an EIP-2612 permit first. Default: no. */
  readonly permit?: boolean
  readonly proxy?: Address
}

let nonces = 0n

/** A call of a Permit2 proxy. */
export function payByProxy(chain: DevChain, { owner, to, amount, ...given }: ProxyPayment): Call {
  const { token = dollarOf(chain), nonce = ++nonces, permit = false, proxy = chain.addresses.permit2Proxy } = given
  const signed = { permitted: { token, amount }, nonce, deadline }
  const common = [signed, owner, { to, validAfter: 0n }, signature] as const
  const allowance = { value: amount, deadline, r: word, s: word, v: 27 }
  const data = permit
    ? encodeFunctionData({ abi: proxyAbi, functionName: 'settleWithPermit', args: [allowance, ...common] })
    : encodeFunctionData({ abi: proxyAbi, functionName: 'settle', args: common })
  return { to: proxy as Address, data }
}

/** A call of the proxy for amounts up to `most`, which pays when the facilitator makes it. */
export function payUpto(
  chain: DevChain,
  { owner, to, amount, most, facilitator }: ProxyPayment & { readonly most: bigint; readonly facilitator: Address },
): Call {
  const signed = { permitted: { token: dollarOf(chain), amount: most }, nonce: ++nonces, deadline }
  const args = [signed, amount, owner, { to, facilitator, validAfter: 0n }, signature] as const
  const data = encodeFunctionData({ abi: uptoAbi, functionName: 'settle', args })
  return { to: chain.addresses.uptoProxy as Address, data }
}

/** Approves a proxy for the sender's dollars, in place of Permit2; default: the proxy of fixed amounts. */
export function allowProxy(chain: DevChain, token = dollarOf(chain), proxy = chain.addresses.permit2Proxy): Call {
  const args = [proxy as Address, 10n ** 24n] as const
  return { to: token, data: encodeFunctionData({ abi: dollarAbi, functionName: 'approve', args }) }
}

export const dollarOf = (chain: DevChain) => chain.addresses.token as Address
