import { type Address, type Hash, type Hex, keccak256, type LocalAccount, toBytes } from 'viem'
import { accountOf, type Call, type DevChain } from '../../../devnet/chain/chain.ts'
import {
  type Authorization,
  type AuthorizationRequest,
  aggregate,
  mint,
  signAuthorization,
} from '../../../devnet/chain/payments.ts'
import { until } from '../../support/until.ts'

/** Selectors of the four EIP-3009 functions that pay, with the signature as v, r, s or as bytes. */
export const selectors = {
  transfer: '0xe3ee160e',
  receive: '0xef55bec6',
  transferBytes: '0xcf092995',
  receiveBytes: '0x88b7ab63',
} as const satisfies Record<string, Hex>

/** A settlement that must be stored, whatever else the transaction did. */
export interface ExpectedSettlement {
  readonly authorization: Authorization
  /** Selector that the token was called with; `source`: whether the calldata shows it or only a trace. */
  readonly selector: Hex
  readonly source: 'calldata' | 'trace'
  /** Selector that a source without traces infers when `source` is `trace`; undefined: none. */
  readonly inferred?: Hex
}

/** A payment other than a settlement that must be stored; block, log index and time come from the receipt. */
export interface ExpectedPayment {
  readonly kind: string
  readonly token: Address
  readonly payer: Address
  readonly payee: Address
  readonly gross: bigint
  /** Default: all of it. */
  readonly net?: bigint
  /** Who put the money there, if that is not the payer; default: nobody. */
  readonly funder?: Address
  /** Forwarder and depth of a forwarded payment; undefined: a payment that a contract logs. */
  readonly forwarding?: { readonly forwarder: Address; readonly depth: number }
}

/** The rows that one transaction must leave; no others may be stored of it. */
export interface CaseOutcome {
  readonly hash: Hash
  readonly settlements: readonly ExpectedSettlement[]
  /** Payments other than settlements, in log order; default: none. */
  readonly payments?: readonly ExpectedPayment[]
  /** Count of authorizations used up without a payment, by token; default: none. */
  readonly unpaid?: Readonly<Record<Address, number>>
}

export interface SettlementCase {
  /** Describes the transaction, as the test's name. */
  readonly name: string
  act(stage: Stage): Promise<CaseOutcome>
}

/** The local chain, and the accounts of the cases. */
export interface Stage {
  readonly chain: DevChain
  readonly payer: LocalAccount
  readonly otherPayer: LocalAccount
  readonly merchant: LocalAccount
  readonly facilitator: LocalAccount
  /** An account that delegates to a contract (EIP-7702); its signatures as bytes are invalid from then on. */
  readonly delegator: LocalAccount
  /** Signs an authorization under a fresh nonce, unless one is given. */
  authorize(
    signer: LocalAccount,
    request: Omit<AuthorizationRequest, 'nonce'> & { nonce?: Hex },
  ): Promise<Authorization>
}

const people = {
  payer: accountOf('payer of the cases'),
  otherPayer: accountOf('other payer of the cases'),
  merchant: accountOf('merchant of the cases'),
  facilitator: accountOf('facilitator of the cases'),
  delegator: accountOf('delegator of the cases'),
}

/** Addresses of all accounts that send a transaction in a case; they need funds for gas. */
export const castAddresses = Object.values(people).map(({ address }) => address)

/** Millionths of a dollar that each payer starts with, on each token. */
const purse = 1_000_000_000n

/** Gives the payers dollars of every kind. The chain must have a native dollar. */
export async function setStage(chain: DevChain): Promise<Stage> {
  const { token, bridgedToken, unlistedToken } = chain.addresses
  for (const dollar of [token, bridgedToken, unlistedToken] as Address[]) {
    for (const { address } of [people.payer, people.otherPayer, people.delegator]) {
      await chain.execute(people.facilitator, mint(chain, address, purse, dollar))
    }
  }
  let nonces = 0
  return {
    chain,
    ...people,
    authorize(signer, request) {
      const nonce = request.nonce ?? keccak256(toBytes(`nonce ${++nonces} of the cases`))
      return signAuthorization(chain, signer, { ...request, nonce })
    },
  }
}

/** An EIP-7702 transaction to the sender itself: its account runs the batch contract's code. */
export async function sendDelegated(chain: DevChain, account: LocalAccount, calls: readonly Call[]) {
  if (!account.signAuthorization) throw new Error('a delegating account signs with its key')
  const nonce = await chain.client.getTransactionCount({ address: account.address })
  const delegation = await account.signAuthorization({
    contractAddress: chain.addresses.batcher,
    chainId: chain.chainId,
    nonce: nonce + 1, // the transaction itself uses the account's next nonce
  })
  const call = { to: account.address, data: aggregate(chain, calls).data }
  const hash = await chain.send(account, call, { authorizationList: [delegation] })
  await chain.mined(hash)
  // A delegation uses a nonce more. The node counts it once its pool has let go of the mined transaction.
  const counted = () => chain.client.getTransactionCount({ address: account.address, blockTag: 'pending' })
  await until('the nonces of the delegation are counted', async () => (await counted()) >= nonce + 2)
  return hash
}
