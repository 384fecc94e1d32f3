import type { BlockRange } from '../../../block-range.ts'
import type { Queryable } from '../../../pool.ts'
import type { OtherRow } from '../audit.ts'

// What settlements and payments have besides their rows, few of them: builder codes, which say who had a part in them, and
// the exact amounts of tokens whose units are not millionths of a dollar. Lists are JSON arrays of objects with the columns'
// names.

const tables = ['builder_code', 'exact_amount'] as const
export type AttachedTable = (typeof tables)[number]

/** A list for each table. */
export type Attached = Readonly<Record<AttachedTable, string>>

const given = (table: AttachedTable) => `(select * from json_populate_recordset(null::${table}, $1::json))`

const inserts = {
  builder_code: `insert into builder_code select * from ${given('builder_code')} e on conflict do nothing`,
  exact_amount: `insert into exact_amount select * from ${given('exact_amount')} e on conflict do nothing`,
}

/** Inserts rows of one of the tables that are not stored yet. */
export async function insertAttached(
  db: Queryable,
  { table, rows }: { readonly table: AttachedTable; readonly rows: string },
): Promise<void> {
  await db.query({ name: `insert-attached-${table}`, text: inserts[table], values: [rows] })
}

const ofBackfill = (row: string) => `exists (select from backfill b
                where b.chain = ${row}.chain and ${row}.block_number between b.from_block and b.to_block)`
const isStored = (row: string) => `(exists (select from settlement s
                where (s.chain, s.block_number, s.log_index) = (${row}.chain, ${row}.block_number, ${row}.log_index))
      or exists (select from payment p
                where (p.chain, p.block_number, p.log_index) = (${row}.chain, ${row}.block_number, ${row}.log_index)))`
/** Of all given rows of a range, those that belong to stored ones, whoever the recipient is. */
const expected = (table: AttachedTable) =>
  `expected as materialized (select * from ${given(table)} e where ${isStored('e')} and not ${ofBackfill('e')})`
/** Rows of the range that should not be; those of a backfill are left alone. */
const isWrong = `t.chain = $2 and t.block_number between $3 and $4 and not ${ofBackfill('t')}
   and not exists (select from expected e where e.id = t.id and to_jsonb(e) = to_jsonb(t))`
const valuesOf = (chain: string, { fromBlock, toBlock }: BlockRange, rows: string) => [rows, chain, fromBlock, toBlock]

/** Whether the stored rows of a range equal the given ones, ignoring those of settlements and payments not stored. */
export async function areAttached(
  db: Queryable,
  chain: string,
  range: BlockRange,
  attached: Attached,
): Promise<boolean> {
  for (const table of tables) {
    const { rows } = await db.query<{ same: boolean }>({
      name: `are-attached-${table}`,
      text: `
with ${expected(table)}
select not exists (select from ${table} t where ${isWrong})
   and not exists (select from expected e where not exists (select from ${table} t where t.id = e.id)) as same`,
      values: valuesOf(chain, range, attached[table]),
    })
    if (rows[0]?.same !== true) return false
  }
  return true
}

/** Stored rows of a range that are not as given. */
export async function otherAttached(
  db: Queryable,
  chain: string,
  range: BlockRange,
  attached: Attached,
): Promise<OtherRow[]> {
  const others: OtherRow[] = []
  for (const table of tables) {
    const { rows } = await db.query<OtherRow>({
      name: `other-attached-${table}`,
      text: `
with ${expected(table)}
select block_number as "blockNumber", log_index as "logIndex", null::text as "txHash"
  from ${table} t
 where ${isWrong}`,
      values: valuesOf(chain, range, attached[table]),
    })
    others.push(...rows)
  }
  return others
}

/**
 * Adds the given rows of a range, compared as in `areAttached`, and deletes others in some blocks of it. Returns how many
 * rows differed.
 */
export async function replaceAttached(
  db: Queryable,
  chain: string,
  range: BlockRange,
  attached: Attached,
  blocks: readonly number[],
) {
  const sum = { missing: 0, surplus: 0, changed: 0 }
  for (const table of tables) {
    const deleted = await db.query<{ id: string }>({
      name: `delete-other-attached-${table}`,
      text: `
with ${expected(table)}
delete from ${table} t
 where ${isWrong} and t.block_number = any ($5::int[])
returning t.id`,
      values: [...valuesOf(chain, range, attached[table]), blocks],
    })
    const added = await db.query<{ id: string }>({
      name: `add-expected-attached-${table}`,
      text: `with ${expected(table)} insert into ${table} select * from expected on conflict do nothing returning id`,
      values: [attached[table]],
    })
    const gone = new Set(deleted.rows.map(({ id }) => id))
    const changed = added.rows.filter(({ id }) => gone.has(id)).length
    sum.missing += added.rows.length - changed
    sum.surplus += gone.size - changed
    sum.changed += changed
  }
  return sum
}
