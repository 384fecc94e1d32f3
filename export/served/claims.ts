import type { Queryable } from '../../db/pool.ts'
import { type ExportColumn, exportedViews, exportPage } from '../../db/queries/exports/exports.ts'
import { csvFields } from '../text-file.ts'
import { furtherColumns, type ProofsOf, withProofs } from '../whole-proofs.ts'
import type { Pace } from './pace.ts'

/** Claims in memory at a time; few, as whole proofs are some kilobytes each. */
const pageClaims = 500

/** All claims with their whole proofs, as lines of CSV; `columns` are those of the view. */
export async function* claimLines(
  db: Queryable,
  columns: readonly ExportColumn[],
  proofs: ProofsOf,
  pace: Pace,
): AsyncGenerator<string> {
  const all = [...columns, ...furtherColumns('claims')]
  const keyAt = exportedViews.claims.key.map((name) => columns.findIndex((column) => column.name === name))
  const filter = { what: 'claims', chain: undefined, since: undefined } as const
  for (let after: readonly string[] | undefined; ; ) {
    const page = await exportPage(db, filter, columns, { after, limit: pageClaims })
    const last = page.at(-1)
    if (!last) return
    after = keyAt.map((at) => last[at] as string)
    const rows = await withProofs(db, columns, page, proofs)
    yield rows.map((row) => `${csvFields(all, row)}\n`).join('')
    await pace(rows.length)
  }
}
