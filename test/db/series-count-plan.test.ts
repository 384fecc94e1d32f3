import type pg from 'pg'
import { beforeAll, expect, test } from 'vitest'
import { beginCount, countSlice } from '../../db/queries/rollup/series-count.ts'
import { testDatabase } from '../support/database.ts'
import { addressOf, seedAgent } from '../support/seed.ts'

// Payers of a month are counted in slices, each a statement of its own. A slice that read more than its own settlements
// would make a month cost its square, and no count would show it: so the plans are looked at.

const database = testDatabase()
const rows = 200_000
const start = Date.UTC(2026, 0, 1)
const second = 1_000
const address = addressOf('recipient')
const fid = 7
/** Blocks before the point that is counted, and after it. */
const outside = 40_000
const point = {
  chain: '',
  length: 'month',
  start: new Date(start + outside * second).toISOString(),
  end: new Date(start + (rows - outside) * second).toISOString(),
  overloads: true,
} as const

beforeAll(async () => {
  const { pool } = database
  await seedAgent(pool, { fid, addresses: [address] })
  // One a block and a second, every five hundredth to the agent.
  await pool.query(
    `insert into settlement (amount, block_timestamp, block_number, log_index, chain, selector_source, selector, token,
                             payer, recipient, facilitator, payment_nonce, tx_hash)
     select n % 1000 + 1, to_timestamp($1::float8 / 1000 + n), n, 0, case n % 10 when 0 then 'celo' else 'base' end, 'c',
            '\\xe3ee160e', '\\x01', sha256((n % 5000)::text::bytea), case n % 500 when 1 then $2 else sha256((n % 700)::text::bytea) end,
            '\\x02', '\\x03', sha256(n::text::bytea)
       from generate_series(1, $3::int) n`,
    [start, Buffer.from(address.slice(2), 'hex'), rows],
  )
  await pool.query('analyze settlement')
})

interface Plan {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Cond'?: string
  readonly 'Recheck Cond'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly Plans?: readonly Plan[]
}

interface Statement {
  readonly name?: string
  readonly text: string
  readonly values: readonly unknown[]
}

const nodesOf = (plan: Plan): readonly Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]
/** Statements that read settlements, by how they begin. */
const readers = { end: /^select s\.block_number/, payers: /^\s*with paid as/ }
type Reader = keyof typeof readers

/** Counts a slice of at most `most` settlements. Returns what each of its statements read of settlements. */
async function scansOfSlice(most: number): Promise<Record<Reader, readonly Plan[]>> {
  const found: Partial<Record<Reader, readonly Plan[]>> = {}
  const client = await database.pool.connect()
  const { query } = client
  async function explained(statement: Statement | string, ...rest: unknown[]) {
    const run = () => Reflect.apply(query, client, [statement, ...rest])
    if (typeof statement === 'string') return run()
    const { name, text, values } = statement
    const reader = (Object.keys(readers) as Reader[]).find((one) => readers[one].test(text))
    if (!reader) return run()
    // With a name, it would be planned for any values after a while.
    expect(name).toBeUndefined()
    // Explained, the statement is run as well; the one that finds where a slice ends is run again for its answer.
    const { rows } = await Reflect.apply(query, client, [{ text: `explain (analyze, format json) ${text}`, values }])
    found[reader] = nodesOf(rows[0]['QUERY PLAN'][0].Plan).filter(
      (one) => one['Relation Name']?.startsWith('settlement') && one['Actual Loops'] > 0,
    )
    return reader === 'end' ? run() : { rows: [] }
  }
  const watched = new Proxy(client, {
    get: (target, key) => (key === 'query' ? explained : Reflect.get(target, key, target)),
  })
  expect(await countSlice({ connect: async () => watched } as unknown as pg.Pool, most)).toBe(true)
  return found as Record<Reader, readonly Plan[]>
}

test.each([
  ['everybody', 0, 5_000],
  ['an agent', fid, 50],
])('a slice of the payers of %s reads its own settlements by index, and no others', async (_, of, most) => {
  const { pool } = database
  await pool.query('truncate series_count, series_count_found, series_payers')
  await beginCount(pool, { ...point, fid: of }, ['base'])
  // The later ones lie in the middle of the point.
  for (let slice = 0; slice < 3; slice++) {
    for (const [reader, scans] of Object.entries(await scansOfSlice(most))) {
      expect(scans, reader).toHaveLength(1)
      const [scan] = scans as [Plan]
      expect(scan['Node Type'], reader).toMatch(/^(Index|Bitmap Heap)/)
      expect(scan['Index Cond'] ?? scan['Recheck Cond'], reader).toMatch(/block_number >= .*block_number <= /)
      expect(scan['Rows Removed by Filter'] ?? 0, reader).toBe(0)
      expect(scan['Actual Rows'] * scan['Actual Loops'], reader).toBeLessThanOrEqual(most + 1)
      expect(scan['Actual Rows'] * scan['Actual Loops'], reader).toBeGreaterThan(most / 2)
    }
  }
  const { rows: parts } = await pool.query('select next_block < to_block as unfinished from series_count')
  expect(parts).toEqual([{ unfinished: true }])
})
