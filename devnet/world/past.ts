import type { Hash } from 'viem'
import { type DefaultChain, defaultChainNames } from '../../chains.config.ts'
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

const daySeconds = 86_400
/** Dollars that every account starts with, in base units. */
const allowance = 1_000_000_000_000n
const setupGas = 900_000_000n

/** Timestamp of block 0 of every chain of a world that starts at this time: before everything it has seen. */
export function genesisTimeOf(startedAt: Date): number {
  return unixSeconds(startedAt) - (oldestDays + 1) * daySeconds
}

/**
 * Executes a world's past on its chains, one block a day, and lets them go on with a block every few seconds.
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
      await layDay(chain, await setUp(chain, world), unixSeconds(startedAt) - (oldestDays + 0.5) * daySeconds)
      for (let day = oldestDays; day >= 0; day--) {
        const deeds = world.past.filter(({ daysAgo, deed }) => daysAgo === day && deed.chain === name)
        if (deeds.length === 0) continue
        signal?.throwIfAborted()
        await layDay(chain, await sendDeeds(chain, deeds), unixSeconds(startedAt) - day * daySeconds)
        advance(deeds.length)
      }
      await chain.client.setIntervalMining({ interval: blockSeconds })
      await chain.client.setNextBlockTimestamp({ timestamp: BigInt(unixSeconds(new Date()) + blockSeconds) })
    }),
  )
}

/** Mints dollars for everybody, and on the social network's chain registers the FIDs and their keys. */
async function setUp(chain: DevChain, world: World): Promise<Hash[]> {
  const calls: Call[] = []
  if (chain.addresses.token) {
    const wallets = new Set(walletsOfWorld(world).map(({ address }) => address))
    for (const address of wallets) calls.push(mint(chain, address, allowance))
  }
  if (chain.addresses.idRegistry) {
    for (const { fid, custody, appKey } of [...world.people.agents, ...world.people.bystanders]) {
      calls.push(registerFid(BigInt(fid), custody.address), addAppKey(BigInt(fid), appKey.publicKey))
    }
  }
  if (calls.length === 0) return []
  const all = calls.map((call) => ({ ...call, allowFailure: false }))
  return [await chain.send(world.funder.account, aggregate(chain, all), { gas: setupGas })]
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
