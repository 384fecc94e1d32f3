import { events } from '../../../abi/generated/jobs.ts'
import { addressOf, type ChainLog } from '../block.ts'
import type { Transfer } from '../fields.ts'
import { toTransfer } from '../hex-fields.ts'
import { isTransfer, type KindRule } from './rule.ts'

/**
 * Jobs of ERC-8183. A client funds a job; when its evaluator is content, what the job holds is paid to the provider without
 * the fees, in parts perhaps, and what is not goes back. Only what is paid is income. No log of a payment says who funded
 * the job: as payer the row has the contract, until the table finds the client in the funding of the same subject.
 *
 * The logs have the same form in both codes that are in use, of which one has a token for each job and the other one
 * token, and both log them behind the transfer that they tell of. Other escrows log `PaymentReleased` too, and an amount
 * that nothing moved: so the contract's own transfer is demanded, which names the token.
 *
 * Source: ERC-8183, and erc-8183/base-contracts, contracts/AgenticCommerce.sol and contracts/ERC8183.sol.
 */
export const jobs: KindRule = {
  topic0: [events.JobFunded.topic, events.PaymentReleased.topic, events.Refunded.topic],
  read(log, { before, logs }) {
    const { address: contract, topics } = log
    const party = addressOf(topics[2] ?? '')
    const subject = `${contract}${topics[1]?.slice(2) ?? ''}`
    if (events.JobFunded.is(log)) {
      // Of all logs before it: a client may fund by an authorization, whose transfer is a settlement's.
      const earlier = logs.filter(({ logIndex }) => logIndex < log.logIndex)
      const { amount } = events.JobFunded.decode(log)
      const transfer = transferOf(earlier, amount, ({ to }) => to === contract)
      return transfer && { kind: 'job_funding', ...held(transfer, amount), payer: party, payee: contract, subject }
    }
    const isRelease = events.PaymentReleased.is(log)
    const { amount } = (isRelease ? events.PaymentReleased : events.Refunded).decode(log)
    const transfer = transferOf(before, amount, ({ from, to }) => from === contract && to === party)
    if (!transfer) return undefined
    if (!isRelease) return { kind: 'job_return', ...held(transfer, amount), payer: party, payee: contract, subject }
    const { token } = transfer
    return { kind: 'job_release', token, payer: contract, payee: party, gross: amount, net: amount, transfer, subject }
  },
}

const held = ({ token }: Transfer<string>, gross: bigint) => ({ token, gross, net: 0n, transfer: undefined })

/** The last transfer of an amount, which is more than nothing, that a condition holds for. */
function transferOf(logs: readonly ChainLog[], amount: bigint, holds: (transfer: Transfer<string>) => boolean) {
  if (amount === 0n) return undefined
  return logs
    .filter(isTransfer)
    .map((log) => toTransfer(log, 0))
    .findLast((transfer) => BigInt(transfer.amount) === amount && holds(transfer))
}
