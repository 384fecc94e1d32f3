import { keccak256, toBytes } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { accountOf, type DevChain, funder, startDevChain } from '../../../devnet/chain/chain.ts'
import { newIdentity, register, setAgentUri, transferIdentity } from '../../../devnet/chain/identity.ts'
import { mint, pay, payInColumns, signAuthorization } from '../../../devnet/chain/payments.ts'
import { freePort } from '../../../ops/ports.ts'
import { memorySource } from '../../doubles/portal/memory-source.ts'
import { readBlocks } from '../../doubles/portal/rpc-blocks.ts'
import { type Portal, startPortal } from '../../doubles/portal/server.ts'
import { describeDifference, readChainTables } from '../../support/chain/oracle.ts'
import { spawnProcessor } from '../../support/chain/processor.ts'
import { chainSettings } from '../../support/chain/settings.ts'
import { createTestDatabase, type OwnDatabase } from '../../support/database.ts'

const holder = accountOf('holder')
const heir = accountOf('heir')
const finality = 3

let chain: DevChain
let portal: Portal
/** Last block that the Portal has. */
let history: number
const databases: OwnDatabase[] = []

beforeAll(async () => {
  chain = await startDevChain('base', { funded: [holder.address, heir.address] })
  await chain.execute(funder, mint(chain, holder.address, 1_000_000n))
  await round('history')
  history = Number(await chain.client.getBlockNumber())
  const source = memorySource({ blocks: await readBlocks(chain.rpc, 0, history), chunkBlocks: 4 })
  portal = await startPortal({ datasets: { 'base-mainnet': source } })
  await round('tip')
  await chain.client.mine({ blocks: finality + 1 })
})
afterAll(async () => {
  await portal?.stop()
  for (const database of databases) await database.drop()
  await chain?.stop()
})

test('history from the Portal and the tip from a node give the rows that the node alone gives', async () => {
  const both = await index({ portal: portal.url })
  const alone = await index({})
  const expected = await tablesOf(alone)
  expect(describeDifference(await tablesOf(both), expected)).toBe('')
  expect(expected.settlement.length).toBe(8)

  // The history really came from the Portal, calls that only a trace explains included.
  const streams = portal.requests.filter(({ path }) => path.endsWith('/finalized-stream'))
  expect(streams.some(({ body, status }) => status === 200 && JSON.parse(body).traces?.length > 0)).toBe(true)
  const selectors = expected.settlement.map((row) => JSON.parse(row).selector_source)
  expect(selectors.filter((letter) => letter === 't')).toHaveLength(4)
  expect(await fromNode(both)).toEqual(await everythingBehindHistory())
  expect(await fromNode(alone)).toEqual([]) // with nothing to compare it with
})

test('a restart behind the hand-over goes on where it stopped', async () => {
  const both = await createTestDatabase()
  databases.push(both)
  await indexInto(both, { portal: portal.url })
  await round('later')
  await chain.client.mine({ blocks: finality + 1 })
  await indexInto(both, { portal: portal.url })
  const alone = await index({})
  expect(describeDifference(await tablesOf(both), await tablesOf(alone))).toBe('')
})

test('a restart while the Portal is down goes on from the node alone', async () => {
  const both = await createTestDatabase()
  databases.push(both)
  await indexInto(both, { portal: portal.url })
  await round('down')
  await chain.client.mine({ blocks: finality + 1 })
  await indexInto(both, { portal: `http://127.0.0.1:${await freePort()}` })
  const alone = await index({})
  expect(describeDifference(await tablesOf(both), await tablesOf(alone))).toBe('')
  expect(await fromNode(both)).toEqual(await everythingBehindHistory())
})

/** A registration that changes hands, two plain payments, and two that a contract builds by itself. */
async function round(name: string) {
  const { transactionHash } = await chain.execute(holder, register(`https://agents.example/${name}`))
  const agentId = await newIdentity(chain, transactionHash)
  await chain.execute(holder, setAgentUri(agentId, `https://agents.example/${name}/again`))
  await chain.execute(holder, transferIdentity(agentId, holder.address, heir.address))
  const authorizations = await Promise.all(
    [1, 2, 3, 4].map((count) =>
      signAuthorization(chain, holder, {
        to: heir.address,
        value: BigInt(count),
        nonce: keccak256(toBytes(`${name} ${count}`)),
      }),
    ),
  )
  for (const authorization of authorizations.slice(0, 2)) await chain.execute(funder, pay(authorization))
  await chain.execute(funder, payInColumns(chain, authorizations.slice(2)))
}

async function index(sources: object): Promise<OwnDatabase> {
  const database = await createTestDatabase()
  databases.push(database)
  await indexInto(database, sources)
  return database
}

/** Runs a processor until it has indexed the chain's present head. */
async function indexInto(database: OwnDatabase, sources: object) {
  const { base } = chainSettings(chain, { finality })
  const processor = await spawnProcessor({
    chain: 'base',
    databaseUrl: database.url,
    chainSettings: { base: { ...base, ...sources } },
  })
  try {
    await processor.untilIndexed(Number(await chain.client.getBlockNumber()))
  } finally {
    await processor.stop()
  }
}

/** Ranges that are noted as written from the node, which the Portal has to confirm. */
async function fromNode({ pool }: OwnDatabase) {
  return (await pool.query('select from_block, to_block, next_block from head_range order by 1')).rows
}

async function everythingBehindHistory() {
  const next = history + 1
  return [{ from_block: next, to_block: Number(await chain.client.getBlockNumber()), next_block: next }]
}

function tablesOf(database: OwnDatabase) {
  return readChainTables(database.pool, 'base')
}
