import pg from 'pg'
import type { BlockRange } from '../../block-range.ts'
import type { Queryable } from '../../pool.ts'
import type { ExportColumn } from './exports.ts'

/** A column of served files. */
export interface ServedColumn extends ExportColumn {
  /** Whether its bytes are sent for its text of `0x` and hex digits. */
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
}

/** How Postgres writes a column of digits in the definition of a view. */
const digits = /\('0x'::text \|\| encode\((\w+\.\w+), 'hex'::text\)\) AS (\w+)/g

/**
 * A view by its definition, with the bytes in place of their digits: making each text costs the server more than reading
 * the row. Views of more than one plain select stay as they are.
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

/**
 * SQL of a COPY of the rows as CSV: null is an empty field, an array JSON, and bytes are `\\x` and hex digits. COPY takes
 * no parameters.
 */
export function copyServed({ view: { from, columns }, order, of }: ServedRows): string {
  const where = of
    ? `\n where chain = ${pg.escapeLiteral(of.chain)} and block_number between ${Math.trunc(of.fromBlock)} and ${Math.trunc(of.toBlock)}`
    : ''
  return `copy (select ${columns.map(sent).join(', ')}
  from ${from}${where}
 order by ${order}) to stdout (format csv)`
}

function sent({ name, type }: ServedColumn): string {
  const column = pg.escapeIdentifier(name)
  return type === 'text[]' ? `to_json(${column})` : column
}
