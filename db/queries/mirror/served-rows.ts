import pg from 'pg'
import type { Queryable } from '../../pool.ts'
import type { ExportColumn } from '../read/exports.ts'
import type { BlockRange } from './served-days.ts'

/** Rows of a view of the schema `directory`, and the order they are written in; names are the caller's own. */
export interface ServedRows {
  readonly view: string
  /** Columns between commas. */
  readonly order: string
  /** Of one chain and these blocks alone, final ones. Absent: all. */
  readonly of?: BlockRange & { readonly chain: string }
  /** Of these agents alone, the first left out. Absent: of all. */
  readonly fids?: { readonly after: number; readonly through: number }
}

/** How a column is sent, and so what its bytes are; `micros`: dollars as whole millionths, in 64 bits. */
export type ServedForm = 'text' | 'texts' | 'boolean' | 'integer' | 'bigint' | 'micros' | 'time'

/** Numbers that 64 bits do not hold for sure are sent as their digits. */
export function servedForm({ name, type }: ExportColumn): ServedForm {
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

/** A COPY of the rows in binary form, each column as its form says. COPY takes no parameters. */
export function copyServed({ view, order, of, fids }: ServedRows, columns: readonly ExportColumn[]): string {
  const ofBlocks =
    of &&
    `chain = ${pg.escapeLiteral(of.chain)} and block_number between ${Math.trunc(of.fromBlock)} and ${Math.trunc(of.toBlock)}`
  const ofFids = fids && `fid > ${Math.trunc(fids.after)} and fid <= ${Math.trunc(fids.through)}`
  const conditions = [ofBlocks, ofFids].filter((one) => one !== undefined)
  const where = conditions.length > 0 ? `\n where ${conditions.join(' and ')}` : ''
  return `copy (select ${columns.map(sent).join(', ')}
  from directory.${pg.escapeIdentifier(view)}${where}
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

function sent(column: ExportColumn): string {
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
