import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { keccak256, toBytes } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { chainNames } from '../../config/chains.ts'
import { accountOf, type DevChain, funder, startDevChain } from '../../devnet/chain/chain.ts'
import { register } from '../../devnet/chain/identity.ts'
import { mint, pay, signAuthorization } from '../../devnet/chain/payments.ts'
import { type Hub, startHub } from '../../devnet/hub/server.ts'
import { HubState } from '../../devnet/hub/state.ts'
import { memorySource } from '../doubles/portal/memory-source.ts'
import { readBlocks } from '../doubles/portal/rpc-blocks.ts'
import { type Portal, startPortal } from '../doubles/portal/server.ts'
import { runBackfill } from '../support/chain/backfill.ts'
import { chainSettings } from '../support/chain/settings.ts'
import { testDatabase } from '../support/database.ts'
import { startMain } from '../support/mains.ts'

// A new installation of `npm run start:mainnet`: years of payments before the registry, and the Portal alone to read from.

const fid = 7
const payer = accountOf('payer')
const holder = accountOf('holder')
/** The token's first block, and the first that the local chain has: those between are empty. */
const tokenBlock = 1_000
const firstBlock = 100_000

const folder = mkdtempSync(join(tmpdir(), 'first-agent-'))
const database = testDatabase()
let chain: DevChain
let hub: Hub
let portal: Portal
let child: ChildProcess | undefined
let registryBlock: number
let settings: Record<string, object>

beforeAll(async () => {
  chain = await startDevChain('base', { firstBlock, funded: [payer.address, holder.address] })
  await chain.execute(funder, mint(chain, payer.address, 1_000_000n))
  for (const name of ['past one', 'past two']) await settle(name)
  registryBlock = Number(await chain.client.getBlockNumber()) + 1
  await chain.execute(holder, register('https://agents.example/7'))
  await settle('present')

  const state = new HubState()
  state.addAccount({ fid, custody: accountOf('custody').address })
  state.addVerification(fid, holder.address)
  hub = await startHub(state)

  const head = Number(await chain.client.getBlockNumber())
  const [first, ...others] = await readBlocks(chain.rpc, firstBlock, head)
  const hashOf = (number: number) => keccak256(toBytes(`empty block ${number}`))
  const source = memorySource({
    startBlock: tokenBlock,
    blocks: [{ ...first!, header: { ...first!.header, parentHash: hashOf(firstBlock - 1) } }, ...others],
    chunkBlocks: 20_000,
    emptyHeader: (number) => ({
      number,
      hash: hashOf(number),
      parentHash: hashOf(number - 1),
      timestamp: first!.header.timestamp - 2 * (firstBlock - number),
    }),
  })
  portal = await startPortal({ datasets: { 'base-mainnet': source } })
  const { base } = chainSettings(chain, { rpc: null, portal: portal.url, fromBlock: tokenBlock })
  const from = (contract: object) => ({ ...contract, fromBlock: registryBlock })
  settings = { base: { ...base!, registry: from(base!.registry), reputation: from(base!.reputation) } }
})
afterAll(async () => {
  if (child?.exitCode === null) {
    child.kill('SIGINT')
    await once(child, 'exit')
  }
  await Promise.all([portal?.stop(), hub?.stop(), chain?.stop()])
  rmSync(folder, { recursive: true, force: true })
})

async function settle(name: string) {
  const authorization = { to: holder.address, value: 5n, nonce: keccak256(toBytes(name)) }
  await chain.execute(funder, pay(await signAuthorization(chain, payer, authorization)))
}

/** Starts with nothing but an .env and a CHAINS_FILE; returns the address of its API. */
async function start(): Promise<string> {
  const off = Object.fromEntries(chainNames.filter((name) => name !== 'base').map((name) => [name, { enabled: false }]))
  writeFileSync(join(folder, 'chains.json'), JSON.stringify({ ...settings, ...off }))
  const env = {
    DATABASE_URL: database.url,
    CHAINS_FILE: 'chains.json',
    HUB_URL: hub.url,
    HUB_POLL_SECONDS: '1',
    PORT: '0',
  }
  writeFileSync(
    join(folder, '.env'),
    Object.entries(env)
      .map((pair) => `${pair.join('=')}\n`)
      .join(''),
  )
  const started = startMain('stack/main.ts', [], { cwd: folder })
  child = started
  let output = ''
  for (const stream of [started.stdout, started.stderr]) stream?.on('data', (text) => (output += text))
  const ready = /^ready (http:\/\/127\.0\.0\.1:\d+)\n/m
  await expect.poll(() => output).toMatch(ready)
  return ready.exec(output)![1]!
}

test('a new installation lists its first agent before any history is loaded, which a load next to it then adds', async () => {
  const api = await start()
  const agent = async () => {
    const { chains, settlements_all } = (await (await fetch(`${api}/api/agent/${fid}`)).json()) as Record<
      string,
      unknown
    >
    return { chains, settlements_all }
  }
  await expect.poll(agent, { interval: 1_000 }).toEqual({ chains: ['Base'], settlements_all: 1 })

  const last = registryBlock - 1
  const { rows } = await database.pool.query('select from_block, to_block, completed_at from backfill')
  expect(rows).toEqual([{ from_block: tokenBlock, to_block: last, completed_at: null }])
  const command = `npm run backfill -- --chain base --from ${tokenBlock} --to ${last}`
  expect(readFileSync(join(folder, '.data/logs/processor-base.log'), 'utf8')).toContain(command)
  const asked = portal.requests
    .filter(({ path }) => path.endsWith('-stream'))
    .map(({ body }) => JSON.parse(body).fromBlock)
  expect(Math.min(...asked)).toBeGreaterThanOrEqual(registryBlock)

  const args = command.replace('npm run backfill -- ', '').split(' ')
  const { code, stderr } = await runBackfill({ databaseUrl: database.url, chainSettings: settings, args })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  await expect.poll(agent, { interval: 1_000 }).toEqual({ chains: ['Base'], settlements_all: 3 })
})
