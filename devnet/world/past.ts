import type { Hash } from 'viem'
import { type DefaultChain, defaultChainNames } from '../../config/chains.ts'
import type { Call, DevChain } from '../chain/chain.ts'
import { addAppKey, registerFid } from '../chain/farcaster.ts'
import { aggregate, mint } from '../chain/payments.ts'
import { toTransaction } from './deeds.ts'
import { oldestDays, type PastDeed } from './identities.ts'
import { type World, walletsOfWorld } from './plan.ts'

export interface PastOptions {
  /** The world's start; the past is laid before it. */
  readonly startedAt: Date
  /** Seconds between blocks from now on. */
  readonly blockSeconds: number
  /** Called as transactions are sent, with the number sent so far and the total. */
  readonly onProgress?: (done: number, total: number) => void
  /** Aborts the work; its reason is thrown. */
  readonly signal?: AbortSignal
}

interface HistoryOptions extends Pick<PastOptions, 'startedAt'> {
  /** Called for each chain with the last block of its history. */
  readonly onEnd: (chain: DefaultChain, lastBlock: number) => void
}

const daySeconds = 86_400
/** Dollars that every account starts with, in base units. */
const allowance = 1_000_000_000_000n
const setupGas = 900_000_000n

/** Timestamp of block 0 of every chain of a world that starts at this time: before everything it has seen. */
export function genesisTimeOf(startedAt: Date, { history }: World): number {
  return unixSeconds(startedAt) - (Math.max(oldestDays, ...history.map(({ daysAgo }) => daysAgo)) + 1) * daySeconds
}

/**
 * Executes what was paid on a world's chains before anybody could register, one block a day; a world without such a history
 * is left as it is. Call it before `layPast`, on chains as those.
 */
export async function layHistory(
  chains: Readonly<Record<DefaultChain, DevChain>>,
  world: World,
  { startedAt, onEnd }: HistoryOptions,
): Promise<void> {
  await Promise.all(
    defaultChainNames.map(async (name) => {
      const deeds = world.history.filter(({ deed }) => deed.chain === name)
      if (deeds.length === 0) return
      const chain = chains[name]
      await chain.client.setAutomine(false)
      await layDay(
        chain,
        await callAll(chain, world, minting(chain, world)),
        genesisTimeOf(startedAt, world) + daySeconds / 2,
      )
      await layDays(chain, deeds, startedAt)
      onEnd(name, Number(await chain.client.getBlockNumber()))
    }),
  )
}

/**
 * Executes a world's past on its chains, one block a day, and then adds a block every few seconds.
 *
 * The chains must be new, mine nothing by themselves but on request (no block time), and start at `genesisTimeOf`.
 * Throws when a transaction of the past fails: then plan and contracts disagree.
 */
export async function layPast(
  chains: Readonly<Record<DefaultChain, DevChain>>,
  world: World,
  { startedAt, blockSeconds, onProgress = () => {}, signal }: PastOptions,
): Promise<void> {
  let done = 0
  const advance = (count: number) => {
    done += count
    onProgress(done, world.past.length)
  }
  await Promise.all(
    defaultChainNames.map(async (name) => {
      const chain = chains[name]
      await chain.client.setAutomine(false)
      const calls = [...(world.history.some(({ deed }) => deed.chain === name) ? [] : minting(chain, world))]
      calls.push(...(chain.addresses.idRegistry ? accounts(world) : []))
      await layDay(chain, await callAll(chain, world, calls), unixSeconds(startedAt) - (oldestDays + 0.5) * daySeconds)
      await layDays(
        chain,
        world.past.filter(({ deed }) => deed.chain === name),
        startedAt,
        { advance, signal },
      )
      await chain.client.setIntervalMining({ interval: blockSeconds })
      await chain.client.setNextBlockTimestamp({ timestamp: BigInt(unixSeconds(new Date()) + blockSeconds) })
    }),
  )
}

/** Calls that give dollars to everybody; none where there is no dollar. */
function minting(chain: DevChain, world: World): Call[] {
  if (!chain.addresses.token) return []
  const wallets = new Set(walletsOfWorld(world).map(({ address }) => address))
  return [...wallets].map((address) => mint(chain, address, allowance))
}

/** Calls that register the FIDs and their keys, on the social network's chain. */
function accounts({ people }: World): Call[] {
  return [...people.agents, ...people.bystanders].flatMap(({ fid, custody, appKey }) => [
    registerFid(BigInt(fid), custody.address),
    addAppKey(BigInt(fid), appKey.publicKey),
  ])
}

async function callAll(chain: DevChain, world: World, calls: readonly Call[]): Promise<Hash[]> {
  if (calls.length === 0) return []
  const all = calls.map((call) => ({ ...call, allowFailure: false }))
  return [await chain.send(world.funder.account, aggregate(chain, all), { gas: setupGas })]
}

/** A block for each day on which something was done on a chain, oldest first. */
async function layDays(
  chain: DevChain,
  deeds: readonly PastDeed[],
  startedAt: Date,
  { advance, signal }: { readonly advance?: (count: number) => void; readonly signal?: AbortSignal } = {},
) {
  for (const day of [...new Set(deeds.map(({ daysAgo }) => daysAgo))].sort((a, b) => b - a)) {
    const ofDay = deeds.filter(({ daysAgo }) => daysAgo === day)
    signal?.throwIfAborted()
    await layDay(chain, await sendDeeds(chain, ofDay), unixSeconds(startedAt) - day * daySeconds)
    advance?.(ofDay.length)
  }
}

/** Sends deeds one after the other, because identities are numbered in the order in which they arrive. */
async function sendDeeds(chain: DevChain, deeds: readonly PastDeed[]): Promise<Hash[]> {
  const hashes: Hash[] = []
  for (const { deed } of deeds) {
    const { from, call, gas } = await toTransaction(chain, deed)
    hashes.push(await chain.send(from, call, { gas }))
  }
  return hashes
}

async function layDay(chain: DevChain, hashes: readonly Hash[], timestamp: number) {
  await chain.client.setNextBlockTimestamp({ timestamp: BigInt(timestamp) })
  await chain.client.mine({ blocks: 1 })
  const receipts = await Promise.all(hashes.map((hash) => chain.client.getTransactionReceipt({ hash })))
  const failed = receipts.find(({ status }) => status !== 'success')
  if (failed) throw new Error(`${chain.name}: transaction ${failed.transactionHash} of the world's past failed`)
}

function unixSeconds(time: Date): number {
  return Math.floor(time.getTime() / 1000)
}
