import { expect } from 'vitest'
import type { Queryable } from '../../../db/pool.ts'
import { type MovedSettlement, movedColumns } from '../../../db/queries/rollup/sums.ts'
import {
  countedSettlements,
  settlementFigures,
  tailFigures,
  unsummedTail,
} from '../../../db/queries/sql/settlement-windows.ts'
import { rollUpSettlements } from '../../../enrichment/periodic/rollup.ts'
import type { TestDatabase } from '../../support/database.ts'
import { addressOf, hashOf, seedChainState } from '../../support/seed.ts'

// A small world for tests of the roll-up: two chains, four recipients, two payers, blocks some minutes apart.

export const chainNames = ['base', 'celo'] as const
export type ChainName = (typeof chainNames)[number]
export const recipients = ['first', 'second', 'third', 'fourth'].map(addressOf)
export const payers = ['one', 'another'].map(addressOf)
const selectors = ['0xe3ee160e', '0xef55bec6', '0xcf092995', '0x88b7ab63']
const bytes = (hex: string) => Buffer.from(hex.slice(2), 'hex')

const minuteMs = 60_000
export const dayMs = 24 * 60 * minuteMs
const start = Date.UTC(2026, 2, 1)
export const lastBlock = 1_500
/** Time of a block; blocks are 37 minutes apart, so that hours and windows begin between blocks. */
export const timeOf = (block: number) => new Date(start + block * 37 * minuteMs)

/** A settlement; recipient, payer and selector are indexes into the lists above. */
export interface Paid {
  readonly chain: ChainName
  readonly block: number
  readonly logIndex: number
  readonly recipient: number
  readonly payer: number
  readonly selector: number
  readonly amount: bigint
}

/** Inserts settlements, leaving existing ones as they are. Returns those that were new. */
export async function store(db: Queryable, rows: readonly Paid[]): Promise<MovedSettlement[]> {
  const columns = rows.map(({ chain, block, logIndex, recipient, payer, selector, amount }) => ({
    amount: String(amount),
    block_timestamp: timeOf(block),
    block_number: block,
    log_index: logIndex,
    chain,
    selector_source: 'c',
    selector: `\\x${selectors[selector]?.slice(2)}`,
    token: '\\x01',
    payer: `\\x${payers[payer]?.slice(2)}`,
    recipient: `\\x${recipients[recipient]?.slice(2)}`,
    facilitator: `\\x0${2 + (logIndex % 2)}`,
    payment_nonce: `\\x${hashOf(`${chain} ${block} ${logIndex}`).slice(2)}`,
    tx_hash: `\\x${hashOf(`${chain} ${block}`).slice(2)}`,
  }))
  const added = await db.query<MovedSettlement>(
    `insert into settlement select * from json_populate_recordset(null::settlement, $1::json) on conflict do nothing
     returning ${movedColumns}`,
    [JSON.stringify(columns)],
  )
  return added.rows
}

/** Sets a chain's final block. */
export async function finalize({ pool }: TestDatabase, chain: ChainName, finalized: number): Promise<void> {
  await pool.query('delete from chain_state where chain = $1', [chain])
  await seedChainState(pool, { chain, indexed: lastBlock, finalized })
}

/** Rolls up all final settlements, in steps of `stepSettlements`. */
export async function rollUp({ pool }: TestDatabase, stepSettlements: number): Promise<void> {
  while ((await rollUpSettlements({ pool, stepSettlements })) > 0);
}

export async function empty({ pool }: TestDatabase): Promise<void> {
  await pool.query(`
    truncate settlement, settlement_hourly, settlement_hour_total, settlement_total, settlement_payer,
             facilitator_total, settlement_rollup_backfill, backfill, settlement_archive, settlement_archive_piece,
             settlement_archive_sum, chain_state cascade;
    drop table if exists archived_settlement;
    update settlement_rollup set next_block = 0`)
}

/** Makes the table of the settlements that a test has archived. */
export async function keepArchived(db: Queryable): Promise<void> {
  await db.query('create table if not exists archived_settlement (like settlement)')
}

/** Asserts that the roll-up tables hold exactly the settlements of the blocks they are said to be rolled up to, with those archived. */
export async function expectExactTables({ pool }: TestDatabase): Promise<void> {
  await keepArchived(pool)
  const { rows } = await pool.query(tableDifferences)
  expect(rows).toEqual([])
}

const fact = `
  select *, date_trunc('hour', block_timestamp, 'UTC') as hour, selector not in ('\\xe3ee160e', '\\xef55bec6') as overload
    from (select * from settlement union all select * from archived_settlement) s
   where not exists (select from settlement_unrolled u
                      where u.chain = s.chain and s.block_number between u.from_block and u.to_block)`
const differing = (table: string, key: string, values: string, columns: string) => `
  select '${table}' as "table", side, to_json(r)::text as row
    from (select 'stored' as side, r from (select ${key}, ${columns} from ${table} except all
                                           select ${key}, ${values} from fact group by ${key}) r
           union all
          select 'counted', r from (select ${key}, ${values} from fact group by ${key} except all
                                    select ${key}, ${columns} from ${table}) r) d`
const counted = ['count(*), sum(amount)', 'n, amount'] as const
const newest = [`max(block_timestamp), ${counted[0]}`, `last_at, ${counted[1]}`] as const
const tableDifferences = `
with fact as materialized (${fact})
${[
  differing(
    'settlement_hourly',
    'recipient, hour, chain, overload',
    `min(block_number), max(block_number), ${counted[0]}`,
    `first_block, last_block, ${counted[1]}`,
  ),
  differing('settlement_total', 'recipient, chain, overload', ...newest),
  differing(
    'settlement_payer',
    'recipient, payer, chain, overload',
    `min(block_timestamp), min(block_timestamp) filter (where amount > 0), ${newest[0]}`,
    `first_at, first_paid_at, ${newest[1]}`,
  ),
  differing(
    'facilitator_total',
    'facilitator, chain, overload',
    `min(block_timestamp), ${newest[0]}`,
    `first_at, ${newest[1]}`,
  ),
  differing('settlement_hour_total', 'chain, hour, overload', ...counted),
].join('\n union all')}`

const windows = [
  { name: 'last_7d', since: `$2::timestamptz - interval '7 days'` },
  { name: 'last_30d', since: `$2::timestamptz - interval '30 days'` },
  { name: 'ever', since: null },
]
const sums = windows.flatMap(({ name }) => [name, `${name}_amount`]).map((name) => `sum(${name})::text as ${name}`)
const recipientsOf = '(select unnest($1::bytea[]) as address)'
const tail = unsummedTail({
  addresses: '$1::bytea[]',
  overloads: '$3',
  sinces: windows.flatMap(({ since }) => since ?? []),
})
const rolled = `
select address, ${sums.join(', ')}
  from (${countedSettlements({ recipients: recipientsOf, tail, amounts: true, newest: true, overloads: '$3', windows })}) part
 group by address having sum(ever) > 0 order by address`
const direct = `
select s.recipient as address, ${windows
  .map(({ name, since }) => {
    const filter = since ? `filter (where s.block_timestamp > ${since})` : ''
    return `count(*) ${filter}::text as ${name}, coalesce(sum(s.amount) ${filter}, 0)::text as ${name}_amount`
  })
  .join(', ')}
  from settlement s
 where s.recipient = any ($1) and ($3 or s.selector in ('\\xe3ee160e', '\\xef55bec6'))
 group by 1 order by 1`

const since = `$2::timestamptz - interval '30 days'`
const asked = { addresses: '$1::bytea[]', overloads: '$3::boolean', since }
const everyAddress = `array[${recipients.map((address) => `'\\x${address.slice(2)}'`).join(', ')}]::bytea[]`
const figures = (ofMany: boolean) => `
with tail as materialized (${tailFigures(ofMany ? { ...asked, addresses: everyAddress } : asked)})
select recent::text, ever::text, newest_at
  from (${settlementFigures({ ...asked, tail: 'tail' })}) f`
const directFigures = `
select count(*) filter (where s.block_timestamp > ${since})::text as recent, count(*)::text as ever,
       max(s.block_timestamp) as newest_at
  from settlement s
 where s.recipient = any ($1::bytea[]) and ($3::boolean or s.selector in ('\\xe3ee160e', '\\xef55bec6'))`

/** Asserts that counts and amounts of windows that end at `now` equal those counted from the settlements. */
export async function expectExactWindows({ pool }: TestDatabase, now: Date): Promise<void> {
  for (const overloads of [false, true]) {
    const values = [recipients.map(bytes), now, overloads]
    const { rows: facts } = await pool.query(direct, values)
    expect((await pool.query(rolled, values)).rows).toEqual(facts)
    for (const some of [values[0], [bytes(recipients[0] as string)], []]) {
      const of = [some, now, overloads]
      const { rows } = await pool.query(directFigures, of)
      for (const ofMany of [false, true]) expect((await pool.query(figures(ofMany), of)).rows).toEqual(rows)
    }
  }
}
