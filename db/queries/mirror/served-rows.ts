import pg from 'pg'
import type { BlockRange } from '../../block-range.ts'
import type { Queryable } from '../../pool.ts'
import type { ExportColumn } from '../read/exports.ts'

/** A column of served files. */
export interface ServedColumn extends ExportColumn {
  /** Whether raw bytes are sent for its text of `0x` and hex digits. */
  readonly isHex?: boolean
}

/** A view of the schema `directory`, to be read. */
interface ServedView {
  /** SQL after `from`. */
  readonly from: string
  readonly columns: readonly ServedColumn[]
}

/** Rows of a view to write, in an order. Names go into the SQL as they are, so they must not come from users. */
export interface ServedRows {
  readonly view: ServedView
  /** Columns to sort by, separated by commas. */
  readonly order: string
  /** Restricts the rows to a chain and a range of final blocks. Absent: all. */
  readonly of?: BlockRange & { readonly chain: string }
  /** Restricts the rows to FIDs above `after` up to `through`. Absent: all. */
  readonly fids?: { readonly after: number; readonly through: number }
}

/** Binary form in which a column is sent; `micros`: dollars as whole millionths, in 64 bits. */
export type ServedForm = 'text' | 'hex' | 'texts' | 'boolean' | 'integer' | 'bigint' | 'micros' | 'time'

/** How Postgres writes a column of digits in the definition of a view. */
const digits = /\('0x'::text \|\| encode\((\w+\.\w+), 'hex'::text\)\) AS (\w+)/g

/**
 * A view by its definition, with the bytes in place of their digits, which are twice as long and cost the server more than
 * reading the row. Views of more than one plain select stay as they are.
 */
export async function servedView(db: Queryable, name: string, columns: readonly ExportColumn[]): Promise<ServedView> {
  const view = `directory.${pg.escapeIdentifier(name)}`
  const { rows } = await db.query<{ text: string }>({
    name: 'served-view',
    text: 'select pg_get_viewdef($1::regclass) as text',
    values: [view],
  })
  const [{ text }] = rows as [{ text: string }]
  if (text.match(/\bSELECT\b/g)?.length !== 1 || /\b(GROUP BY|DISTINCT|ORDER BY)\b/.test(text))
    return { from: view, columns }
  const hex = new Set([...text.matchAll(digits)].map(([, , column]) => column))
  return {
    from: `(${text.replace(digits, '$1 AS $2').replace(/;\s*$/, '')}) served`,
    columns: columns.map((column) => (hex.has(column.name) ? { ...column, isHex: true } : column)),
  }
}

/** The form of a column. Numbers that may exceed 64 bits are sent as text. */
export function servedForm({ name, type, isHex }: ServedColumn): ServedForm {
  if (isHex) return 'hex'
  switch (type) {
    case 'boolean':
    case 'integer':
    case 'bigint':
      return type
    case 'text[]':
      return 'texts'
    case 'timestamp with time zone':
      return 'time'
    case 'numeric':
      return name.endsWith('amount_usdc') ? 'micros' : 'text'
    default:
      return 'text'
  }
}

/** SQL of a binary COPY of the rows, each column in its form. COPY takes no parameters. */
export function copyServed({ view: { from, columns }, order, of, fids }: ServedRows): string {
  const ofBlocks =
    of &&
    `chain = ${pg.escapeLiteral(of.chain)} and block_number between ${Math.trunc(of.fromBlock)} and ${Math.trunc(of.toBlock)}`
  const ofFids = fids && `fid > ${Math.trunc(fids.after)} and fid <= ${Math.trunc(fids.through)}`
  const conditions = [ofBlocks, ofFids].filter((one) => one !== undefined)
  const where = conditions.length > 0 ? `\n where ${conditions.join(' and ')}` : ''
  return `copy (select ${columns.map(sent).join(', ')}
  from ${from}${where}
 order by ${order}) to stdout (format binary)`
}

/** FID, method and nonce of the claims of the next `most` agents that have any, in that order. */
export async function nextClaimKeys(
  db: Queryable,
  { after, most }: { readonly after: number; readonly most: number },
): Promise<[fid: string, method: string, nonce: string][]> {
  const { rows } = await db.query<{ fid: string; method: string; nonce: string }>({
    name: 'next-claim-keys',
    text: `
with next as (select distinct fid from directory.claims where fid > $1 order by fid limit $2)
select fid::text as fid, method, nonce from directory.claims
 where fid > $1 and fid <= (select max(fid) from next)
 order by claims.fid, method, nonce`,
    values: [after, most],
  })
  return rows.map(({ fid, method, nonce }) => [fid, method, nonce])
}

function sent(column: ServedColumn): string {
  const name = pg.escapeIdentifier(column.name)
  switch (servedForm(column)) {
    case 'micros':
      return `(${name} * 1000000)::bigint`
    case 'text':
      return column.type === 'text' ? name : `${name}::text`
    default:
      return name
  }
}
