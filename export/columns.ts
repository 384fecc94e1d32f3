import { type ContractColumn, directoryViews } from '../db/contract/views.ts'
import type { Queryable } from '../db/pool.ts'
import { type ExportColumn, exportTypes } from '../db/queries/exports/exports.ts'

/** A column of an export, with its description. */
export interface DescribedColumn extends ExportColumn {
  readonly about: string
}

/** Columns of a view of the schema `directory`, without the bytea ones, whose content the view also has as text. */
export async function exportColumns(db: Queryable, what: string): Promise<DescribedColumn[]> {
  const view = (await directoryViews(db)).find(({ name }) => name === what)
  if (!view) throw new Error(`there is no view directory.${what}: run npm run migrate first`)
  return view.columns.filter(({ type }) => type !== 'bytea').map(toExportColumn)
}

function toExportColumn({ name, type, comment }: ContractColumn): DescribedColumn {
  const known = exportTypes.find((one) => one === type)
  if (!known) throw new Error(`column ${name} is of type ${type}, which has no form in an export`)
  return { name, type: known, about: comment ?? '' }
}
