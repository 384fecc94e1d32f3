import type { Logger } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { readChains } from '../../../config/chains.file.ts'
import { readChainState, writeChainState } from '../../../db/queries/chain/chain-state.ts'
import { Progress } from '../../../processors/progress.ts'
import { resetTo } from '../../../processors/reset/reset.ts'
import { openScope } from '../../../processors/scope/open.ts'
import { updateRecipients } from '../../../processors/scope/recipients.ts'
import { ChainDatabase } from '../../../processors/store/database.ts'
import type { Block } from '../../doubles/portal/blocks.ts'
import { generatedSource, recipientAddress } from '../../doubles/portal/generated-source.ts'
import { memorySource } from '../../doubles/portal/memory-source.ts'
import { keepTo, settlementsTo, verify } from '../../support/chain/scope.ts'
import { until } from '../../support/until.ts'
import { firstBlock, paidBlocks, startStage, token } from './stage.ts'

const known = recipientAddress(0)
const other = recipientAddress(1)

test('an address whose rest the source does not have yet keeps no other address waiting', async () => {
  const source = paidBlocks(300, 4, 50)
  const blocks = [...(source.blocks(firstBlock, firstBlock + 299) as Iterable<Block>)]
  const growing = memorySource({ blocks: blocks.slice(0, 100), startBlock: 0, emptyHeader: source.header })
  const load = await openLoad(growing)
  await load.moveTo(firstBlock + 299)
  await verify(load.pool, 1, known)
  await verify(load.pool, 2, other)
  await updateRecipients(load.pool, load.chain)
  const restBlock = firstBlock + 200
  await load.pool.query(`update known_recipient set next_block = $1 where address = decode(substr($2, 3), 'hex')`, [
    restBlock,
    other,
  ])
  load.start()
  await load.untilNext([firstBlock + 100, restBlock])

  growing.append(blocks.slice(100))
  await load.untilNext([firstBlock + 300, firstBlock + 300])
  const all = await load.stage.cleanSettlements(firstBlock + 299)
  const isTheirs = (row: string) => keepTo([row], [known]).length > 0 || JSON.parse(row).block_number >= restBlock
  const expected = keepTo(all, [known, other]).filter(isTheirs)
  expect(expected.length).toBeGreaterThan(30)
  expect(await settlementsTo(load.pool, 'base')).toEqual(expected)
  expect(load.warned).toEqual([])
})

test('a load that is ahead of the processor finds the partitions of its blocks', async () => {
  const first = 45_000_000 // a migrated database has no partitions there
  const last = first + 19
  const source = generatedSource({ firstBlock: first, blocks: 20, settlementsPerBlock: 4, token, recipients: 5 })
  const contract = (address: string) => ({ address, fromBlock: first })
  const load = await openLoad(source, () => ({
    registry: contract('0x8004a169fb4a3325136eb29fa0ceb6d2e539a432'),
    reputation: contract('0x8004baa17c55a88189ae136b182e5fda19de9b63'),
    tokens: [{ ...contract(token), decimals: 6 }],
    paymentContracts: [],
  }))
  await load.moveTo(firstBlock)
  await verify(load.pool, 1, known)
  load.start()
  await load.untilNext([last + 1])
  const expected = keepTo(await load.stage.cleanSettlements(last), [known])
  expect(expected.length).toBeGreaterThan(10)
  expect(await settlementsTo(load.pool, 'base')).toEqual(expected)
  expect(load.warned).toEqual([])
})

test('a start in the first catch-up loads nothing again, and after a reset all that it has deleted', async () => {
  const last = firstBlock + 299
  const load = await openLoad(paidBlocks(300, 4, 50))
  const database = new ChainDatabase(load.url, load.chain, new Progress(), console)
  await database.connect() // makes the cursor that the reset moves
  await database.close(0)
  await load.moveTo(firstBlock + 99)
  await verify(load.pool, 1, known)
  load.start()
  await load.untilNext([last + 1])
  const asked = load.stage.portal.requests.length
  await load.reopen()
  expect(await load.next()).toEqual([last + 1])
  load.start()
  await load.untilTurned()
  expect(load.stage.portal.requests.slice(asked)).toEqual([])

  const state = await readChainState(load.pool, 'base')
  const target = { height: firstBlock + 49, hash: `0x${'ab'.repeat(32)}` }
  if (state) await resetTo(load.pool, load.chain, state, target, { registrations: [], metadata: [] })
  await load.reopen()
  expect(await load.next()).toEqual([target.height + 1])
  load.start()
  await load.untilNext([last + 1])
  const expected = keepTo(await load.stage.cleanSettlements(last), [known])
  expect(expected.length).toBeGreaterThan(10)
  expect(await settlementsTo(load.pool, 'base')).toEqual(expected)
})

/** A database in which nothing is indexed yet, with the scope's loader, which a test has to start. */
async function openLoad(...stageOf: Parameters<typeof startStage>) {
  const stage = await startStage(...stageOf)
  onTestFinished(() => stage.end())
  const { url, pool } = await stage.database()
  const chain = readChains({ env: {}, file: stage.settings }).base
  const warned: string[] = []
  const log = { info: () => {}, warn: (text: string) => void warned.push(text) } as unknown as Logger
  const open = () => openScope({ databaseUrl: url, chain, scope: 'verified', portalKey: undefined, log })
  let opened = await open()
  const next = async () => {
    const { rows } = await pool.query('select next_block from known_recipient order by 1')
    return rows.map(({ next_block }) => next_block)
  }
  return {
    stage,
    url,
    pool,
    chain,
    warned,
    /** As if the processor had come to this block, and it were final. */
    moveTo: (block: number) =>
      writeChainState(pool, {
        chain: 'base',
        chainId: chain.id,
        indexedBlock: block,
        indexedAt: new Date(),
        headBlock: block,
        finalizedBlock: block,
      }),
    next,
    start() {
      const loader = opened?.loader
      loader?.start()
      onTestFinished(() => loader?.close(10_000))
    },
    /** Resolves once the loader has looked for something to load. */
    async untilTurned() {
      const { loader } = opened ?? {}
      const before = loader?.turnedAt ?? 0
      await until('the loader has looked', () => (loader?.turnedAt ?? 0) > before)
    },
    /** As if the processor had ended and started again; its loader has to be started. */
    async reopen() {
      await opened?.loader.close(10_000)
      opened = await open()
    },
    /** Resolves once these are the blocks at which the known addresses stand, ascending. */
    async untilNext(expected: readonly number[]) {
      let found: number[] = []
      await until(
        `the known addresses stand at ${expected}`,
        async () => {
          found = await next()
          return String(found) === String(expected)
        },
        { explain: () => `they stand at ${found}\n${warned.join('\n')}` },
      )
    },
  }
}
