import type { Hex, LocalAccount } from 'viem'
import type { DefaultChain } from '../../config/chains.ts'
import type { Call, DevChain } from '../chain/chain.ts'
import {
  burnIdentity,
  giveFeedback,
  type Metadata,
  register,
  registerMany,
  registerPassingOn,
  revokeFeedback,
  setAgentUri,
  setAgentWallet,
  transferIdentity,
} from '../chain/identity.ts'
import {
  aggregate,
  depositInEscrow,
  forwarded,
  pay,
  payInColumns,
  pull,
  signAuthorization,
  withTrailer,
} from '../chain/payments.ts'
import type { Wallet } from './keys.ts'

/** One authorization to be signed and executed. */
export interface Payment {
  readonly payer: Wallet
  readonly recipient: Hex
  /** Base units: 10^-6 dollars. */
  readonly value: bigint
  /** 32 bytes, used once. */
  readonly nonce: Hex
}

/**
 * How a payment reaches the token: `direct` and `receive` are the two listed calls (`receive` is sent by the recipient),
 * `bytes` the overload, `trailer` a direct call with bytes after its arguments; the rest goes through contracts.
 * `pull` and `escrow` are drawn by the contract, which is the recipient; the payment's recipient gets a plain transfer.
 */
export type Route = 'direct' | 'receive' | 'bytes' | 'trailer' | 'batch' | 'columns' | 'forwarded' | 'pull' | 'escrow'

/** Something that somebody does on a chain, in one transaction. */
export type Deed = { readonly chain: DefaultChain } & (
  | { readonly kind: 'register'; readonly by: Wallet; readonly uri?: string; readonly metadata?: readonly Metadata[] }
  | { readonly kind: 'register-many'; readonly by: Wallet; readonly uris: readonly string[]; readonly to: Hex }
  | { readonly kind: 'register-passing-on'; readonly by: Wallet; readonly uri: string; readonly heir: Hex }
  | { readonly kind: 'set-uri'; readonly by: Wallet; readonly agentId: bigint; readonly uri: string }
  | { readonly kind: 'set-wallet'; readonly by: Wallet; readonly agentId: bigint; readonly wallet: Wallet }
  | { readonly kind: 'transfer'; readonly by: Wallet; readonly agentId: bigint; readonly to: Hex }
  | { readonly kind: 'burn'; readonly by: Wallet; readonly agentId: bigint }
  | {
      readonly kind: 'feedback'
      readonly by: Wallet
      readonly agentId: bigint
      readonly value: bigint
      readonly tag: string
    }
  | { readonly kind: 'revoke-feedback'; readonly by: Wallet; readonly agentId: bigint; readonly index: bigint }
  | { readonly kind: 'pay'; readonly by: Wallet; readonly route: Route; readonly payments: readonly Payment[] }
)

interface Transaction {
  readonly from: LocalAccount
  readonly call: Call
  readonly gas: bigint
}

/** Storing a byte of an agentURI costs about 700 gas; the longest of this world has some ten thousand. */
const registerGas = 20_000_000n
const otherGas = 3_000_000n
/** What Coinbase's facilitator appends to its calls: CBOR {"w":"cdp_facil1"}, then an ERC-8021 suffix; 33 bytes. */
const trailer = `0xa161776a6364705f666163696c31000e02${'8021'.repeat(8)}` as const

/** The transaction of a deed; `chain` is the one the deed names. Throws for a payment where there are no dollars. */
export async function toTransaction(chain: DevChain, deed: Deed): Promise<Transaction> {
  const call = deed.kind === 'pay' ? await toPayment(chain, deed.route, deed.payments) : await toCall(chain, deed)
  const gas = /^(register|set-uri)/.test(deed.kind) ? registerGas : otherGas
  return { from: deed.by.account, call, gas }
}

async function toCall(chain: DevChain, deed: Exclude<Deed, { kind: 'pay' }>): Promise<Call> {
  switch (deed.kind) {
    case 'register':
      return register(deed.uri, deed.metadata)
    case 'register-many':
      return registerMany(deed.uris, deed.to)
    case 'register-passing-on':
      return registerPassingOn(deed.uri, deed.heir)
    case 'set-uri':
      return setAgentUri(deed.agentId, deed.uri)
    case 'set-wallet':
      return setAgentWallet(chain, { agentId: deed.agentId, wallet: deed.wallet.account, owner: deed.by.address })
    case 'transfer':
      return transferIdentity(deed.agentId, deed.by.address, deed.to)
    case 'burn':
      return burnIdentity(deed.agentId)
    case 'feedback':
      return giveFeedback({ agentId: deed.agentId, value: deed.value, decimals: 1, tag1: deed.tag })
    case 'revoke-feedback':
      return revokeFeedback(deed.agentId, deed.index)
  }
}

async function toPayment(chain: DevChain, route: Route, payments: readonly Payment[]): Promise<Call> {
  const [first] = payments
  if (!first) throw new RangeError('a payment deed needs at least one payment')
  const kind = route === 'receive' || route === 'pull' || route === 'escrow' ? 'receive' : 'transfer'
  const drawer = route === 'pull' ? chain.addresses.puller : route === 'escrow' ? chain.addresses.escrow : undefined
  const signed = await Promise.all(
    payments.map(({ payer, recipient, value, nonce }) =>
      signAuthorization(chain, payer.account, { to: drawer ?? recipient, value, nonce, kind }),
    ),
  )
  const authorization = signed[0] as (typeof signed)[number]
  switch (route) {
    case 'direct':
    case 'receive':
      return pay(authorization)
    case 'bytes':
      return pay(authorization, 'bytes')
    case 'trailer':
      return withTrailer(pay(authorization), trailer)
    case 'forwarded':
      return forwarded(chain, pay(authorization))
    case 'batch':
      return aggregate(
        chain,
        signed.map((one) => pay(one)),
      )
    case 'columns':
      return payInColumns(chain, signed)
    case 'pull':
      return pull(chain, authorization, first.recipient)
    case 'escrow':
      return depositInEscrow(chain, authorization, first.recipient)
  }
}
