import { events } from '../../../abi/generated/batch-settlement.ts'
import type { PaymentKind } from '../../../config/payments.ts'
import { addressOf, type ChainLog } from '../block.ts'
import { toTransfer } from '../hex-fields.ts'
import { isTransfer, type KindRule } from './rule.ts'
import { hashOf, type Struct, textHash, wordOf } from './structs.ts'

const channelType = textHash(
  'ChannelConfig(address payer,address payerAuthorizer,address receiver,address receiverAuthorizer,address token,' +
    'uint40 withdrawDelay,bytes32 salt)',
)
const domainWords = [
  textHash('EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)'),
  textHash('x402 Batch Settlement'),
  textHash('1'),
]

/** Its name is the hash of it as EIP-712 typed data, so it differs by chain. */
const channel: Struct = {
  // payer, payerAuthorizer, receiver, receiverAuthorizer, token, withdrawDelay, salt
  digits: [40, 40, 40, 40, 40, 10, 64],
  namesOf(chainId, contract) {
    const domain = hashOf([...domainWords, wordOf(chainId), wordOf(contract)].join(''))
    return (words) => `0x${hashOf(`1901${domain}${hashOf([channelType, ...words].join(''))}`)}`
  },
}

/**
 * Payment channels of x402's batch-settlement. A payer deposits, a receiver claims what the payer's vouchers allow, and
 * what is unclaimed may go back. A claim is the receiver's income and final: refunds and withdrawals reach
 * only what is unclaimed. When it is paid out, in one sum for many payers, is another matter, and no income again.
 *
 * A log names its channel by a hash of the configuration, which every call of the contract is given whole.
 *
 * Source: x402-foundation/x402, contracts/evm/src/x402BatchSettlement.sol.
 */
export const channels: KindRule = {
  topic0: [events.Claimed.topic, events.Deposited.topic, events.Refunded.topic, events.WithdrawFinalized.topic],
  subject: channel,
  read(log, { logs, subject }) {
    if (!subject) return undefined
    const [owner = '', authorizer = '', receiver = '', , token = ''] = subject
    // Who signs the vouchers pays. With an authorizer the owner has signed nothing: anybody may open and fill a channel in
    // the name of an address that never heard of it. Not in the receiver's own: it claims, so it knows, and what it put in
    // itself is no income whatever keys sign for it.
    const signer = addressOf(/^0*$/.test(authorizer) || owner === receiver ? owner : authorizer)
    const { kind, amount } = movedBy(log)
    if (amount === 0n) return undefined
    // A key that signs costs nothing: so a deposit is by whom its money came from, and the claims of the channel find it.
    const payer = kind === 'batch_deposit' ? (sourceOf(addressOf(token), amount, log, logs) ?? signer) : signer
    return {
      kind,
      payer,
      payee: addressOf(receiver),
      token: addressOf(token),
      subject: log.topics[1],
      gross: amount,
      net: kind === 'batch_claim' ? amount : 0n,
      transfer: undefined,
    }
  },
}

/** Most transfers of a deposit that are followed to where its money came from: collectors pass it on. */
const maxHops = 5

/**
 * Who gave the money that a contract logged as a deposit: by the transfers of the whole amount before the log, from
 * the last one to the contract back to the first of them. Undefined: no such transfer.
 */
function sourceOf(token: string, amount: bigint, { address, logIndex }: ChainLog, logs: readonly ChainLog[]) {
  const moves = logs
    .filter((log) => log.address === token && log.logIndex < logIndex && isTransfer(log))
    .map((log) => toTransfer(log, 0))
    .filter((transfer) => BigInt(transfer.amount) === amount)
  let source: string | undefined
  for (let hop = 0; hop < maxHops; hop++) {
    const at = moves.findLastIndex(({ to }) => to === (source ?? address))
    if (at < 0) break
    source = moves[at]?.from
    moves.length = at
  }
  return source
}

function movedBy(log: ChainLog): { kind: PaymentKind; amount: bigint } {
  if (events.Claimed.is(log)) return { kind: 'batch_claim', amount: events.Claimed.decode(log).claimAmount }
  if (events.Deposited.is(log)) return { kind: 'batch_deposit', amount: events.Deposited.decode(log).amount }
  const back = events.Refunded.is(log) ? events.Refunded : events.WithdrawFinalized
  return { kind: 'batch_return', amount: back.decode(log).amount }
}
