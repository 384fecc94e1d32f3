import { chainNames, chainOf } from '../../chains.config.ts'
import { busiestChain } from '../busiest.ts'
import { chunkBlocks, chunkRows, mainnetLikeChain, type PaymentChain } from '../payment-chain.ts'

/** How large a rehearsal is. Blocks of the busiest chain lie behind each other: loaded, edge, heads. */
export interface Shape {
  readonly rows: number
  readonly payments: PaymentChain
  /** Blocks that are loaded first: whole partitions up to the edge. */
  readonly loaded: { readonly from: number; readonly to: number }
  /** Blocks that are loaded beside the processor, into the partition it writes to. */
  readonly edge: { readonly from: number; readonly to: number }
  /** First block of the node. */
  readonly headBlock: number
  /** Unix seconds of it: a day begins, so that the days before it are whole. */
  readonly headTime: number
  /** The day that begins behind the first partition, as `archive --before` takes it. */
  readonly archivedBefore: string
  /** Accounts of the network; the first ones are agents, who verify the addresses that are paid most. */
  readonly accounts: number
  readonly agents: number
  /** Identities that one holder has. */
  readonly holdings: number
  /** What happens beside the heads lasts so long at least. */
  readonly liveSeconds: number
  /** What the busiest chain has at its head. */
  readonly settlementsPerSecond: number
  /** Who reads beside them. */
  readonly reads: { readonly readers: number; readonly pauseMs: number }
  /** How often each route is asked cold. */
  readonly coldRounds: number
}

/** The chain that the network's accounts are registered on. */
export const socialChain = chainNames.find((name) => chainOf(name).social !== null) as (typeof chainNames)[number]
/** Chains whose heads grow: all. */
export const headChains = chainNames

const edgeChunks = 2
const daySeconds = 86_400
/** Shares of the real directory: 50,000 agents, a million accounts, a holder of 100,000 beside 100 million settlements. */
const rowsPerAgent = 2_000
const rowsPerAccount = 100
const rowsPerHolding = 1_000
const rowsPerLiveSecond = 10_000
const longestLiveSeconds = 1_200
/** From so many settlements on heads and reads are those of ten times a real installation. */
const largeRows = 1_000_000
const few = { settlementsPerSecond: 100, reads: { readers: 2, pauseMs: 30 }, coldRounds: 3 }
/** Ten times what the chain has, which is 100,000 an hour; 300 questions a second. */
const many = { settlementsPerSecond: 280, reads: { readers: 8, pauseMs: 25 }, coldRounds: 200 }

export function shapeOf(rows: number): Shape {
  const { blocks: step, oneBelow } = chainOf(busiestChain).partitions as { blocks: number; oneBelow: number }
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
