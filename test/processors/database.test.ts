import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { type ChainSettings, readChains } from '../../config/chains.file.ts'
import { RegistrationTransfer } from '../../db/model/registrationTransfer.model.ts'
import type { SettlementRow } from '../../processors/mapping/settlements.ts'
import { Progress } from '../../processors/progress.ts'
import { ChainDatabase } from '../../processors/store/database.ts'
import { writeSettlements, writeUnpaid } from '../../processors/store/writer.ts'
import { startTcpLink } from '../doubles/tcp-link.ts'
import { readChainTables } from '../support/chain/oracle.ts'
import { createTestDatabase, type OwnDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'
import { paymentOf, selectors, token } from './calls.ts'

let database: OwnDatabase
let chain: ChainDatabase
let progress: Progress
beforeEach(async () => {
  database = await createTestDatabase()
  progress = new Progress()
  chain = open(readChains({ env: {} }).base)
  await chain.connect()
})
afterEach(async () => {
  await chain.close(0)
  await database.drop()
})

function open(settings: ChainSettings, url = database.url, warn: (text: string) => void = () => {}) {
  return new ChainDatabase(url, settings, progress, { warn })
}

const genesis = { height: -1, hash: '0x' }
const block = (height: number, fork = 'a') => ({ height, hash: `0x${fork}${height}` })

function rowsOf(height: number, count = 1): SettlementRow[] {
  return Array.from({ length: count }, (_, logIndex) => {
    const { payer, recipient, amount, nonce } = paymentOf(`${height}-${logIndex}`)
    return {
      chain: 'base',
      blockNumber: height,
      logIndex,
      blockTimestamp: 1_700_000_000_000 + height * 2_000,
      amount: amount + BigInt(logIndex),
      token,
      payer,
      recipient,
      facilitator: payer,
      paymentNonce: nonce,
      txHash: nonce,
      selector: selectors.transfer,
      selectorSource: 'c',
    }
  })
}

const tables = () => readChainTables(database.pool, 'base')
const state = async () => JSON.parse((await tables()).chain_state[0] ?? 'null')
/** First block, last block and the next one to audit of each range that was written from a node. */
async function headRanges() {
  const { rows } = await database.pool.query('select from_block, to_block, next_block from head_range order by 1')
  return rows.map(({ from_block, to_block, next_block }) => [from_block, to_block, next_block])
}

test('final rows by COPY and hot rows by insert are the same rows, but for the id that undoes the hot ones', async () => {
  await chain.transact({ prevHead: genesis, nextHead: block(9) }, (store) => writeSettlements(store, rowsOf(9, 3)))
  const final = (await tables()).settlement
  await database.pool.query('delete from settlement')
  await chain.transactHot2({ baseHead: block(9), finalizedHead: block(9), newBlocks: [block(10)] }, (store) =>
    writeSettlements(store, rowsOf(9, 3)),
  )
  expect((await tables()).settlement).toEqual(final)
  expect(final).toHaveLength(3)
  const { rows } = await database.pool.query('select id from settlement order by log_index')
  expect(rows.map(({ id }) => id)).toEqual(['base-9-0', 'base-9-1', 'base-9-2'])
})

test('rows lose the id that undoes them when their block becomes final, and leave the index of hot rows', async () => {
  await chain.transact({ prevHead: genesis, nextHead: block(9) }, async () => {})
  const write = (from: number, to: number, final: number) => {
    const newBlocks = Array.from({ length: to - from + 1 }, (_, at) => block(from + at))
    return chain.transactHot2(
      { baseHead: block(from - 1), finalizedHead: block(final), newBlocks },
      async (store, first, end) => {
        for (const { height } of newBlocks.slice(first, end)) await writeSettlements(store, rowsOf(height, 2))
      },
    )
  }
  const undoable = async () => {
    const { rows } = await database.pool.query('select id from settlement where id is not null order by id')
    return rows.map(({ id }) => id)
  }
  await write(10, 12, 9)
  expect(await undoable()).toEqual(['base-10-0', 'base-10-1', 'base-11-0', 'base-11-1', 'base-12-0', 'base-12-1'])
  await write(13, 13, 11)
  expect(await undoable()).toEqual(['base-12-0', 'base-12-1', 'base-13-0', 'base-13-1'])
  expect((await tables()).settlement).toHaveLength(8)
  // Blocks 12 and 13 are replaced by one other.
  await chain.transactHot2(
    { baseHead: block(11), finalizedHead: block(11), newBlocks: [block(12, 'b')] },
    async (store) => writeSettlements(store, rowsOf(12)),
  )
  expect(await undoable()).toEqual(['base-12-0'])
  expect((await tables()).settlement).toHaveLength(5)
})

test('blocks that the archive did not hand over are noted as written from a node, forks and restarts included', async () => {
  await chain.transact({ prevHead: genesis, nextHead: block(9) }, async () => {})
  expect(await headRanges()).toEqual([]) // there is no archive
  progress.archiveReadTo = 20
  await chain.transact({ prevHead: block(9), nextHead: block(20) }, async () => {})
  expect(await headRanges()).toEqual([])
  progress.seeArchive(30) // it has got further, and is not asked for more blocks
  await chain.transact({ prevHead: block(20), nextHead: block(25) }, async () => {})
  const hot = (from: number, to: number, fork = 'a') => ({
    baseHead: block(from - 1),
    finalizedHead: block(25),
    newBlocks: Array.from({ length: to - from + 1 }, (_, at) => block(from + at, fork)),
  })
  await chain.transactHot2(hot(26, 28), async () => {})
  await chain.transactHot2(hot(27, 29, 'b'), async () => {})
  expect(await headRanges()).toEqual([[21, 29, 21]])
})

test('a restart that reads nothing from the archive notes what it writes, and nothing that was stored before', async () => {
  progress.archiveReadTo = 20
  await chain.transact({ prevHead: genesis, nextHead: block(20) }, async () => {})
  expect(await headRanges()).toEqual([])
  await chain.close(0)

  progress = new Progress()
  progress.archiveReadTo = -1
  chain = open(readChains({ env: {} }).base)
  const prevHead = await chain.connect()
  await chain.transact({ prevHead, nextHead: block(25) }, async () => {})
  expect(await headRanges()).toEqual([[21, 25, 21]])
  progress.seeArchive(40) // it answers at last
  await chain.transact({ prevHead: block(25), nextHead: block(30) }, async () => {})
  expect(await headRanges()).toEqual([[21, 30, 21]])
})

test('hundreds of hot blocks at a time are all noted, so that a restart and a fork find each of them', async () => {
  await chain.transact({ prevHead: genesis, nextHead: block(9) }, async () => {})
  const newBlocks = Array.from({ length: 450 }, (_, at) => block(10 + at))
  const seen: number[] = []
  await chain.transactHot2({ baseHead: block(9), finalizedHead: block(20), newBlocks }, async (store, first, end) => {
    for (const { height } of newBlocks.slice(first, end)) {
      seen.push(height)
      await writeSettlements(store, rowsOf(height))
    }
  })
  expect(seen).toEqual(newBlocks.map(({ height }) => height))
  expect((await tables()).settlement).toHaveLength(450)
  expect(progress.reorgs.count).toBe(0)
  const { height, top } = await open(readChains({ env: {} }).base).connect()
  expect([height, ...top.map((hot) => hot.height)]).toEqual(Array.from({ length: 440 }, (_, at) => 20 + at))
  await chain.transactHot2(
    { baseHead: block(305), finalizedHead: block(20), newBlocks: [block(306, 'b')] },
    async () => {},
  )
  expect((await tables()).settlement).toHaveLength(296)
  expect(await state()).toMatchObject({ indexed_block: 306, finalized_block: 20 })
})

test('a batch larger than one piece of the COPY arrives whole, in every partition', async () => {
  const rows = [...rowsOf(29_999_999, 3_000), ...rowsOf(30_000_000, 3_000)]
  await chain.transact({ prevHead: genesis, nextHead: block(30_000_000) }, (store) => writeSettlements(store, rows))
  const { rows: found } = await database.pool.query(
    `select tableoid::regclass::text as partition, count(*)::int as rows, sum(amount)::text as amount
       from settlement group by 1 order by 1`,
  )
  const amount = String(3_000 * 1_500_000 + (2_999 * 3_000) / 2)
  expect(found).toEqual([
    { partition: 'settlement_base_0000', rows: 3_000, amount },
    { partition: 'settlement_base_0030', rows: 3_000, amount },
  ])
})

test('rows, cursor and chain_state are written together or not at all', async () => {
  const failing = chain.transact({ prevHead: genesis, nextHead: block(9) }, async (store) => {
    await writeSettlements(store, rowsOf(9))
    await writeUnpaid(store, 'base', [{ blockNumber: 9, token, count: 2 }])
    throw new Error('on purpose')
  })
  await expect(failing).rejects.toThrow('on purpose')
  expect(Object.values(await tables()).flat()).toEqual([])
  const { rows } = await database.pool.query('select height from processor_base.status')
  expect(rows).toEqual([{ height: -1 }])
  expect(progress.indexedBlock).toBeUndefined()
  expect(chain.final).toBeUndefined()

  await chain.transact({ prevHead: genesis, nextHead: block(9) }, (store) => writeSettlements(store, rowsOf(9)))
  expect(await state()).toMatchObject({ indexed_block: 9, finalized_block: 9, chain_id: 8453 })
  expect(chain.final).toMatchObject(block(9))
  expect(progress.finalBlock).toBe(9)
})

test('chain_state names the last block, its time, the final block and the head as last seen', async () => {
  const mapped = (height: number) => {
    const header = { ...block(height), timestamp: 1_700_000_000_000 + height * 1_000 }
    progress.add([{ header, logs: [], transactions: [] }], 0, [], [])
  }
  await chain.transact({ prevHead: genesis, nextHead: block(9) }, async () => mapped(9))
  expect(await state()).toMatchObject({ indexed_at: '2023-11-14T22:13:29+00:00', head_block: 9 })

  progress.seeHead(50)
  const newBlocks = [block(10), block(11), block(12)]
  await chain.transactHot2({ baseHead: block(9), finalizedHead: block(10), newBlocks }, async (_, from, to) => {
    for (const { height } of newBlocks.slice(from, to)) mapped(height)
  })
  const hot = { indexed_block: 12, indexed_at: '2023-11-14T22:13:32+00:00', finalized_block: 10, head_block: 50 }
  expect(await state()).toMatchObject(hot)
  expect(progress.finalBlock).toBe(10)

  // Passing over blocks below everything that is asked for: nothing of them is known but number and hash.
  await chain.transact({ prevHead: block(10), nextHead: block(40) }, async () => {})
  expect(await state()).toMatchObject({ indexed_block: 40, indexed_at: null })
})

test('a fork undoes the rows of the blocks it replaces, and chain_state follows', async () => {
  await chain.transact({ prevHead: genesis, nextHead: block(9) }, (store) => writeSettlements(store, rowsOf(9)))
  const hot = (fork: string, from: number, to: number) => {
    const newBlocks = Array.from({ length: to - from + 1 }, (_, step) => block(from + step, fork))
    return chain.transactHot2({ baseHead: block(from - 1), finalizedHead: block(9), newBlocks }, async (store, at) => {
      const { height } = newBlocks[at]!
      await writeSettlements(store, rowsOf(height))
      await writeUnpaid(store, 'base', [{ blockNumber: height, token, count: 1 }])
      await store.insert(transferAt(height))
    })
  }
  await hot('a', 10, 14)
  await hot('b', 12, 12)
  const after = await tables()
  const heights = (rows: string[]) => rows.map((row) => JSON.parse(row).block_number)
  expect(heights(after.settlement)).toEqual([9, 10, 11, 12])
  expect(heights(after.unpaid_authorization)).toEqual([10, 11, 12])
  expect(heights(after.registration_transfer)).toEqual([10, 11, 12])
  expect(await state()).toMatchObject({ indexed_block: 12, finalized_block: 9 })
  expect(progress.reorgs).toEqual({ count: 1, lastDepth: 3 })
})

function transferAt(blockNumber: number) {
  const bytes = Buffer.alloc(20, blockNumber)
  return new RegistrationTransfer({
    id: `base-${blockNumber}-7`,
    chain: 'base',
    agentId: 0n,
    from: null,
    to: bytes,
    blockNumber,
    logIndex: 7,
    blockTimestamp: new Date(0),
    txHash: bytes,
  })
}

test('of two writers with the same past exactly one writes, and the other is told', async () => {
  const second = open(readChains({ env: {} }).base)
  await second.connect()
  const write = (writer: ChainDatabase) =>
    writer.transact({ prevHead: genesis, nextHead: block(9) }, (store) =>
      writeUnpaid(store, 'base', [{ blockNumber: 9, token, count: 1 }]),
    )
  const outcomes = await Promise.allSettled([write(chain), write(second)])
  await second.close(0)
  expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  expect((await tables()).unpaid_authorization).toHaveLength(1)
})

test('a writer that finds the cursor moved by somebody else keeps nothing, even where it would fit', async () => {
  const hot = (writer: ChainDatabase, from: number) =>
    writer.transactHot2({ baseHead: block(from - 1), finalizedHead: block(9), newBlocks: [block(from)] }, (store) =>
      writeSettlements(store, rowsOf(from)),
    )
  await chain.transact({ prevHead: genesis, nextHead: block(9) }, async () => {})
  const second = open(readChains({ env: {} }).base)
  await second.connect()
  await hot(chain, 10)
  const after = await tables()
  await expect(hot(second, 10)).rejects.toThrow('another processor of base has written to this database')
  expect(await tables()).toEqual(after)
  await second.close(0)
  await hot(chain, 11)
  expect((await tables()).settlement).toHaveLength(2)
})

test('a database that cannot be reached is waited for; a transaction that has begun is not begun again', async () => {
  const address = new URL(database.url)
  const link = await startTcpLink(Number(address.port))
  onTestFinished(() => link.close())
  address.port = String(link.port)
  const warned: string[] = []
  const writer = open(readChains({ env: {} }).base, address.href, (text) => void warned.push(text))
  onTestFinished(() => writer.close(0))
  await writer.connect()
  let last = genesis
  const write = async (height: number, during = async () => {}) => {
    await writer.transact({ prevHead: last, nextHead: block(height) }, async (store) => {
      await writeSettlements(store, rowsOf(height))
      await during()
    })
    last = block(height)
  }

  await link.cut()
  const first = write(9)
  await until('it waits', () => warned.length > 0)
  await link.mend()
  await first
  await link.cut()
  const far = write(45_000_000) // whose partition is not there yet
  await link.mend()
  await far
  expect(warned).toEqual([expect.stringMatching(/^the database: .*; it is asked until it answers/)])
  expect((await tables()).settlement).toHaveLength(2)

  let times = 0
  const cut = async () => {
    times++
    await link.cut()
  }
  await expect(write(45_000_001, cut)).rejects.toThrow(/terminated|ECONN|not queryable/)
  expect(times).toBe(1)
  await link.mend()
})

test('closing lets the transaction in flight end, and begins none behind it', async () => {
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const first = chain.transact({ prevHead: genesis, nextHead: block(9) }, async (store) => {
    await held
    await writeSettlements(store, rowsOf(9))
  })
  const closed = chain.close(30_000)
  let began = false
  void chain.transact({ prevHead: block(9), nextHead: block(10) }, async () => {
    began = true
  })
  release()
  await Promise.all([first, closed])
  expect((await tables()).settlement).toHaveLength(1)
  expect(began).toBe(false)
})

test('closing does not wait longer than it may, and nothing half done is seen', async () => {
  let entered = () => {}
  const isIn = new Promise<void>((resolve) => {
    entered = resolve
  })
  void chain
    .transact({ prevHead: genesis, nextHead: block(9) }, async (store) => {
      await writeSettlements(store, rowsOf(9))
      entered()
      await new Promise(() => {})
    })
    .catch(() => {})
  await isIn
  await chain.close(100)
  expect((await tables()).settlement).toEqual([])
})

test('amounts of nothing and of all eight bytes survive the COPY', async () => {
  const [row] = rowsOf(9) as [SettlementRow]
  const rows = [0n, 1n, 2n ** 63n - 1n].map((amount, logIndex) => ({ ...row, amount, logIndex }))
  await chain.transact({ prevHead: genesis, nextHead: block(9) }, (store) => writeSettlements(store, rows))
  const { rows: found } = await database.pool.query('select amount::text from settlement order by log_index')
  expect(found.map(({ amount }) => amount)).toEqual(['0', '1', '9223372036854775807'])
})
