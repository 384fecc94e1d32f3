import type { BlockRange } from '../../../block-range.ts'
import type { Queryable } from '../../../pool.ts'
import type { OtherRow } from '../audit.ts'

// Builder codes: what calldata says about who had a part in settlements and payments. Lists are JSON arrays of objects
// with the columns' names.

const given = `(select * from json_populate_recordset(null::builder_code, $1::json))`

/** Inserts builder codes that are not stored yet. */
export async function insertBuilderCodes(db: Queryable, rows: string): Promise<void> {
  await db.query({
    name: 'insert-builder-codes',
    text: `insert into builder_code select * from ${given} e on conflict do nothing`,
    values: [rows],
  })
}

/** Deletes the builder codes in a range of blocks, both ends included. */
export async function deleteCodesWithin(
  db: Queryable,
  chain: string,
  { fromBlock, toBlock }: BlockRange,
): Promise<void> {
  await db.query('delete from builder_code where chain = $1 and block_number between $2 and $3', [
    chain,
    fromBlock,
    toBlock,
  ])
}

const ofBackfill = (row: string) => `exists (select from backfill b
                where b.chain = ${row}.chain and ${row}.block_number between b.from_block and b.to_block)`
const isStored = (row: string) => `(exists (select from settlement s
                where (s.chain, s.block_number, s.log_index) = (${row}.chain, ${row}.block_number, ${row}.log_index))
      or exists (select from payment p
                where (p.chain, p.block_number, p.log_index) = (${row}.chain, ${row}.block_number, ${row}.log_index)))`
/** Of all codes in a range, those that belong to stored rows, whoever the recipient is. */
const expected = `expected as materialized (select * from ${given} e where ${isStored('e')} and not ${ofBackfill('e')})`
/** Rows of the range that should not be; those of a backfill are left alone. */
const isWrong = `t.chain = $2 and t.block_number between $3 and $4 and not ${ofBackfill('t')}
   and not exists (select from expected e where e.id = t.id and to_jsonb(e) = to_jsonb(t))`
const valuesOf = (chain: string, { fromBlock, toBlock }: BlockRange, rows: string) => [rows, chain, fromBlock, toBlock]

/** Whether the stored codes of a range equal the given ones, ignoring codes of rows that are not stored. */
export async function areCodes(db: Queryable, chain: string, range: BlockRange, codes: string): Promise<boolean> {
  const { rows } = await db.query<{ same: boolean }>({
    name: 'are-codes',
    text: `
with ${expected}
select not exists (select from builder_code t where ${isWrong})
   and not exists (select from expected e where not exists (select from builder_code t where t.id = e.id)) as same`,
    values: valuesOf(chain, range, codes),
  })
  return rows[0]?.same === true
}

/** Stored codes of a range that are not as given. */
export async function otherCodes(db: Queryable, chain: string, range: BlockRange, codes: string): Promise<OtherRow[]> {
  const { rows } = await db.query<OtherRow>({
    name: 'other-codes',
    text: `
with ${expected}
select block_number as "blockNumber", log_index as "logIndex", null::text as "txHash"
  from builder_code t
 where ${isWrong}`,
    values: valuesOf(chain, range, codes),
  })
  return rows
}

/**
 * Adds the given codes of a range, compared as in `areCodes`, and deletes others in some blocks of it. Returns how many
 * rows differed.
 */
export async function replaceCodes(
  db: Queryable,
  chain: string,
  range: BlockRange,
  codes: string,
  blocks: readonly number[],
) {
  const deleted = await db.query<{ id: string }>({
    name: 'delete-other-codes',
    text: `
with ${expected}
delete from builder_code t
 where ${isWrong} and t.block_number = any ($5::int[])
returning t.id`,
    values: [...valuesOf(chain, range, codes), blocks],
  })
  const added = await db.query<{ id: string }>({
    name: 'add-expected-codes',
    text: `with ${expected} insert into builder_code select * from expected on conflict do nothing returning id`,
    values: [codes],
  })
  const gone = new Set(deleted.rows.map(({ id }) => id))
  const changed = added.rows.filter(({ id }) => gone.has(id)).length
  return { missing: added.rows.length - changed, surplus: gone.size - changed, changed }
}
