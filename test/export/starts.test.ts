import fc from 'fast-check'
import { expect, test } from 'vitest'
import { beginSnapshot, exportPage } from '../../db/queries/exports/exports.ts'
import { settlementStarts } from '../../db/queries/settlements/settlement-starts.ts'
import { testDatabase } from '../support/database.ts'
import { rounds } from '../support/rounds.ts'
import { addressOf, birth, seedSettlement } from '../support/seed.ts'

const chains = ['base', 'celo', 'polygon'] as const
const columns = [
  { name: 'chain', type: 'text' },
  { name: 'block_number', type: 'integer' },
  { name: 'log_index', type: 'integer' },
] as const

const database = testDatabase()

/** For each chain the blocks with a settlement, ascending, and the minute of each: later blocks are never older. */
const history = fc.record(
  Object.fromEntries(
    chains.map((chain) => [
      chain,
      fc
        .array(fc.record({ step: fc.integer({ min: 1, max: 4_000_000 }), minutes: fc.nat(2) }), { maxLength: 8 })
        .map((steps) => {
          const last = { block: -1, minute: 0 }
          return steps.map(({ step, minutes }) => {
            last.block += step
            last.minute += minutes
            return { ...last }
          })
        }),
    ]),
  ) as Record<(typeof chains)[number], fc.Arbitrary<{ block: number; minute: number }[]>>,
)
const minuteAt = (minute: number) => new Date(birth.getTime() + minute * 60_000).toISOString()

test('settlements since a time are those that reading all of them would give, whatever the pages', {
  tags: ['rounds'],
}, async () => {
  await fc.assert(
    fc.asyncProperty(history, fc.nat(10), fc.integer({ min: 1, max: 4 }), async (blocks, minute, limit) => {
      await database.pool.query('truncate settlement')
      for (const chain of chains) {
        for (const { block, minute } of blocks[chain]) {
          await seedSettlement(database.pool, {
            chain,
            block,
            recipient: addressOf('a'),
            at: new Date(minuteAt(minute)),
          })
        }
      }
      const since = minuteAt(minute)
      const starts = await settlementStarts(database.pool, { chains: [...chains].reverse(), since })
      expect(starts.map(({ chain }) => chain)).toEqual(chains)
      const wanted = chains.flatMap((chain) =>
        blocks[chain].filter((one) => one.minute >= minute).map(({ block }) => [chain, String(block), '0']),
      )
      const read: (string | null)[][] = []
      for (let page: (string | null)[][] = []; ; ) {
        const after = page.at(-1) as string[] | undefined
        const filter = { what: 'settlements', chain: undefined, since, starts } as const
        page = await exportPage(database.pool, filter, columns, { after, limit })
        read.push(...page)
        if (page.length < limit) break
      }
      expect(read).toEqual(wanted)
    }),
    { numRuns: rounds(12, 40) },
  )
})

test('what is older is not read, and of the rest a page at a time', async () => {
  await database.pool.query('truncate settlement')
  await database.pool.query(
    `insert into settlement (chain, block_number, log_index, block_timestamp, amount, selector, selector_source, token,
                             payer, recipient, facilitator, payment_nonce, tx_hash)
     select chain, n, 0, $1::timestamptz + n * interval '1 minute', 1, '\\x00', 'c', '', '', '', '', '', ''
       from unnest(array['base', 'celo']) as chain, generate_series(1, 20000) n`,
    [birth],
  )
  await database.pool.query('analyze settlement')
  const client = await database.pool.connect()
  try {
    await client.query('begin')
    await beginSnapshot(client)
    const since = minuteAt(19_990)
    const touched = () =>
      client
        .query(
          `select sum(idx_tup_fetch + seq_tup_read)::int as n from pg_stat_xact_user_tables where relname like 'settlement%'`,
        )
        .then(({ rows }) => rows[0].n as number)
    const before = await touched() // by this connection, and not reported yet
    const starts = await settlementStarts(client, { chains, since })
    const filter = { what: 'settlements', chain: undefined, since, starts } as const
    const page = await exportPage(client, filter, columns, { after: undefined, limit: 1_000 })
    expect(page).toHaveLength(22)
    expect((await touched()) - before).toBeLessThan(1_000) // of 40,000
    // Nor is what comes later, for the pages before it.
    const all = { ...filter, since: undefined, starts: chains.map((chain) => ({ chain, block: 0 })) }
    for (const after of [
      ['base', '15000', '0'],
      ['celo', '3', '0'],
    ]) {
      expect(await exportPage(client, all, columns, { after, limit: 1_000 })).toHaveLength(1_000)
    }
    expect((await touched()) - before).toBeLessThan(4_000)
  } finally {
    await client.query('rollback')
    client.release()
  }
})
