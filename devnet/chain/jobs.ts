import { type Address, encodeFunctionData } from 'viem'
import { jobsAbi } from './abi.ts'
import type { Call, DevChain } from './chain.ts'

/** Opens a job of whoever sends the call, for a provider, paid in a token. Jobs are numbered from 1. */
export function createJob(chain: DevChain, provider: Address, token: Address): Call {
  return callOf(chain, encodeFunctionData({ abi: jobsAbi, functionName: 'createJob', args: [provider, token] }))
}

/** The client of a job puts money into it, which it has allowed the contract to take. */
export function fundJob(chain: DevChain, job: bigint, amount: bigint): Call {
  return callOf(chain, encodeFunctionData({ abi: jobsAbi, functionName: 'fund', args: [job, amount] }))
}

/** A job pays its provider a part of what it holds, less a fee. */
export function completeJob(chain: DevChain, job: bigint, amount: bigint, fee = 0n): Call {
  return callOf(chain, encodeFunctionData({ abi: jobsAbi, functionName: 'complete', args: [job, amount, fee] }))
}

/** The client takes back what a job holds. */
export function refundJob(chain: DevChain, job: bigint): Call {
  return callOf(chain, encodeFunctionData({ abi: jobsAbi, functionName: 'claimRefund', args: [job] }))
}

const callOf = ({ addresses }: DevChain, data: Call['data']): Call => ({ to: addresses.jobs, data })
