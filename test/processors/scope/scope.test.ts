import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../../ops/ports.ts'
import type { Block } from '../../doubles/portal/blocks.ts'
import { memorySource } from '../../doubles/portal/memory-source.ts'
import { runBackfill } from '../../support/chain/backfill.ts'
import type { TestProcessor } from '../../support/chain/processor.ts'
import {
  keepTo,
  settlementsTo,
  untilNoticed,
  untilSettled,
  unverify,
  verifiedScope,
  verify,
} from '../../support/chain/scope.ts'
import type { TestDatabase } from '../../support/database.ts'
import { firstBlock, paidBlocks, recipientsOf, type ScopeStage, startStage } from './stage.ts'

const timeout = 400_000
/** Milliseconds between two blocks of a growing chain. */
const blockMs = 50

describe('of a chain with a long history', () => {
  const blocks = 300
  const lastBlock = firstBlock + blocks - 1
  let stage: ScopeStage
  let all: string[]
  let recipients: string[]
  beforeAll(async () => {
    stage = await startStage(paidBlocks(blocks, 4, 50))
    all = await stage.cleanSettlements(lastBlock)
    recipients = recipientsOf(all)
  })
  afterAll(() => stage?.end())

  /** Resolves when the database holds the settlements to these addresses, and no others. */
  const untilKept = (database: TestDatabase, addresses: readonly string[], processor: TestProcessor) =>
    untilSettled(database.pool, 'base', keepTo(all, addresses), { processor })

  test('the settlements of verified addresses are read by recipient, and nobody else is downloaded', {
    timeout,
  }, async () => {
    const database = await stage.database()
    const verified = recipients.slice(0, 7)
    for (const [fid, address] of verified.entries()) await verify(database.pool, fid + 1, address)
    const before = stage.portal.requests.length
    const metricsPort = String(await freePort())
    const processor = await stage.start(database, { ...verifiedScope, METRICS_PORT: metricsPort })
    await untilKept(database, verified, processor)
    await processor.untilIndexed(lastBlock)
    const bodies = stage.portal.requests.slice(before).flatMap(({ path, body }) => {
      return path.endsWith('/finalized-stream') ? [JSON.parse(body)] : []
    })
    const executed = '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5'
    const asked = bodies.filter(({ fromBlock, logs = [] }) => {
      return fromBlock <= lastBlock && logs.some(({ topic0 }: { topic0: string[] }) => topic0.includes(executed))
    })
    expect(asked).toEqual([])
    await processor.untilOutput(/the settlements of 7 recipients are there up to block 1299/)

    await verify(database.pool, 8, recipients[7]!)
    await untilKept(database, recipients.slice(0, 8), processor)
    const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
    expect(metrics).toMatch(/^agent_directory_processor_scope_recipients_waiting\{chain="base"\} \d+$/m)
    expect(metrics).toMatch(/^agent_directory_processor_scope_blocks_to_go\{chain="base"\} \d+$/m)
    await processor.stop()
  })

  test('a Portal in trouble gives the same rows', { timeout }, async () => {
    const database = await stage.database()
    await verify(database.pool, 1, recipients[3]!)
    const { faults } = stage.portal
    for (const [skip, how] of (['end', 'truncate', 'abort', 'reset'] as const).entries()) {
      faults.add({ kind: 'cut', lines: 2, how }, { skip: 3 * skip })
    }
    faults.add({ kind: 'status', status: 429, retryAfterSeconds: 1 }, { skip: 5 })
    const processor = await stage.start(database)
    await untilKept(database, recipients.slice(3, 4), processor)
    await processor.stop()
    faults.clear()
  })

  test('rows of a time when everybody was kept stay, and bring what they hold along', { timeout }, async () => {
    const database = await stage.database()
    const first = await stage.start(database, {})
    await first.untilIndexed(lastBlock)
    await first.stop()
    await verify(database.pool, 1, recipients[0]!)
    const second = await stage.start(database)
    await second.untilOutput(
      /only settlements of verified addresses are kept; up to block 1299 those of everybody are there/,
    )
    await untilNoticed(database.pool, 'base', recipients[0]!, true)
    const { rows } = await database.pool.query('select next_block > to_block as complete from known_recipient')
    expect(rows).toEqual([{ complete: true }])
    expect(await settlementsTo(database.pool, 'base')).toEqual(all)
    await second.stop()

    // No settlement has been left out yet, so the scope can go back to `all`.
    const third = await stage.start(database, {})
    await third.untilOutput(/resuming after block 1299/)
    await third.stop()
    expect((await database.pool.query('select from settlement_scope')).rows).toEqual([])
  })

  test('there is nothing to backfill, and a backfill that is not at its end comes first', { timeout }, async () => {
    const database = await stage.database()
    const options = {
      databaseUrl: database.url,
      chainSettings: stage.settings,
      args: ['--chain', 'base', '--from', '1000', '--to', '1099'],
    }
    const nothing =
      'with SETTLEMENT_SCOPE=verified there is nothing to backfill: the processor of base loads the history of each ' +
      'verified address by itself\n'
    expect(await runBackfill({ ...options, env: verifiedScope })).toMatchObject({ code: 1, stderr: nothing })

    await database.pool.query(`insert into backfill (chain, from_block, to_block) values ('base', 1000, 1099)`)
    const refused = await stage.start(database)
    expect(await refused.untilExit()).toBe(1)
    expect(refused.output()).toBe(
      'a backfill of base has not loaded all of blocks 1000 to 1099; finish it with --from 1000 --to 1099 and ' +
        'SETTLEMENT_SCOPE=all before setting it to verified\n',
    )
    await database.pool.query('delete from backfill')
    const processor = await stage.start(database)
    await processor.untilIndexed(lastBlock)
    expect(await runBackfill(options)).toMatchObject({ code: 1, stderr: nothing })
  })

  test('a database without the settlements of everybody else does not go on as if it had them', {
    timeout,
  }, async () => {
    const database = await stage.database()
    const first = await stage.start(database)
    await first.untilIndexed(lastBlock)
    await first.stop()
    const second = await stage.start(database, {})
    expect(await second.untilExit()).toBe(1)
    expect(second.output()).toBe(
      'base was indexed with SETTLEMENT_SCOPE=verified from block 0 on: settlements of other recipients are missing; ' +
        'set it again, or index them again with: npm run reset -- --chain base --all\n',
    )
  })
})

test('whoever becomes verified while the chain grows gets every settlement, however the moments fall', {
  timeout,
}, async () => {
  const source = paidBlocks(400, 6, 40)
  const blocks = [...(source.blocks(firstBlock, firstBlock + 399) as Iterable<Block>)]
  const growing = memorySource({
    blocks: blocks.slice(0, 50),
    startBlock: 0,
    chunkBlocks: 3,
    emptyHeader: source.header,
  })
  const stage = await startStage(growing)
  try {
    const database = await stage.database()
    const processor = await stage.start(database)
    const everybody = [...new Set(blocks.flatMap(({ logs }) => logs.flatMap(({ topics }) => recipientOf(topics))))]
    const verified = new Set<string>()
    for (const [at, block] of blocks.slice(50).entries()) {
      growing.append([block])
      const address = everybody[at % everybody.length]!
      if (verified.has(address)) await unverify(database.pool, 1, address)
      else await verify(database.pool, 1, address)
      if (!verified.delete(address)) verified.add(address)
      await delay(blockMs)
    }
    const all = await stage.cleanSettlements(firstBlock + 399)
    const addresses = [...verified]
    expect(addresses.length).toBeGreaterThan(10)
    await untilSettled(database.pool, 'base', keepTo(all, addresses), { recipients: addresses, processor })
  } finally {
    await stage.end()
  }
})

/** Recipient of a Transfer log, from its topics, as a list; empty: no such topic. */
function recipientOf([, , to]: readonly string[]): string[] {
  return to?.startsWith(`0x${'0'.repeat(24)}`) ? [`0x${to.slice(26)}`] : []
}
