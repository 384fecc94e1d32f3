import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { inTransaction } from '../../../db/pool.ts'
import type { Block } from '../../doubles/portal/blocks.ts'
import { type MemorySource, memorySource } from '../../doubles/portal/memory-source.ts'
import type { TestProcessor } from '../../support/chain/processor.ts'
import { keepTo, untilNoticed, untilSettled, unverify, verify } from '../../support/chain/scope.ts'
import type { TestDatabase } from '../../support/database.ts'
import { runMain } from '../../support/mains.ts'
import { firstBlock, paidBlocks, recipientsOf, type ScopeStage, startStage } from './stage.ts'

const timeout = 400_000
const lastBlock = firstBlock + 299
/** Last final block when the first processor starts: it loads these by recipient, and indexes later ones itself. */
const historyEnd = firstBlock + 99
const chunkBlocks = 10

const source = paidBlocks(300, 4, 1_000)
let blocks: Block[]
let all: string[]
let recipients: string[]
let stage: ScopeStage
beforeAll(async () => {
  blocks = [...(source.blocks(firstBlock, lastBlock) as Iterable<Block>)]
  const clean = await startStage(source)
  all = await clean.cleanSettlements(lastBlock)
  recipients = recipientsOf(all)
  await clean.end()
})
afterEach(() => stage?.end())

/** A source with the first hundred blocks of the chain, to which a test appends the others. */
function growingSource(): MemorySource {
  const history = blocks.slice(0, historyEnd + 1 - firstBlock)
  return memorySource({ blocks: history, startBlock: 0, chunkBlocks, emptyHeader: source.header })
}

test('a v2 archive gives the same rows', { timeout }, async () => {
  stage = await startStage(source, (portal) => ({ portal: null, gateway: portal.gatewayUrl('base-mainnet') }))
  const database = await stage.database()
  const verified = recipients.slice(0, 9)
  await verifyAll(database, verified)
  await untilKept(database, verified, await stage.start(database))
})

test('more addresses than one question takes are loaded in turn', { timeout }, async () => {
  stage = await startStage(source)
  const database = await stage.database()
  await verifyAll(database, recipients)
  const processor = await stage.start(database)
  await untilKept(database, recipients, processor)
  expect(recipients.length).toBeGreaterThan(500)
  await processor.untilOutput(/settlements of 500 recipients are there up to block 1299/)
  await processor.untilOutput(new RegExp(`settlements of ${recipients.length - 500} recipients are there`))
})

test('a source that does not take so many addresses is asked for fewer', { timeout }, async () => {
  stage = await startStage(source)
  const database = await stage.database()
  const processor = await stage.start(database)
  await processor.untilIndexed(lastBlock)
  stage.portal.faults.add({ kind: 'status', status: 413 })
  const asked = stage.portal.requests.length
  await verifyAll(database, recipients)
  await untilKept(database, recipients, processor)
  const topics = stage.portal.requests.slice(asked).flatMap(({ path, body }) => {
    return path.endsWith('/finalized-stream') ? [JSON.parse(body).logs[0].topic2.length] : []
  })
  expect(topics.slice(0, 2)).toEqual([500, 250])
})

test.each([
  ['blocks the processor has read itself', 1_200],
  ['blocks that were loaded by recipient', 1_050],
])('after a reset into %s everything is there again', { timeout }, async (_, to) => {
  const growing = growingSource()
  stage = await startStage(growing)
  const database = await stage.database()
  const [kept, other, again, later] = recipients as [string, string, string, string]
  await verifyAll(database, [kept, other, again])
  const first = await stage.start(database)
  await first.untilIndexed(historyEnd)
  growing.append(blocks.slice(100, 250))
  await first.untilIndexed(firstBlock + 249)
  await untilKept(database, [kept, other, again], first, firstBlock + 249)
  await unverify(database.pool, 1, again)
  await untilNoticed(database.pool, 'base', again, false)
  await first.stop()

  expect(await reset(database, '--to', String(to))).toMatchObject({ code: 0, stderr: '' })
  await verify(database.pool, 1, later)
  const second = await stage.start(database)
  growing.append(blocks.slice(250))
  await second.untilIndexed(lastBlock)
  await verify(database.pool, 1, again)
  await untilKept(database, [kept, other, again, later], second)
})

test('a chain that is reset wholly starts over, with the scope that is set then', { timeout }, async () => {
  stage = await startStage(source)
  const database = await stage.database()
  const verified = recipients.slice(0, 3)
  await verifyAll(database, verified)
  const first = await stage.start(database)
  await untilKept(database, verified, first)
  await first.stop()

  expect(await reset(database, '--all')).toMatchObject({ code: 0, stderr: '' })
  const second = await stage.start(database)
  await untilKept(database, verified, second)
  await second.stop()

  expect(await reset(database, '--all')).toMatchObject({ code: 0, stderr: '' })
  const third = await stage.start(database, {})
  await untilSettled(database.pool, 'base', all, { processor: third })
  const { rows } = await database.pool.query('select from known_recipient')
  expect(rows).toEqual([])
})

test('going back to where everybody was kept makes everybody kept again', { timeout }, async () => {
  const growing = growingSource()
  stage = await startStage(growing)
  const database = await stage.database()
  const first = await stage.start(database, {})
  await first.untilIndexed(historyEnd)
  await first.stop()
  await verifyAll(database, recipients.slice(0, 2))
  growing.append(blocks.slice(100))
  const second = await stage.start(database)
  await second.untilIndexed(lastBlock)
  await second.stop()

  const third = await stage.start(database, {})
  expect(await third.untilExit()).toBe(1)
  expect(third.output()).toContain('npm run reset -- --chain base --to 1099 (or --all)\n')
  expect(await reset(database, '--to', '1099')).toMatchObject({ code: 0, stderr: '' })
  const fourth = await stage.start(database, {})
  await untilSettled(database.pool, 'base', all, { processor: fourth })
})

test('asked to end in the middle of a load, a processor ends with 0 and loses no step', { timeout }, async () => {
  stage = await startStage(source)
  const database = await stage.database()
  const verified = recipients.slice(0, 4)
  await verifyAll(database, verified)
  stage.portal.faults.add({ kind: 'silence', lines: 1 }, { skip: 2, times: 20 })
  const first = await stage.start(database)
  await first.untilOutput(/loading the settlements of 4 recipients/)
  await first.kill('SIGTERM')
  expect(await first.untilExit()).toBe(0)
  stage.portal.faults.clear()
  await untilKept(database, verified, await stage.start(database))
})

/** Verifies all addresses in one transaction. */
async function verifyAll({ pool }: TestDatabase, addresses: readonly string[]) {
  await inTransaction(pool, async (db) => {
    for (const address of addresses) await verify(db, 1, address)
  })
}

/** Resolves when the database holds the settlements to these addresses up to a block, and no others. */
function untilKept({ pool }: TestDatabase, addresses: readonly string[], processor: TestProcessor, upTo = lastBlock) {
  const rows = keepTo(all, addresses).filter((row) => JSON.parse(row).block_number <= upTo)
  return untilSettled(pool, 'base', rows, { processor })
}

async function reset({ url }: TestDatabase, ...to: string[]) {
  const chainsFile = join(folder, 'chains.json')
  await writeFile(chainsFile, JSON.stringify(stage.settings))
  const env = { DATABASE_URL: url, CHAINS_FILE: chainsFile }
  return runMain('processors/reset/main.ts', ['--chain', 'base', ...to], { env })
}

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'scope-test-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))
