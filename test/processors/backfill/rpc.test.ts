import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { BlockEncoder } from '../../../processors/backfill/block-encoder.ts'
import { Slices } from '../../../processors/history/slices.ts'
import { rpcSource } from '../../../processors/history/source-address.ts'
import { openHistory } from '../../../processors/history/sources.ts'
import { memorySource } from '../../doubles/portal/memory-source.ts'
import { readBlocks } from '../../doubles/portal/rpc-blocks.ts'
import { startPortal } from '../../doubles/portal/server.ts'
import { runBackfill } from '../../support/chain/backfill.ts'
import { describeDifference, readChainTables } from '../../support/chain/oracle.ts'
import { chainSettings } from '../../support/chain/settings.ts'
import { createTestDatabase, type OwnDatabase } from '../../support/database.ts'
import type { NodeLimits } from './limited-node.ts'
import { publishedCoverage } from './published-coverage.ts'
import { finality, late, type RpcStage, startRpcStage } from './rpc-stage.ts'

let stage: RpcStage
const databases: OwnDatabase[] = []
beforeAll(async () => {
  stage = await startRpcStage()
})
afterEach(() => stage.calm())
afterAll(async () => {
  for (const database of databases) await database.drop()
  await stage?.end()
})

const range = () => ['--chain', 'base', '--from', '0', '--to', String(stage.lastBlock)]
const load = ({ url }: OwnDatabase, ...more: string[]) =>
  runBackfill({
    databaseUrl: url,
    chainSettings: chainSettings(stage.chain, { finality, rpc: stage.node.url }),
    args: [...range(), ...more],
  })

async function emptyDatabase(): Promise<OwnDatabase> {
  const database = await createTestDatabase()
  databases.push(database)
  return database
}

/** Describes where settlements and unpaid authorizations differ from the processor's: a backfill loads only these. */
async function difference({ pool }: OwnDatabase) {
  const { settlement, unpaid_authorization } = await readChainTables(pool, 'base')
  return describeDifference({ ...stage.expected, settlement, unpaid_authorization }, stage.expected)
}

test('a node alone gives the rows that the processor makes of it, traced calls included', async () => {
  const { expected, node } = stage
  const database = await emptyDatabase()
  const { code, stdout, stderr } = await load(database, '--workers', '2')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(/from the RPC endpoint 127\.0\.0\.1:\d+; about [\d,]+ of them/)
  expect(await difference(database)).toBe('')
  const sources = expected.settlement.map((row) => JSON.parse(row).selector_source)
  expect(new Set(sources)).toEqual(new Set(['c', 't']))

  const settled = new Set(expected.settlement.map((row) => JSON.parse(row).block_number))
  const read = new Set(
    node.asked.filter(({ method }) => method.startsWith('eth_getBlockBy')).map(({ params }) => params[0]),
  )
  expect(read.size).toBeLessThan(settled.size + 40) // 40: the ends of the searched ranges
  expect(node.asked.some(({ method }) => method === 'eth_getBlockReceipts')).toBe(false)
})

test('a node, an archive and the Portal certify the same, and installations that loaded from each publish it', async () => {
  const { chain, node, lastBlock } = stage
  const source = memorySource({ blocks: await readBlocks(chain.rpc, 0, lastBlock), chunkBlocks: 100 })
  const portal = await startPortal({ datasets: { 'base-mainnet': source } })
  const addresses = { rpc: {}, archive: { gateway: portal.gatewayUrl('base-mainnet') }, portal: { portal: portal.url } }
  const certificates: object[] = []
  try {
    for (const [kind, address] of Object.entries(addresses)) {
      const database = await emptyDatabase()
      const file = chainSettings(chain, { finality, rpc: node.url, ...address })
      const args = [...range(), '--workers', '1']
      const { code, stderr } = await runBackfill({ databaseUrl: database.url, chainSettings: file, args })
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      const published = await publishedCoverage(database, file)
      expect(published.ranges).toEqual([{ from_block: 0, to_block: lastBlock, by: 'backfill', state: 'loaded' }])
      expect(published.certificates).toHaveLength(1)
      const { sources, certified_at: _, ...certificate } = published.certificates[0]!
      expect(sources).toEqual(kind === 'rpc' ? ['rpc'] : [kind, 'rpc']) // the node agrees
      certificates.push(certificate)
    }
    const [one] = certificates
    expect(one).toMatchObject({ from_block: 0, to_block: lastBlock, settlements: stage.expected.settlement.length })
    expect(certificates).toEqual([one, one, one])
    const database = databases.at(-1) as OwnDatabase
    const other = await load(database, '--verify', '--portal', portal.url)
    expect({ code: other.code, stderr: other.stderr }).toEqual({ code: 0, stderr: '' })
    expect(other.stdout).toMatch(/agrees\n$/)
    const again = await load(database, '--verify', '--rpc', node.url)
    expect({ code: again.code, stderr: again.stderr }).toEqual({ code: 0, stderr: '' })
    expect(again.stdout).toMatch(/the RPC endpoint .* agrees\n$/)

    const paid = stage.expected.payment.length
    expect(paid).toBeGreaterThan(6)
    expect(other.stdout).toContain(`, ${paid} payments beside them, checksum `)
    await database.pool.query(
      'update payment set payee = payer where id = (select id from payment order by id limit 1 offset 2)',
    )
    await database.pool.query('delete from payment where id = (select id from payment order by id limit 1)')
    const wrong = await load(database, '--verify')
    expect(wrong.code).toBe(1)
    expect(wrong.stderr).toMatch(
      new RegExp(`the table: payments is ${paid - 1}, certified ${paid}; the table: paymentChecksum is \\d+`),
    )
  } finally {
    await portal.stop()
  }
})

test.each<[string, NodeLimits, RegExp]>([
  [
    'of another chain',
    { alter: ({ method }, reply) => (method === 'eth_chainId' ? { id: reply.id, result: '0x1' } : reply) },
    /does not report its newest final block: it answers chain id 1, expected 8453\n$/,
  ],
])('an endpoint %s is refused with one line', async (_, limits, line) => {
  stage.node.limits = limits
  const { code, stderr } = await load(await emptyDatabase())
  expect(stderr).toMatch(line)
  expect(stderr.trimEnd()).not.toContain('\n')
  expect(code).toBe(1)
})

test('an endpoint with sockets is refused with one line', async () => {
  const { url } = await emptyDatabase()
  const settings = chainSettings(stage.chain, { finality, rpc: stage.chain.rpc.replace('http', 'ws') })
  const { code, stderr } = await runBackfill({ databaseUrl: url, chainSettings: settings, args: range() })
  expect(stderr).toMatch(/^the RPC endpoint 127\.0\.0\.1:\d+: history can only be read over http or https\n$/)
  expect(code).toBe(1)
})

test('the history of a few recipients is their settlements, read from the blocks that have them', async () => {
  const { chain, node, settings, expected, lastBlock } = stage
  const rows = expected.settlement.map((row) => JSON.parse(row))
  const addressOf = ({ recipient }: { recipient: string }) => `0x${recipient.slice(2)}`
  const recipients = [chain.addresses.puller, late.address].map((address) => String(address).toLowerCase())
  const tokens = settings.tokens.map(({ address }) => address)
  const history = openHistory(rpcSource(settings, node.url), { tokens, recipients })
  const encoder = new BlockEncoder('base', new Map(tokens.map((token) => [token, 6])), async () => undefined, new Map())
  const slices = new Slices(history, 0, lastBlock, null, { warn: () => {} })
  while (!slices.isDone) await slices.advance(encoder)
  await encoder.settle()
  const theirs = rows.filter((row) => recipients.includes(addressOf(row)))
  const theirTransactions = new Set(theirs.map(({ tx_hash }) => tx_hash))
  const { tally } = encoder.pages.takeAll()
  expect(theirs.length).toBeGreaterThan(1)
  expect(tally.settlements).toBe(rows.filter(({ tx_hash }) => theirTransactions.has(tx_hash)).length)
  expect(node.asked.filter(({ method }) => method === 'eth_getTransactionReceipt').length).toBeLessThan(rows.length)
})
