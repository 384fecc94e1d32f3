import {
  type Address,
  concat,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  type LocalAccount,
  parseSignature,
} from 'viem'
import { batcherAbi, bridgedDollarAbi, collectorAbi, columnBatcherAbi, depositCollectorAbi, dollarAbi } from './abi.ts'
import type { Call, DevChain } from './chain.ts'
import { dollarName } from './genesis.ts'

/** A signed EIP-3009 authorization, which can be executed once. */
export interface Authorization {
  readonly kind: AuthorizationKind
  readonly token: Address
  readonly from: Address
  readonly to: Address
  /** Base units: 10^-6 dollars. */
  readonly value: bigint
  readonly nonce: Hex
  readonly validBefore: bigint
  readonly signature: Hex
}

/** Signed message type. `receive`: only the recipient can execute it; `approve`: bridged token only, pays nobody. */
type AuthorizationKind = keyof typeof primaryTypes

export interface AuthorizationRequest {
  readonly to: Address
  /** Base units. */
  readonly value: bigint
  /** 32 bytes, used once by this payer on this token; keccak-256 of anything. */
  readonly nonce: Hex
  readonly kind?: AuthorizationKind
  /** Default: the chain's native dollar. */
  readonly token?: Address
  /** The payer, when it is a contract wallet; `signer` then is the wallet's owner. */
  readonly from?: Address
}

/** 2100-01-01, Unix seconds. */
const validBefore = 4_102_444_800n
const primaryTypes = {
  transfer: 'TransferWithAuthorization',
  receive: 'ReceiveWithAuthorization',
  approve: 'ApproveWithAuthorization',
} as const

/** Signs an EIP-3009 authorization. Valid from the beginning until 2100. */
export async function signAuthorization(
  chain: DevChain,
  signer: LocalAccount,
  { to, value, nonce, kind = 'transfer', token = nativeToken(chain), from = signer.address }: AuthorizationRequest,
): Promise<Authorization> {
  const [payer, recipient] = kind === 'approve' ? ['owner', 'spender'] : ['from', 'to']
  const signature = await signer.signTypedData({
    domain: domainOf(chain, token),
    types: {
      [primaryTypes[kind]]: [
        { name: payer, type: 'address' },
        { name: recipient, type: 'address' },
        { name: 'value', type: 'uint256' },
        { name: 'validAfter', type: 'uint256' },
        { name: 'validBefore', type: 'uint256' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    primaryType: primaryTypes[kind],
    message: { [payer as string]: from, [recipient as string]: to, value, validAfter: 0n, validBefore, nonce },
  })
  return { kind, token, from, to, value, nonce, validBefore, signature }
}

/** Executes an authorization on its token: `split` passes v, r, s of a plain key; `bytes` fits contract wallets too. */
export function pay(authorization: Authorization, form: 'split' | 'bytes' = 'split'): Call {
  const { kind, token, from, to, value, nonce, signature } = authorization
  const common = [from, to, value, 0n, validBefore, nonce] as const
  const { v, r, s } = splitSignature(signature)
  if (kind === 'approve') {
    const args = [...common, v, r, s] as const
    const data = encodeFunctionData({ abi: bridgedDollarAbi, functionName: 'approveWithAuthorization', args })
    return { to: token, data }
  }
  const functionName = kind === 'transfer' ? 'transferWithAuthorization' : 'receiveWithAuthorization'
  const args = form === 'split' ? ([...common, v, r, s] as const) : ([...common, signature] as const)
  return { to: token, data: encodeFunctionData({ abi: dollarAbi, functionName, args }) }
}

/** A call with bytes after its arguments, as some facilitators append to mark themselves. */
export function withTrailer(call: Call, trailer: Hex): Call {
  return { to: call.to, data: concat([call.data, trailer]) }
}

/** Several calls in one transaction, through Multicall3; each may fail alone unless `allowFailure` is false. */
export function aggregate(chain: DevChain, calls: readonly (Call & { readonly allowFailure?: boolean })[]): Call {
  const items = calls.map(({ to, data, allowFailure = true }) => ({ target: to, allowFailure, callData: data }))
  const data = encodeFunctionData({ abi: batcherAbi, functionName: 'aggregate3', args: [items] })
  return { to: chain.addresses.batcher, data }
}

/** Transfers of one token, built by the batch contract: no selector of the token stands in the calldata. */
export function payInColumns(chain: DevChain, authorizations: readonly Authorization[]): Call {
  const signatures = authorizations.map(({ signature }) => splitSignature(signature))
  const columns = {
    from: authorizations.map(({ from }) => from),
    to: authorizations.map(({ to }) => to),
    value: authorizations.map(({ value }) => value),
    nonce: authorizations.map(({ nonce }) => nonce),
    v: signatures.map(({ v }) => v),
    r: signatures.map(({ r }) => r),
    s: signatures.map(({ s }) => s),
  }
  const token = authorizations[0]?.token ?? nativeToken(chain)
  const data = encodeFunctionData({
    abi: columnBatcherAbi,
    functionName: 'payAll',
    args: [token, validBefore, columns],
  })
  return { to: chain.addresses.columnBatcher, data }
}

/** The puller contract draws a payment and passes it on at once; it needs an authorization `receive` to itself. */
export function pull(chain: DevChain, authorization: Authorization, merchant: Address): Call {
  const data = encodeFunctionData({ abi: collectorAbi, functionName: 'pull', args: drawn(authorization, merchant) })
  return { to: chain.addresses.puller, data }
}

/** The escrow draws a payment and keeps it for the merchant; it needs an authorization `receive` to itself. */
export function depositInEscrow(chain: DevChain, authorization: Authorization, merchant: Address): Call {
  const data = encodeFunctionData({ abi: collectorAbi, functionName: 'deposit', args: drawn(authorization, merchant) })
  return { to: chain.addresses.escrow, data }
}

/** The escrow pays out what it holds for the merchant: a plain transfer. */
export function releaseFromEscrow(chain: DevChain, merchant: Address): Call {
  const args = [nativeToken(chain), merchant] as const
  return { to: chain.addresses.escrow, data: encodeFunctionData({ abi: collectorAbi, functionName: 'release', args }) }
}

/** An authorization as the deposit collector takes it. */
const depositOf = ({ token, from, value, nonce, signature }: Authorization) => ({
  token,
  from,
  value,
  validBefore,
  nonce,
  signature,
})

/** An authorization as channels and escrows hand it to the deposit collector. */
export function packed(authorization: Authorization): Hex {
  const components = [
    { name: 'token', type: 'address' },
    { name: 'from', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
    { name: 'signature', type: 'bytes' },
  ] as const
  return encodeAbiParameters([{ type: 'tuple', components }], [depositOf(authorization)])
}

/** An escrow draws the highest amount of a payment: `kept` goes to its store, the rest back to the payer. */
export function collectForEscrow(chain: DevChain, authorization: Authorization, store: Address, kept: bigint): Call {
  const args = [depositOf(authorization), store, kept] as const
  const data = encodeFunctionData({ abi: depositCollectorAbi, functionName: 'collect', args })
  return { to: chain.addresses.depositCollector, data }
}

/** Sends a call for the native token through the forwarder contract. */
export function forwarded(chain: DevChain, call: Call): Call {
  return { to: chain.addresses.forwarder, data: call.data }
}

/** Mints dollars; `value` in base units. */
export function mint(chain: DevChain, to: Address, value: bigint, token = nativeToken(chain)): Call {
  return { to: token, data: encodeFunctionData({ abi: dollarAbi, functionName: 'mint', args: [to, value] }) }
}

/** A plain transfer: no settlement. */
export function transferDollars(chain: DevChain, to: Address, value: bigint, token = nativeToken(chain)): Call {
  return { to: token, data: encodeFunctionData({ abi: dollarAbi, functionName: 'transfer', args: [to, value] }) }
}

function drawn({ token, from, value, nonce, signature }: Authorization, merchant: Address) {
  return [token, from, value, validBefore, nonce, signature, merchant] as const
}

function domainOf(chain: DevChain, token: Address) {
  const bridged = token === chain.addresses.bridgedToken
  const name = token === chain.addresses.token ? dollarName(chain.name) : bridged ? 'USD Coin (PoS)' : 'USD Coin'
  return { name, version: bridged ? '1' : '2', chainId: chain.chainId, verifyingContract: token }
}

function splitSignature(signature: Hex) {
  const { r, s, yParity } = parseSignature(signature)
  return { v: yParity + 27, r, s }
}

/** Throws on a chain without a native dollar. */
function nativeToken({ name, addresses }: DevChain): Address {
  if (!addresses.token) throw new Error(`${name} has no native USDC; name the token`)
  return addresses.token
}
