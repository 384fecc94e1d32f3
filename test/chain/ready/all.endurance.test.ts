import { readFile } from 'node:fs/promises'
import { keccak256, toBytes } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { withChosen } from '../../../config/chains.choice.ts'
import { readChains } from '../../../config/chains.file.ts'
import { readyChains } from '../../../config/chains.more.ts'
import { addChains, chainOf, defaultChainNames } from '../../../config/chains.ts'
import { accountOf, startDevChain } from '../../../devnet/chain/chain.ts'
import * as identity from '../../../devnet/chain/identity.ts'
import { mint, pay, signAuthorization } from '../../../devnet/chain/payments.ts'
import { type ApiProcess, startApiProcess } from '../../support/api/process.ts'
import { spawnProcessor } from '../../support/chain/processor.ts'
import { createTestDatabase, type OwnDatabase } from '../../support/database.ts'
import { runMain } from '../../support/mains.ts'

const holder = accountOf('holder on every ready-made chain')
const payer = accountOf('payer on every ready-made chain')
/** Those that nothing is missing of. */
const names = Object.keys(readyChains).filter((name) => isWhole(name))
const CHAINS = names.join(',')
/** Kilobytes of memory that a processor had at most, by chain. */
const peaks: Record<string, number> = {}

const ends: (() => Promise<unknown>)[] = []
let database: OwnDatabase
let api: ApiProcess
beforeAll(async () => {
  const all = readChains({ env: {}, file: withChosen(CHAINS, undefined) })
  const rows = names.map((name) => [name, { ...all[name], rpcVariable: '', gatewayVariable: '' }] as const)
  addChains({ ...(Object.fromEntries(rows) as Parameters<typeof addChains>[0]) })
  database = await createTestDatabase()
  ends.push(database.drop)
  const env = { DATABASE_URL: database.url, CHAINS }
  expect(await runMain('db/main.ts', [], { env })).toMatchObject({ code: 0, stderr: '' })
  const processors = await Promise.all(
    names.map(async (name) => {
      const { rpc, head } = await play(name)
      const { registry, reputation, tokens } = chainOf(name)
      const settings = {
        rpc,
        portal: null,
        finality: 1,
        registry: { ...registry, fromBlock: 0 },
        reputation: { ...reputation, fromBlock: 0 },
        tokens: tokens.map(({ address, decimals }) => ({ address, decimals, fromBlock: 0 })),
        paymentContracts: [],
      }
      const chainSettings = { [name]: settings }
      const processor = await spawnProcessor({ chain: name, databaseUrl: database.url, chainSettings, env: { CHAINS } })
      ends.unshift(processor.stop)
      return { name, head, processor }
    }),
  )
  for (const { name, head, processor } of processors) {
    await processor.untilIndexed(head)
    const status = await readFile(`/proc/${processor.pid}/status`, 'utf8')
    peaks[name] = Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1])
  }
  api = await startApiProcess(env)
  ends.unshift(api.kill)
})
afterAll(async () => {
  for (const end of ends) await end()
})

/** A local chain with its id, where an agent is registered, and paid in every token that it has. */
async function play(name: string): Promise<{ rpc: string; head: number }> {
  const chain = await startDevChain(name, { funded: [holder.address, payer.address] })
  ends.unshift(chain.stop)
  await chain.execute(holder, identity.register('data:,one'))
  if (chain.addresses.token) {
    await chain.execute(payer, mint(chain, payer.address, 10_000_000n))
    const nonce = keccak256(toBytes(`nonce ${name}`))
    const authorization = await signAuthorization(chain, payer, { to: holder.address, value: 250_000n, nonce })
    await chain.execute(payer, pay(authorization))
  }
  await chain.client.mine({ blocks: 2 })
  return { rpc: chain.rpc, head: Number(await chain.client.getBlockNumber()) }
}

test('all of them at once are indexed, each under its own name', async () => {
  const { rows } = await database.pool.query(
    'select chain, count(*)::int as n from registration group by chain order by array_position($1::text[], chain)',
    [names],
  )
  expect(rows).toEqual(names.map((chain) => ({ chain, n: 1 })))
  const paid = names.filter((name) => chainOf(name).tokens.length > 0)
  const settled = await database.pool.query(
    'select chain, sum(amount)::int as amount from settlement group by chain order by array_position($1::text[], chain)',
    [names],
  )
  expect(settled.rows).toEqual(paid.map((chain) => ({ chain, amount: 250_000 })))
})

test('the statistics have a row and a supply of each, behind the seven', async () => {
  const stats = (await (await fetch(`${api.url}/api/stats`)).json()) as {
    erc8004_supply: Record<string, number>
    chains: { chain: string }[]
  }
  expect(Object.keys(stats.erc8004_supply)).toEqual([...defaultChainNames, ...names])
  expect(stats.chains.map(({ chain }) => chain)).toEqual(expect.arrayContaining(names))
})

test('25 processors fit on a host of 8 GB', () => {
  const largest = Math.max(...Object.values(peaks))
  expect(Object.keys(peaks)).toEqual(names)
  expect(25 * largest, JSON.stringify(peaks)).toBeLessThan(8_000_000)
})

function isWhole(name: string): boolean {
  try {
    withChosen(name, undefined)
    return true
  } catch {
    return false
  }
}
