import { encodeFunctionData } from 'viem'
import { dollarAbi } from '../../../devnet/chain/abi.ts'
import { completeJob, createJob, fundJob, refundJob } from '../../../devnet/chain/jobs.ts'
import { aggregate, pay } from '../../../devnet/chain/payments.ts'
import { dollarOf } from '../../support/chain/permit2.ts'
import { type ExpectedPayment, type SettlementCase, type Stage, selectors } from './settlement-case.ts'

// Jobs are numbered as they are created: each funding creates one.

const held = (kind: string, { chain, otherPayer }: Stage, gross: bigint): ExpectedPayment => ({
  kind,
  token: dollarOf(chain),
  payer: otherPayer.address,
  payee: chain.addresses.jobs,
  gross,
  net: 0n,
})

/** A release; the client of every job is the other payer. */
const released = ({ chain, otherPayer, merchant }: Stage, gross: bigint): ExpectedPayment => ({
  kind: 'job_release',
  token: dollarOf(chain),
  payer: otherPayer.address,
  payee: merchant.address,
  gross,
})

function funding(which: string, job: bigint, amount: bigint): SettlementCase {
  return {
    name: `a client funds ${which}`,
    async act(stage) {
      const { chain, otherPayer, merchant } = stage
      const approve = encodeFunctionData({
        abi: dollarAbi,
        functionName: 'approve',
        args: [chain.addresses.jobs, amount],
      })
      await chain.execute(otherPayer, { to: dollarOf(chain), data: approve })
      await chain.execute(otherPayer, createJob(chain, merchant.address, dollarOf(chain)))
      const hash = await chain.send(otherPayer, fundJob(chain, job, amount))
      if (amount === 0n) return { hash, settlements: [], unpaid: { [chain.addresses.jobs]: 1 } }
      return { hash, settlements: [], payments: [held('job_funding', stage, amount)] }
    },
  }
}

/** Jobs of ERC-8183: what is funded, paid in parts, and given back. */
export const jobCases: SettlementCase[] = [
  funding('a job, which is nobody’s income', 1n, 100n),
  funding('another job', 2n, 30n),
  funding('a job with nothing, which is only counted', 3n, 0n),
  funding('a job that is never paid', 4n, 25n),
  {
    name: 'what a job pays is income from the client that funded it, without the fee',
    async act(stage) {
      const { chain, facilitator } = stage
      const hash = await chain.send(facilitator, completeJob(chain, 1n, 60n, 6n))
      return { hash, settlements: [], payments: [released(stage, 54n)] }
    },
  },
  {
    name: 'parts of two jobs in a batch are a payment each',
    async act(stage) {
      const { chain, facilitator } = stage
      const calls = [completeJob(chain, 1n, 10n), completeJob(chain, 2n, 10n), completeJob(chain, 1n, 5n)]
      const hash = await chain.send(facilitator, aggregate(chain, calls))
      return { hash, settlements: [], payments: [released(stage, 10n), released(stage, 10n), released(stage, 5n)] }
    },
  },
  {
    name: 'a settlement next to it is another payment',
    async act(stage) {
      const { chain, payer, merchant, facilitator, authorize } = stage
      const authorization = await authorize(payer, { to: merchant.address, value: 7n })
      const hash = await chain.send(facilitator, aggregate(chain, [pay(authorization), completeJob(chain, 2n, 7n)]))
      const settlements = [{ authorization, selector: selectors.transfer, source: 'calldata' as const }]
      return { hash, settlements, payments: [released(stage, 7n)] }
    },
  },
  {
    name: 'a job that completes and pays nothing is only counted',
    async act(stage) {
      const { chain, facilitator } = stage
      const hash = await chain.send(facilitator, completeJob(chain, 3n, 0n))
      return { hash, settlements: [], unpaid: { [chain.addresses.jobs]: 1 } }
    },
  },
  {
    name: 'what goes back to the client was nobody’s income',
    async act(stage) {
      const { chain, facilitator } = stage
      const hash = await chain.send(facilitator, refundJob(chain, 1n))
      return { hash, settlements: [], payments: [held('job_return', stage, 25n)] }
    },
  },
]
