import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { type Address, type Hex, keccak256, toBytes } from 'viem'
import { toAccount } from 'viem/accounts'
import { busiestChain } from '../../config/chains.ts'
import { accountOf, type Call, type DevChain, funder } from '../../devnet/chain/chain.ts'
import { aggregate, mint, pay, signAuthorization } from '../../devnet/chain/payments.ts'
import { trafficBranch } from '../../test/chain/traffic.ts'
import { recipientAddress } from '../../test/doubles/portal/generated-source.ts'
import { type Act, forkHere } from '../../test/support/chain/branches.ts'
import { rankOf } from '../payment-chain.ts'
import type { Shape } from './shape.ts'
import { untilAll } from './show.ts'

/** Chains that grow and reorganize until they are stopped. */
export interface Heads {
  /** Milliseconds from a block on its node to its rows in the database, by what was done meanwhile. */
  readonly delays: Readonly<Record<string, readonly number[]>>
  readonly reorgs: number
  /** Settlements a second, of all chains together. */
  readonly settlementsPerSecond: number
  /** Names what is done from here on, for `delays`. */
  during(what: string): void
  /** Waits until every chain is indexed to where it is now. */
  untilIndexed(what: string): Promise<number>
  /** Throws when one of them has failed. */
  stop(): Promise<void>
}

/** Rate of each chain but the busiest; in reality most of them are idle. */
const settlementsPerSecond = 2
const blockSeconds = 2
/** Blocks of a round that stay, and the blocks after them that a reorg replaces by one block more. */
const keptBlocks = 4
const replacedBlocks = 3
/** Payments in one transaction, as batching facilitators make them. */
const together = 40
const gas = 20_000_000n
const purse = 10n ** 15n
const lookMs = 25
const facilitator = accountOf('facilitator of the heads')
/** Bytecode of a contract wallet that accepts every signature (ERC-1271). */
const agreeingWallet = '0x631626ba7e60e01b60005260206000f3'
/** A placeholder signature: signing hundreds a second would take a third of a core from what is measured. */
const anySignature: Hex = `0x${'11'.repeat(64)}1b`
const payers = Array.from({ length: 8 }, (_, n) => walletOf(`payer ${n} of the heads`))

/** Accounts that send the transactions of the heads, and so need gas. */
export const headAddresses: readonly Address[] = [facilitator.address]

/** Makes the payers of a chain contract wallets and mints dollars to them. */
export async function prepareHeads(chain: DevChain): Promise<void> {
  if (!chain.addresses.token) return
  await Promise.all(payers.map(({ address }) => chain.client.setCode({ address, bytecode: agreeingWallet })))
  await Promise.all(payers.map(({ address }) => chain.execute(funder, mint(chain, address, purse))))
}

function walletOf(name: string) {
  const sign = async () => anySignature
  const { address } = accountOf(name)
  return toAccount({ address, signMessage: sign, signTransaction: sign, signTypedData: sign })
}

/** Grows the chains with payments to the agents of the shape, the first of them most. */
export function growHeads(chains: readonly DevChain[], { pool, shape }: { pool: pg.Pool; shape: Shape }): Heads {
  const delays: Record<string, number[]> = {}
  const tips = new Map(chains.map(({ name }) => [name, 0]))
  const waiting = new Map(chains.map(({ name }) => [name, [] as { number: number; at: number }[]]))
  const began = performance.now()
  let doing = ''
  let reorgs = 0
  let settlements = 0
  let isOver = false

  /** Notes a block to watch for in the index, unless a block of its number was there before and is indexed already. */
  const note = async ({ name, client }: DevChain) => {
    const at = performance.now()
    const number = Number(await client.getBlockNumber())
    if (number <= (tips.get(name) as number)) return
    tips.set(name, number)
    waiting.get(name)?.push({ number, at })
  }
  const grow = async (chain: DevChain) => {
    let blocks = 0
    const next = async (isFull: boolean) => {
      const serial = blocks++
      const share = chain.name === busiestChain ? shape.settlementsPerSecond : settlementsPerSecond
      const count = chain.addresses.token ? share * blockSeconds : 0
      settlements += count
      const acts = await payments(chain, { count, from: serial * count, agents: shape.agents })
      return isFull ? [...acts, ...(await trafficBranch(chain, `head ${serial}`, 1)).flat()] : acts
    }
    const mine = async (acts: readonly Act[]) => {
      const { timestamp } = await chain.client.getBlock()
      for (const { from, call, options } of acts) await chain.send(from, call, options)
      await chain.client.setNextBlockTimestamp({ timestamp: timestamp + BigInt(blockSeconds) })
      await chain.client.mine({ blocks: 1 })
      await note(chain)
    }
    let due = performance.now()
    const paced = async (acts: readonly Act[]) => {
      due = Math.max(due + blockSeconds * 1_000, performance.now()) // late blocks are not caught up
      await delay(Math.max(0, due - performance.now()))
      await mine(acts)
    }
    await chain.client.setAutomine(false)
    while (!isOver) {
      for (let n = 0; n < keptBlocks && !isOver; n++) await paced(await next(n === 0))
      const fork = await forkHere(chain)
      for (let n = 0; n < replacedBlocks && !isOver; n++) await paced(await next(n === 0))
      const branch: Act[][] = []
      for (let n = 0; n <= replacedBlocks; n++) branch.push(await next(n === 0))
      await fork.mine(branch)
      await note(chain)
      reorgs++
    }
  }
  const watch = async () => {
    for (; !isOver; await delay(lookMs)) {
      const found = await readIndexed(pool).catch(() => undefined) // the server may be down for a while
      const at = performance.now()
      for (const [name, blocks] of waiting) {
        const indexed = found?.get(name) ?? -1
        for (; blocks[0] && blocks[0].number <= indexed; blocks.shift()) {
          delays[doing] ??= []
          delays[doing]?.push(at - blocks[0].at)
        }
      }
    }
  }
  const all = Promise.all([...chains.map(grow), watch()])
  all.catch(() => {}) // stop() throws the error
  return {
    delays,
    get reorgs() {
      return reorgs
    },
    get settlementsPerSecond() {
      return Math.round((settlements * 1_000) / (performance.now() - began))
    },
    during(what) {
      doing = what
    },
    untilIndexed(what) {
      const goal = [...tips]
      return untilAll(what, async () => {
        const indexed = await readIndexed(pool).catch(() => new Map<string, number>())
        const done = goal.filter(([name, number]) => (indexed.get(name) ?? -1) >= number).length
        return { done, of: goal.length }
      })
    },
    async stop() {
      isOver = true
      await all
    },
  }
}

async function readIndexed(pool: pg.Pool): Promise<Map<string, number>> {
  const { rows } = await pool.query<{ chain: string; at: number }>('select chain, indexed_block as at from chain_state')
  return new Map(rows.map(({ chain, at }) => [chain, at]))
}

async function payments(
  chain: DevChain,
  { count, from, agents }: { count: number; from: number; agents: number },
): Promise<Act[]> {
  const acts: Act[] = []
  for (let first = 0; first < count; first += together) {
    const calls: Call[] = []
    for (let serial = from + first; serial < from + Math.min(first + together, count); serial++) {
      const payer = payers[serial % payers.length] as (typeof payers)[number]
      const to = recipientAddress(rankOf(serial, agents)) as Address
      const nonce = keccak256(toBytes(`head ${serial}`))
      const value = BigInt(1 + (serial % 1_000))
      calls.push(pay(await signAuthorization(chain, payer, { to, value, nonce }), 'bytes'))
    }
    acts.push({ from: facilitator, call: aggregate(chain, calls), options: { gas } })
  }
  return acts
}
