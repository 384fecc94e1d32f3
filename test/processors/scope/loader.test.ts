import type { Logger } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { readChains } from '../../../chains.file.ts'
import { writeChainState } from '../../../db/queries/chain/chain-state.ts'
import { openScope } from '../../../processors/scope/open.ts'
import { generatedSource, recipientAddress } from '../../doubles/portal/generated-source.ts'
import { keepTo, settlementsTo, verify } from '../../support/chain/scope.ts'
import { until } from '../../support/until.ts'
import { firstBlock, startStage, token } from './stage.ts'

const known = recipientAddress(0)

test('a load that is ahead of the processor finds the partitions of its blocks', async () => {
  const first = 60_000_000 // a migrated database has no partitions there
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

/** A database in which nothing is indexed yet, with the scope's loader, which a test has to start. */
async function openLoad(...stageOf: Parameters<typeof startStage>) {
  const stage = await startStage(...stageOf)
  onTestFinished(() => stage.end())
  const { url, pool } = await stage.database()
  const chain = readChains({ env: {}, file: stage.settings }).base
  const warned: string[] = []
  const log = { info: () => {}, warn: (text: string) => void warned.push(text) } as unknown as Logger
  const opened = await openScope({ databaseUrl: url, chain, scope: 'verified', portalKey: undefined, log })
  const next = async () => {
    const { rows } = await pool.query('select next_block from known_recipient order by 1')
    return rows.map(({ next_block }) => next_block)
  }
  return {
    stage,
    pool,
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
    start() {
      opened?.loader.start()
      onTestFinished(() => opened?.loader.close(10_000))
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
