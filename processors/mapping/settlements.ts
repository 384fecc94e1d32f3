import type { ChainName } from '../../config/chains.ts'
import type { SettlingTransaction } from './block.ts'
import { type BuilderCodes, builderCodesOf } from './builder-codes.ts'
import type { Authorization, Transfer } from './fields.ts'
import { TextCalldata, TextFields } from './hex-fields.ts'
import { Matching } from './matching.ts'
import type { PaymentContracts } from './payment-kinds.ts'
import { type PaymentRow, paymentsOf } from './payments.ts'
import { type ExactAmount, isScaled, millionths, type Tokens } from './scale.ts'
import { inferSelector, isExecutionOf } from './selector.ts'

/** An authorization that was executed and paid. Addresses and hashes are lowercase hex. */
export interface SettlementRow {
  readonly chain: ChainName
  readonly blockNumber: number
  /** Log index of AuthorizationUsed. */
  readonly logIndex: number
  /** Milliseconds since 1970. */
  readonly blockTimestamp: number
  /** Millionths of a dollar, at most 2^63 - 1; of a token with finer units the whole ones. */
  readonly amount: bigint
  readonly token: string
  readonly payer: string
  readonly recipient: string
  readonly facilitator: string
  readonly paymentNonce: string
  readonly txHash: string
  readonly selector: string
  readonly selectorSource: SelectorSource
  /** Builder codes of the transaction; undefined: it has none. */
  readonly codes?: BuilderCodes | undefined
  /** Undefined: the token's base units are millionths. */
  readonly exact?: ExactAmount | undefined
}

/** How the selector was found: in the calldata, in a trace, or inferred from the logs. */
type SelectorSource = 'c' | 't' | 'i'

/** Outcome of the authorizations of one transaction. */
interface Settled {
  readonly settlements: SettlementRow[]
  /** Payments of the transaction besides its settlements. */
  readonly payments: readonly PaymentRow[]
  /** Authorizations that paid nothing, and logs of payment contracts with nothing paid: counted, not stored. */
  readonly unpaid: Pick<Authorization<string>, 'logIndex' | 'token'>[]
}

/** A call that was not reverted. Address and input are lowercase hex. */
export interface TokenCall {
  readonly to: string
  readonly input: string
}

/** Looks up the calls that a transaction made, in its trace; undefined: no source has the trace. */
export type FindCalls = (settling: SettlingTransaction) => Promise<readonly TokenCall[] | undefined>

interface Outcome {
  readonly transfer: Transfer<string>
  readonly selector: string
  readonly source: SelectorSource
}

const maxAmount = 2n ** 63n - 1n

/**
 * The settlements of one transaction, and what else it paid. `findCalls` is called at most once, and only when the
 * calldata leaves an authorization open. Throws when an amount does not fit a row: no dollar token has that supply.
 */
export async function settle(
  chain: ChainName,
  tokens: Tokens,
  settling: SettlingTransaction,
  findCalls: FindCalls,
  contracts: PaymentContracts,
): Promise<Settled> {
  const fields = new TextFields(settling.transaction, settling.logs, tokens)
  const matching = new Matching(fields)
  const outcomes = new Map<Authorization<string>, Outcome>()
  for (const { authorization, transfer, place } of matching.confirmed) {
    const selector = fields.calldata.paymentSelectorAt(place) as string
    outcomes.set(authorization, { transfer, selector, source: 'c' })
  }
  if (matching.open.length > 0) {
    const calls = await findCalls(settling)
    for (const authorization of matching.open) resolve(authorization, calls, settling, matching, outcomes)
  }
  const paid = [...outcomes].map(([{ logIndex, authorizer: payer }, { transfer }]) => ({ logIndex, payer, transfer }))
  const { payments, unpaid } = paymentsOf(chain, settling, paid, contracts, tokens)
  const settled = toRows(chain, settling, fields, outcomes, tokens)
  return { ...settled, payments, unpaid: [...settled.unpaid, ...unpaid] }
}

/** Decides an open authorization by the traces, or without them by the logs. */
function resolve(
  authorization: Authorization<string>,
  calls: readonly TokenCall[] | undefined,
  { transaction, logs }: SettlingTransaction,
  matching: Matching<string>,
  outcomes: Map<Authorization<string>, Outcome>,
) {
  const transfer = matching.next(authorization)
  if (!transfer) return
  // An entry point that pays logs the Transfer right behind; one that approves leaves it to a later transferFrom.
  if (!calls && transfer.logIndex !== authorization.logIndex + 1) return
  const selector = calls ? tracedSelector(authorization, calls) : inferSelector(transaction, logs, transfer)
  if (!selector) return // the token was called by another entry point: an approval, which moves no money
  matching.take(transfer)
  outcomes.set(authorization, { transfer, selector, source: calls ? 't' : 'i' })
}

function tracedSelector(authorization: Authorization<string>, calls: readonly TokenCall[]): string | undefined {
  for (const { to, input } of calls) {
    if (to !== authorization.token) continue
    const calldata = new TextCalldata(input)
    if (isExecutionOf(calldata, 0, authorization)) return calldata.paymentSelectorAt(0)
  }
  return undefined
}

function toRows(
  chain: ChainName,
  { block, transaction }: SettlingTransaction,
  { authorizations }: TextFields,
  outcomes: Map<Authorization<string>, Outcome>,
  tokens: Tokens,
): Pick<Settled, 'settlements' | 'unpaid'> {
  const settled: Pick<Settled, 'settlements' | 'unpaid'> = { settlements: [], unpaid: [] }
  const codes = builderCodesOf(transaction.input)
  for (const authorization of authorizations) {
    const outcome = outcomes.get(authorization)
    if (!outcome) {
      settled.unpaid.push(authorization)
      continue
    }
    const { transfer, selector, source } = outcome
    const baseUnits = BigInt(transfer.amount)
    const decimals = tokens.get(authorization.token)
    const amount = millionths(baseUnits, decimals)
    if (amount > maxAmount) {
      const where = `${chain} block ${block.height}, log ${transfer.logIndex}`
      throw new Error(`${where}: an amount of ${amount} does not fit eight bytes; is this a dollar token?`)
    }
    settled.settlements.push({
      chain,
      blockNumber: block.height,
      logIndex: authorization.logIndex,
      blockTimestamp: block.timestamp,
      amount,
      token: authorization.token,
      payer: authorization.authorizer,
      recipient: transfer.to,
      facilitator: transaction.from,
      paymentNonce: authorization.nonce,
      txHash: transaction.hash,
      selector,
      selectorSource: source,
      codes,
      exact: isScaled(decimals) ? { baseUnits, decimals } : undefined,
    })
  }
  return settled
}
