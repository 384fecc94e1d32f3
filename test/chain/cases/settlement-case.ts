import { type Address, type Hash, type Hex, keccak256, type LocalAccount, toBytes } from 'viem'
import { accountOf, type Call, type DevChain } from '../../../devnet/chain/chain.ts'
import {
  type Authorization,
  type AuthorizationRequest,
  aggregate,
  mint,
  signAuthorization,
} from '../../../devnet/chain/payments.ts'

/** The four entry points that pay. */
export const selectors = {
  transfer: '0xe3ee160e',
  receive: '0xef55bec6',
  transferBytes: '0xcf092995',
  receiveBytes: '0x88b7ab63',
} as const satisfies Record<string, Hex>

/** A settlement that must be stored, whatever else the transaction did. */
export interface ExpectedSettlement {
  readonly authorization: Authorization
  /** The entry point that was called, and whether the calldata says so or a trace has to. */
  readonly selector: Hex
  readonly source: 'calldata' | 'trace'
  /** What a source without traces infers where the calldata does not say. */
  readonly inferred?: Hex
}

/** A payment that must be stored, by what was done; places and times are the receipt's. */
export interface ExpectedPayment {
  readonly kind: string
  readonly token: Address
  readonly payer: Address
  readonly payee: Address
  readonly gross: bigint
  /** Of a forwarded leg. */
  readonly leg?: { readonly forwarder: Address; readonly depth: number }
}

/** What one transaction must leave behind; nothing else may be stored of it. */
export interface CaseOutcome {
  readonly hash: Hash
  readonly settlements: readonly ExpectedSettlement[]
  /** What else was paid, in log order; default: nothing. */
  readonly payments?: readonly ExpectedPayment[]
  /** Authorizations the tokens used up without paying, by token. */
  readonly unpaid?: Readonly<Record<Address, number>>
}

export interface SettlementCase {
  /** A sentence about the transaction. */
  readonly name: string
  act(stage: Stage): Promise<CaseOutcome>
}

/** The chain and the people of the cases. */
interface Stage {
  readonly chain: DevChain
  readonly payer: LocalAccount
  readonly otherPayer: LocalAccount
  readonly merchant: LocalAccount
  readonly facilitator: LocalAccount
  /** Runs a contract's code once it has delegated to it (EIP-7702); its signatures as bytes are void from then on. */
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

/** Everybody who sends a transaction in a case. */
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
    nonce: nonce + 1, // the transaction itself uses the account's next one
  })
  const call = { to: account.address, data: aggregate(chain, calls).data }
  return chain.send(account, call, { authorizationList: [delegation] })
}
