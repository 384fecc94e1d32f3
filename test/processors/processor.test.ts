import { keccak256, toBytes } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { accountOf, type DevChain, startDevChain } from '../../devnet/chain/chain.ts'
import { register } from '../../devnet/chain/identity.ts'
import { mint, pay, signAuthorization } from '../../devnet/chain/payments.ts'
import { freePort } from '../../ops/ports.ts'
import { type ProcessorOptions, spawnProcessor, type TestProcessor } from '../support/chain/processor.ts'
import { chainSettings } from '../support/chain/settings.ts'
import { createTestDatabase, type OwnDatabase } from '../support/database.ts'

const payer = accountOf('payer')
const agent = accountOf('agent')
const facilitator = accountOf('facilitator')

let chain: DevChain
let database: OwnDatabase
let metricsPort: number
const started: TestProcessor[] = []
beforeAll(async () => {
  chain = await startDevChain('base', { funded: [agent.address, facilitator.address] })
  await chain.execute(facilitator, mint(chain, payer.address, 5_000_000n))
  database = await createTestDatabase()
  metricsPort = await freePort()
})
afterEach(async () => {
  while (started.length > 0) await started.pop()?.stop()
})
afterAll(async () => {
  await database?.drop()
  await chain?.stop()
})

async function start(more: Partial<ProcessorOptions> = {}): Promise<TestProcessor> {
  const processor = await spawnProcessor({
    chain: 'base',
    databaseUrl: database.url,
    chainSettings: chainSettings(chain),
    ...more,
    env: { METRICS_PORT: String(metricsPort), ...more.env },
  })
  started.push(processor)
  return processor
}

async function settle(name: string): Promise<number> {
  const authorization = await signAuthorization(chain, payer, {
    to: agent.address,
    value: 1_500_000n,
    nonce: keccak256(toBytes(name)),
  })
  return Number((await chain.execute(facilitator, pay(authorization))).blockNumber)
}

async function ask(path: string) {
  const answer = await fetch(`http://127.0.0.1:${metricsPort}${path}`)
  return { status: answer.status, text: await answer.text() }
}

test('a registration and a payment become rows, and operators can see it', async () => {
  await chain.execute(agent, register('https://agent.example/card.json'))
  const processor = await start()
  expect(await processor.untilIndexed(await settle('first'))).toMatchObject({ chain: 'base', chainId: 8453 })
  const { rows } = await database.pool.query(`select amount, payer, recipient, selector_source from settlement`)
  const bytes = (address: string) => Buffer.from(address.slice(2), 'hex')
  expect(rows).toEqual([
    { amount: 1_500_000, payer: bytes(payer.address), recipient: bytes(agent.address), selector_source: 'c' },
  ])

  expect(processor.output()).toMatch(
    /indexing base from block 0; history and the tip from RPC 127\.0\.0\.1:\d+; Postgres at /,
  )
  expect(await ask('/healthz')).toEqual({ status: 200, text: 'ok\n' })
  expect(await ask('/readyz')).toEqual({ status: 200, text: 'ready\n' })
  const { text } = await ask('/metrics')
  expect(text).toMatch(/^agent_directory_processor_settlements_total\{chain="base"\} 1$/m)
  expect(text).toMatch(/^agent_directory_processor_unpaid_authorizations_total\{chain="base"\} 0$/m)
  expect(text).toMatch(/^agent_directory_processor_indexed_block\{chain="base"\} \d+$/m)
  expect(text).toMatch(/^sqd_processor_last_block \d+$/m)
  expect(text).toMatch(/^process_cpu_user_seconds_total /m)
})

test('asked to end it ends with 0, and the next one goes on behind the last block', async () => {
  const first = await start()
  await first.untilIndexed(await settle('before the stop'))
  await first.kill('SIGTERM')
  expect(await first.untilExit()).toBe(0)

  const block = await settle('while none ran')
  const second = await start()
  await second.untilIndexed(block)
  expect(second.output()).toMatch(/indexing base resuming after block \d+/)
  const { rows } = await database.pool.query('select count(*)::int as rows from settlement where block_number = $1', [
    block,
  ])
  expect(rows).toEqual([{ rows: 1 }])
})

test('it waits for a node that does not answer, and is not ready meanwhile; asked to end, it ends', async () => {
  const rpc = `http://127.0.0.1:${await freePort()}/secret-key`
  const empty = await createTestDatabase()
  const processor = await start({ databaseUrl: empty.url, chainSettings: chainSettings(chain, { rpc }) })
  await processor.untilOutput(/the node does not answer eth_chainId for now: .*ECONNREFUSED/)
  expect(await ask('/readyz')).toEqual({ status: 503, text: 'no block indexed yet\n' })
  await processor.kill('SIGTERM')
  expect(await processor.untilExit()).toBe(0)
  expect(processor.output()).not.toContain('secret-key')
  await empty.drop()
})

describe('it does not start', () => {
  test('on a database without tables', async () => {
    const empty = await createTestDatabase()
    await empty.pool.query('drop schema public, directory cascade; create schema public')
    const processor = await start({ databaseUrl: empty.url })
    expect(await processor.untilExit()).toBe(1)
    expect(processor.output()).toBe('the database has no tables yet; run: npm run migrate\n')
    await empty.drop()
  })

  test('on a database that holds the chain with another id', async () => {
    const other = await createTestDatabase()
    await other.pool.query(
      `insert into chain_state (chain, chain_id, indexed_block, finalized_block, head_block, updated_at)
       values ('base', 84532, 7, 7, 7, now())`,
    )
    const processor = await start({ databaseUrl: other.url })
    expect(await processor.untilExit()).toBe(1)
    expect(processor.output()).toBe(
      'the database holds base with chain id 84532, but this program indexes it with 8453; use another database\n',
    )
    await other.drop()
  })

  test('with settings that are wrong, and names all of them', async () => {
    const processor = await start({ chainSettings: { base: { finality: -1, rpc: 'x' } }, env: { RPC_CELO: 'y' } })
    expect(await processor.untilExit()).toBe(1)
    expect(processor.output()).toMatch(/CHAINS_FILE base\.rpc.*\n.*CHAINS_FILE base\.finality.*\n.*RPC_CELO/)
  })

  test('for a chain it does not know, with exit code 2 and the ones it knows', async () => {
    const processor = await start({ chain: 'solana' as 'base', chainSettings: {} })
    expect(await processor.untilExit()).toBe(2)
    expect(processor.output()).toBe(
      'solana is not a chain; chains are ethereum, base, celo, arbitrum, optimism, polygon, gnosis\n',
    )
  })
})

test('it shows how it is used', async () => {
  const processor = await start({ chain: '--help' as 'base', chainSettings: {} })
  expect(await processor.untilExit()).toBe(0)
  expect(processor.output()).toMatch(/npm run processor -- <chain>/)
})
