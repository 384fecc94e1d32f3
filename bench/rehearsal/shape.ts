import { busiestChain, chainNames, chainOf } from '../../config/chains.ts'
import { chunkBlocks, chunkRows, mainnetLikeChain, type PaymentChain } from '../payment-chain.ts'

/** Size of a rehearsal. The busiest chain's blocks come in this order: loaded, edge, heads. */
export interface Shape {
  readonly rows: number
  readonly payments: PaymentChain
  /** Blocks that are loaded first: whole partitions up to the edge. */
  readonly loaded: { readonly from: number; readonly to: number }
  /** Blocks that are loaded while the processor runs, into the partition it writes to. */
  readonly edge: { readonly from: number; readonly to: number }
  /** First block of the local node. */
  readonly headBlock: number
  /** Timestamp of `headBlock` in Unix seconds: the start of a day, so that the days before it are whole. */
  readonly headTime: number
  /** First day after the first partition, in the form of `archive --before`. */
  readonly archivedBefore: string
  /** Accounts of the network; the first ones are agents, who verify the addresses that are paid most. */
  readonly accounts: number
  readonly agents: number
  /** Identities of the largest holder. */
  readonly holdings: number
  /** Shortest duration of the part with growing heads. */
  readonly liveSeconds: number
  /** Settlements a second at the head of the busiest chain. */
  readonly settlementsPerSecond: number
  /** Readers of the API meanwhile, and their pause after each answer. */
  readonly reads: { readonly readers: number; readonly pauseMs: number }
  /** Requests per route without any cache. */
  readonly coldRounds: number
}

/** The chain that the network's accounts are registered on. */
export const socialChain = chainNames.find((name) => chainOf(name).social !== null) as (typeof chainNames)[number]
/** Chains whose heads grow: all. */
export const headChains = chainNames

const edgeChunks = 2
const daySeconds = 86_400
/** Shares of the real directory: 50,000 agents, a million accounts, a holder of 100,000 next to 100 million settlements. */
const rowsPerAgent = 2_000
const rowsPerAccount = 100
const rowsPerHolding = 1_000
const rowsPerLiveSecond = 10_000
const longestLiveSeconds = 1_200
/** From this many settlements on, heads and reads have ten times the rates of a real installation. */
const largeRows = 1_000_000
const few = { settlementsPerSecond: 100, reads: { readers: 2, pauseMs: 30 }, coldRounds: 3 }
/** Ten times the real chain's 100,000 settlements an hour; 300 requests a second. */
const many = { settlementsPerSecond: 280, reads: { readers: 8, pauseMs: 25 }, coldRounds: 200 }

export function shapeOf(rows: number): Shape {
  const { blocks: step, oneBelow } = chainOf(busiestChain).partitions
  const chunks = Math.max(1, Math.ceil(rows / chunkRows) - edgeChunks)
  const boundary = oneBelow + step * Math.ceil((chunks * chunkBlocks) / step)
  const from = boundary - chunks * chunkBlocks
  const headBlock = boundary + edgeChunks * chunkBlocks
  const payments = mainnetLikeChain(from, chunks + edgeChunks)
  const nextDay = (block: number) => Math.ceil(payments.source.header(block).timestamp / daySeconds) * daySeconds
  const secondPartition = oneBelow + step * (Math.floor((from - oneBelow) / step) + 1)
  return {
    rows: payments.settlements,
    payments,
    loaded: { from, to: boundary - 1 },
    edge: { from: boundary, to: headBlock - 1 },
    headBlock,
    headTime: nextDay(headBlock),
    archivedBefore: new Date(nextDay(secondPartition) * 1_000).toISOString().slice(0, 10),
    accounts: Math.ceil(rows / rowsPerAccount),
    agents: Math.ceil(rows / rowsPerAgent),
    holdings: Math.ceil(rows / rowsPerHolding),
    liveSeconds: Math.min(longestLiveSeconds, rows / rowsPerLiveSecond),
    ...(rows < largeRows ? few : many),
  }
}
