import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Address } from 'viem'
import { keccak256, toBytes } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readyChains } from '../../../config/chains.more.ts'
import { chainOf, defaultChainNames } from '../../../config/chains.ts'
import { accountOf, startDevChain } from '../../../devnet/chain/chain.ts'
import * as identity from '../../../devnet/chain/identity.ts'
import { mint, pay, signAuthorization } from '../../../devnet/chain/payments.ts'
import { type ApiProcess, startApiProcess } from '../../support/api/process.ts'
import { allowProxy, payByProxy } from '../../support/chain/permit2.ts'
import { spawnProcessor } from '../../support/chain/processor.ts'
import { addReadyChains, readyEntry } from '../../support/chain/ready.ts'
import { createTestDatabase, type OwnDatabase } from '../../support/database.ts'
import { runMain } from '../../support/mains.ts'

const holder = accountOf('holder on every ready-made chain')
const payer = accountOf('payer on every ready-made chain')
/** All of them; the file states what no source does. */
const names = Object.keys(readyChains)
const CHAINS = names.join(',')
/** Kilobytes of memory that a processor had at most, by chain. */
const peaks: Record<string, number> = {}

const ends: (() => Promise<unknown>)[] = []
let database: OwnDatabase
let api: ApiProcess
beforeAll(async () => {
  addReadyChains(names)
  database = await createTestDatabase()
  ends.push(database.drop)
  const played = await Promise.all(names.map(async (name) => [name, await play(name)] as const))
  const chainSettings = Object.fromEntries(played.map(([name, { rpc }]) => [name, readyEntry(name, rpc)]))
  const folder = await mkdtemp(join(tmpdir(), 'ready-'))
  ends.push(() => rm(folder, { recursive: true }))
  const CHAINS_FILE = join(folder, 'chains.json')
  await writeFile(CHAINS_FILE, JSON.stringify(chainSettings))
  const env = { DATABASE_URL: database.url, CHAINS, CHAINS_FILE }
  expect(await runMain('db/main.ts', [], { env })).toMatchObject({ code: 0, stderr: '' })
  const processors = await Promise.all(
    played.map(async ([name, { head }]) => {
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

/** Base units of a quarter of a dollar in a chain's first token. */
const quarter = (name: string) => 250_000n * 10n ** BigInt((chainOf(name).tokens[0]?.decimals ?? 6) - 6)

/** A local chain with its id, where an agent is registered, and paid by EIP-3009 and by Permit2, in its own dollar if it has one. */
async function play(name: string): Promise<{ rpc: string; head: number }> {
  const chain = await startDevChain(name, { funded: [holder.address, payer.address] })
  ends.unshift(chain.stop)
  await chain.execute(holder, identity.register('data:,one'))
  const { token: listed, unlistedToken, permit2Proxy } = chain.addresses
  const token = listed ?? (unlistedToken as Address)
  const value = quarter(name)
  await chain.execute(payer, mint(chain, payer.address, 10n * value, token))
  const nonce = keccak256(toBytes(`nonce ${name}`))
  const authorization = await signAuthorization(chain, payer, { to: holder.address, value, nonce, token })
  await chain.execute(payer, pay(authorization))
  if (permit2Proxy) {
    await chain.execute(payer, allowProxy(chain, token))
    const payment = { owner: payer.address, to: holder.address, amount: value, token }
    await chain.execute(payer, payByProxy(chain, payment))
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
  const payments = await database.pool.query(
    `select p.chain, p.kind, p.net::int as net, e.base_units::text as exact
       from payment p left join exact_amount e using (chain, block_number, log_index)
      order by array_position($1::text[], p.chain)`,
    [names],
  )
  const proxied = names.filter((name) => chainOf(name).paymentContracts.length > 0)
  expect(payments.rows).toEqual(
    proxied.map((chain) => ({
      chain,
      kind: 'permit2_exact',
      net: 250_000,
      exact: chainOf(chain).tokens[0]?.decimals === 18 ? String(quarter(chain)) : null,
    })),
  )
  expect(paid.length).toBeGreaterThan(6)
  expect(proxied.length).toBeGreaterThan(paid.length)
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
