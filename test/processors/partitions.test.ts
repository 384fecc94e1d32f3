import { expect, onTestFinished, test } from 'vitest'
import { amendChain, chainOf, settlementChains } from '../../config/chains.ts'
import { migrate } from '../../db/migrate.ts'
import { inTransaction } from '../../db/pool.ts'
import { ensurePartitions } from '../../db/queries/chain/partitions/settlement-partitions.ts'
import { PartitionsAhead } from '../../processors/store/partitions-ahead.ts'
import { testDatabase } from '../support/database.ts'
import { addressOf, seedSettlement } from '../support/seed.ts'

const million = 1_000_000

const database = testDatabase()

async function partitionOf(block: number, chain = 'base'): Promise<string> {
  const { rows } = await database.pool.query(
    'select tableoid::regclass::text as partition from settlement where (chain, block_number) = ($1, $2)',
    [chain, block],
  )
  return rows[0].partition
}
const rangesFrom = async (first: number) => {
  const { rows } = await database.pool.query(
    `select c.relname as name, pg_get_expr(relpartbound, c.oid) as bound, array_to_string(reloptions, ' ') as options
       from pg_inherits join pg_class c on c.oid = inhrelid
      where inhparent = 'settlement_base'::regclass order by 1`,
  )
  return rows.filter(({ bound }) => Number(/FROM \((\d+)\)/.exec(bound)?.[1]) >= first)
}
const ensure = (chain: string, upTo: number, mostRows?: number) =>
  inTransaction(database.pool, (client) => ensurePartitions(client, chain, upTo, mostRows))

test('a row has its partition before it is written, and two more are made ahead', async () => {
  const ahead = new PartitionsAhead(database.url, 'base')
  await ahead.reach(60 * million)
  for (const [block, partition] of [
    [29_999_999, 'settlement_base_0000'],
    [30 * million, 'settlement_base_0030'],
    [59_999_999, 'settlement_base_0059'],
    [60 * million, 'settlement_base_0060'],
    [62_999_999, 'settlement_base_0062'],
  ] as const) {
    await seedSettlement(database.pool, { chain: 'base', recipient: addressOf('recipient'), block })
    expect(await partitionOf(block)).toBe(partition)
  }
})

test('a row beyond the last partition is refused, and no partition is in the way of taking others out', async () => {
  const seeded = seedSettlement(database.pool, {
    chain: 'base',
    recipient: addressOf('recipient'),
    block: 900 * million,
  })
  await expect(seeded).rejects.toThrow('no partition of relation "settlement_base" found for row')
  await database.pool.query('alter table settlement_base detach partition settlement_base_0033 concurrently')
  await database.pool.query('drop table settlement_base_0033')
})

test('where settlements are dense a partition has fewer blocks, and each is vacuumed by the rows it got', async () => {
  await ensure('base', 62 * million)
  await database.pool.query('analyze settlement_base_0060')
  const rows = 4 // one settlement in a million blocks: as dense as 16 times the bound
  for (let block = 1; block < rows; block++) {
    await seedSettlement(database.pool, {
      chain: 'base',
      recipient: addressOf('recipient'),
      block: 60 * million + block,
    })
  }
  await database.pool.query('analyze settlement_base_0060; analyze settlement_base_0062')
  await ensure('base', 63.6 * million, 1)
  expect((await rangesFrom(63 * million)).map(({ name, bound }) => [name, bound])).toEqual([
    ['settlement_base_0063', 'FOR VALUES FROM (63000000) TO (63250000)'],
    ['settlement_base_0063_250', 'FOR VALUES FROM (63250000) TO (63500000)'],
    ['settlement_base_0063_500', 'FOR VALUES FROM (63500000) TO (63750000)'],
  ])
  for (const { options } of await rangesFrom(0)) {
    expect(options).toBe('autovacuum_vacuum_insert_scale_factor=0 autovacuum_vacuum_insert_threshold=1000000')
  }
})

test('partitions are made while others read and write, and once when several ask at once', async () => {
  const reader = await database.pool.connect()
  const writer = await database.pool.connect()
  onTestFinished(() => {
    reader.release()
    writer.release()
  })
  await reader.query('begin; select from settlement')
  await writer.query('begin; delete from settlement where block_number = 60000000')
  await Promise.all(Array.from({ length: 4 }, () => ensure('base', 70 * million)))
  await reader.query('commit')
  await writer.query('commit')
  expect((await rangesFrom(69 * million)).map(({ bound }) => bound)).toEqual([
    'FOR VALUES FROM (69750000) TO (70750000)',
  ])
})

test('every chain with a token is divided by blocks, and a chain without a token has none', async () => {
  const count = async () => (await database.pool.query('select count(*)::int from pg_inherits')).rows[0].count
  const { rows } = await database.pool.query(
    `select chain, isleaf from unnest(settlement_chain_names()) chain
       cross join lateral pg_partition_tree('settlement_' || chain) where level = 0 order by 1`,
  )
  expect(rows).toEqual(
    settlementChains()
      .toSorted()
      .map((chain) => ({ chain, isleaf: false })),
  )
  const before = await count()
  await new PartitionsAhead(database.url, 'gnosis').reach(900 * million)
  expect(await count()).toBe(before)
  expect(chainOf('gnosis').tokens).toEqual([])
})

test('partitions of another size continue behind those that are there, and begin at whole millions or quarters of one', async () => {
  const made = async () => {
    const { rows } = await database.pool.query(
      `select c.relname as name, pg_get_expr(relpartbound, c.oid) as bound
         from pg_inherits join pg_class c on c.oid = inhrelid
        where inhparent = 'settlement_polygon'::regclass order by 1`,
    )
    return rows.map(({ name, bound }) => `${name} ${bound.replace('FOR VALUES ', '')}`)
  }
  const before = await made()
  expect(before.at(-1)).toBe('settlement_polygon_0078 FROM (78000000) TO (86000000)')
  const { partitions } = chainOf('polygon')
  onTestFinished(() => amendChain('polygon', { partitions }))
  amendChain('polygon', { partitions: { blocks: 3 * million, oneBelow: 80 * million } })
  await ensure('polygon', 88 * million)
  expect(await made()).toEqual([...before, 'settlement_polygon_0086 FROM (86000000) TO (89000000)'])
  for (const block of [85_999_999, 86_000_000]) {
    await seedSettlement(database.pool, { chain: 'polygon', recipient: addressOf('recipient'), block })
  }
  // Fewer than that many rows in each: 750,000 blocks, and no fraction of a thousand.
  await database.pool.query('analyze settlement_polygon_0078; analyze settlement_polygon_0086')
  await ensure('polygon', 89 * million, 0.2)
  expect((await made()).at(-1)).toBe('settlement_polygon_0089 FROM (89000000) TO (89500000)')
})

test('migrating again changes nothing of what the chain table has made', async () => {
  const read = async () =>
    (
      await database.pool.query(
        `select (select count(*) from pg_inherits) as partitions, (select array_agg(xmin::text order by chain) from settlement_rollup) as marks,
                (select array_agg(xmin::text order by proname) from pg_proc where proname ~ '^(settlement_)?chain_') as functions`,
      )
    ).rows
  const before = await read()
  expect(await migrate(database.url)).toEqual([])
  expect(await read()).toEqual(before)
})

test('a chain that has payment contracts alone is rolled up and covered from the first of them on', async () => {
  const fromBlock = 44_600_000
  amendChain('gnosis', { paymentContracts: [{ kind: 'permit2_exact', address: addressOf('proxy'), fromBlock }] })
  onTestFinished(() => amendChain('gnosis', { paymentContracts: [] }))
  await migrate(database.url)
  const { rows } = await database.pool.query(
    `select 'gnosis' = any (settlement_chain_names()) as named, chain_first_block_of('gnosis') as first, next_block
       from settlement_rollup where chain = 'gnosis'`,
  )
  expect(rows).toEqual([{ named: true, first: fromBlock, next_block: 0 }])
})

test('a chain that has tokens by CHAINS_FILE alone is divided and counted like any', async () => {
  const tokens = [{ address: addressOf('token'), fromBlock: 30 * million, decimals: 6 as const }]
  amendChain('gnosis', { tokens })
  onTestFinished(() => amendChain('gnosis', { tokens: [] }))
  await migrate(database.url)
  await new PartitionsAhead(database.url, 'gnosis').reach(60 * million)
  await seedSettlement(database.pool, { chain: 'gnosis', recipient: addressOf('recipient'), block: 60 * million })
  expect(await partitionOf(60 * million, 'gnosis')).toMatch(/^settlement_gnosis_\d{4}$/)
  const { rows } = await database.pool.query(
    `select 'gnosis' = any (settlement_chain_names()) as named, next_block from settlement_rollup where chain = 'gnosis'`,
  )
  expect(rows).toEqual([{ named: true, next_block: 0 }])
})
