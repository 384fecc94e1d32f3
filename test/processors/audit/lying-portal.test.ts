import { keccak256, toBytes } from 'viem'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { events } from '../../../abi/generated/identity-registry.ts'
import { readChains } from '../../../config/chains.file.ts'
import { accountOf, type DevChain, funder, startDevChain } from '../../../devnet/chain/chain.ts'
import { registerFid, transferFid } from '../../../devnet/chain/farcaster.ts'
import { giveFeedback, register, setAgentUri, setMetadata } from '../../../devnet/chain/identity.ts'
import { mint, pay, signAuthorization } from '../../../devnet/chain/payments.ts'
import { Auditor } from '../../../processors/audit/auditor.ts'
import { sourceOf } from '../../../processors/history/source-address.ts'
import { openHistory } from '../../../processors/history/sources.ts'
import type { Scope } from '../../../processors/scope/scope.ts'
import { memorySource } from '../../doubles/portal/memory-source.ts'
import { readBlocks } from '../../doubles/portal/rpc-blocks.ts'
import { startPortal } from '../../doubles/portal/server.ts'
import { type ChainTables, describeDifference, readChainTables } from '../../support/chain/oracle.ts'
import { spawnProcessor } from '../../support/chain/processor.ts'
import { chainSettings } from '../../support/chain/settings.ts'
import { createTestDatabase, type OwnDatabase } from '../../support/database.ts'

// A Portal whose blocks have the chain's hashes and not its logs: an audit by it takes nothing away.

const finality = 3 // blocks
const timeout = 300_000
const payments = 40
const holder = accountOf('holder')
const client = accountOf('client')

let chain: DevChain
let blocks: Awaited<ReturnType<typeof readBlocks>>
let indexed: OwnDatabase
let rows: ChainTables
type Block = (typeof blocks)[number]

beforeAll(async () => {
  chain = await startDevChain('optimism', { funded: [holder.address, client.address] })
  await chain.execute(funder, mint(chain, holder.address, 1_000_000n))
  await chain.execute(holder, register('https://agents.example/first'))
  await chain.execute(holder, register('https://agents.example/second'))
  await chain.execute(holder, setAgentUri(0n, 'https://agents.example/first/again'))
  await chain.execute(holder, setMetadata(0n, { key: 'kept', value: '0x01' }))
  await chain.execute(client, giveFeedback({ agentId: 1n, value: 2n }))
  await chain.execute(funder, registerFid(7n, holder.address))
  await chain.execute(funder, transferFid(7n, client.address))
  for (let n = 0; n < payments; n++) {
    const nonce = keccak256(toBytes(`payment ${n}`))
    await chain.execute(funder, pay(await signAuthorization(chain, holder, { to: client.address, value: 5n, nonce })))
  }
  await chain.client.mine({ blocks: finality + 1 })
  const height = Number(await chain.client.getBlockNumber())
  blocks = await readBlocks(chain.rpc, 0, height)
  indexed = await createTestDatabase()
  const { optimism } = chainSettings(chain, { finality, rpc: chain.rpc })
  const processor = await spawnProcessor({ chain: 'optimism', databaseUrl: indexed.url, chainSettings: { optimism } })
  await processor.untilIndexed(height)
  await processor.stop()
  await indexed.pool.query(
    `insert into head_range (chain, from_block, to_block, next_block) values ('optimism', 1, $1, 1)`,
    [height - finality],
  )
  rows = await readChainTables(indexed.pool, 'optimism')
}, timeout)
afterAll(async () => {
  await indexed?.drop()
  await chain?.stop()
})

/** Audits by a Portal that has these blocks, as often as something waits, three times at most. */
async function audit(told: readonly Block[], { scope = 'all' as Scope, queued = [] as number[] } = {}) {
  const portal = await startPortal({
    datasets: { 'optimism-mainnet': memorySource({ blocks: [...told], chunkBlocks: 4 }) },
  })
  onTestFinished(() => portal.stop())
  const { pool, url } = indexed
  await pool.query(`delete from head_range`)
  await pool.query(`delete from audit_certificate`)
  await pool.query(`delete from audit_agent`)
  await pool.query(`insert into head_range (chain, from_block, to_block, next_block) values ('optimism', 1, $1, 1)`, [
    blocks.length - 1 - finality,
  ])
  await pool.query(`insert into audit_agent (chain, agent_id) select 'optimism', unnest($1::int[])`, [queued])
  const file = chainSettings(chain, { finality, rpc: chain.rpc, portal: portal.url })
  const { optimism } = readChains({ env: {}, file })
  const source = sourceOf(optimism, undefined)
  const warned: string[] = []
  const log = { info: () => {}, warn: (text: string) => void warned.push(text) }
  const auditor = new Auditor({
    databaseUrl: url,
    chain: optimism,
    scope,
    source: source.kind,
    openHistory: (wanted) => openHistory(source, wanted),
    pauseMs: 60_000,
    log: log as never,
  })
  onTestFinished(() => auditor.close(1_000))
  for (let audits = 0; audits < 3 && (await auditor.audit()); audits++);
  const difference = describeDifference(await readChainTables(pool, 'optimism'), rows)
  const { rowCount: certificates } = await pool.query('select from audit_certificate')
  return { auditor, warned, difference, certificates }
}

const withLogs = (change: (block: Block) => Block['logs']) => blocks.map((block) => ({ ...block, logs: change(block) }))

const lies: [string, () => readonly Block[]][] = [
  ['no logs', () => withLogs(() => [])],
  ['every other log', () => withLogs(({ logs, header }) => logs.filter((_, at) => (at + header.number) % 2 === 0))],
  ['the logs of every other block', () => withLogs(({ logs, header }) => (header.number % 2 === 0 ? logs : []))],
  [
    'other amounts and words in its logs',
    () => withLogs(({ logs }) => logs.map((log) => ({ ...log, data: log.data.replace(/05$/, '06') }))),
  ],
  [
    'blocks of another chain without logs',
    () => {
      const other = (hash: string) => keccak256(hash as `0x${string}`)
      return withLogs(() => []).map(({ header, ...block }) => ({
        ...block,
        header: { ...header, hash: other(header.hash), parentHash: other(header.parentHash) },
      }))
    },
  ],
]

test.each(lies)('an audit by a Portal with %s leaves every row and certifies nothing', { timeout }, async (_, told) => {
  const { auditor, warned, difference, certificates } = await audit(told())
  expect(difference).toBe('')
  expect(auditor.disputed).toBeGreaterThan(0)
  expect(certificates).toBe(0)
  expect(warned.join('\n')).toMatch(/the audit: /)
})

test('a URI whose event the Portal lacks stays, though the registration has later events', { timeout }, async () => {
  const told = withLogs(({ logs }) => logs.filter(({ topics }) => topics[0] !== events.URIUpdated.topic))
  const { auditor, difference } = await audit(told, { queued: [0] })
  expect(difference).toBe('')
  expect(auditor.disputed).toBeGreaterThan(0)
})

test('what is on no chain is removed, and refused when it is too much for a mistake', { timeout }, async () => {
  const { pool } = indexed
  const invent = (rows: number) =>
    pool.query(
      `insert into settlement (amount, block_timestamp, block_number, log_index, chain, selector_source, selector, token,
                               payer, recipient, facilitator, payment_nonce, tx_hash)
       select amount, block_timestamp, block_number, 9000 + n, chain, selector_source, selector, token, payer, recipient,
              facilitator, payment_nonce, tx_hash
         from (select * from settlement order by block_number limit 1) s, generate_series(1, $1) n`,
      [rows],
    )
  await invent(2)
  const few = await audit(blocks)
  expect(few).toMatchObject({ difference: '', certificates: 1 })
  expect(few.auditor.mended.surplus).toBe(2)
  await invent(30)
  const many = await audit(blocks)
  expect(many.auditor.mended.surplus).toBe(0)
  expect(many.auditor.disputed).toBe(30)
  expect(many.certificates).toBe(0)
  expect(many.warned.join()).toMatch(/has 30 rows of blocks 1 to \d+ of optimism, too many to remove/)
  await pool.query('delete from settlement where log_index > 9000')
})

test('an audit by a Portal whose head is old certifies what it has', { timeout }, async () => {
  const { auditor, difference } = await audit(blocks.slice(0, 20))
  expect(difference).toBe('')
  expect(auditor.disputed).toBe(0)
  expect(auditor.blocksToGo).toBe(blocks.length - 1 - finality - 19)
})

test('an audit by a Portal that has the chain certifies it', { timeout }, async () => {
  const { auditor, difference, certificates } = await audit(blocks)
  expect(difference).toBe('')
  expect(auditor.disputed).toBe(0)
  expect(certificates).toBe(1)
})

test('a registration is mended up to the blocks of the processor, not beyond', { timeout }, async () => {
  await chain.execute(holder, setAgentUri(0n, 'https://agents.example/first/beyond'))
  const height = Number(await chain.client.getBlockNumber())
  await chain.client.mine({ blocks: finality + 1 })
  const { difference } = await audit(await readBlocks(chain.rpc, 0, height + finality + 1), { queued: [0] })
  expect(difference).toBe('')
})
