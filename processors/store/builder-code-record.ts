import type { BuilderCode } from '../../db/model/builderCode.model.ts'
import type { SettlementRow } from '../mapping/settlements.ts'
import { jsonPages } from './json-rows.ts'

/** A settlement or payment, as far as its codes go. */
export type CodedRow = Pick<SettlementRow, 'chain' | 'blockNumber' | 'logIndex' | 'codes'>

/** Rows per JSON array: they are small, and there may be as many as settlements. */
const rowsPerPage = 5_000

/** The codes of some settlements and payments as JSON arrays of rows with the columns' names. */
export function codePages(rows: readonly CodedRow[]): string[] {
  return jsonPages(toBuilderCodes(rows), rowsPerPage)
}

/** The codes of some settlements and payments as rows of their table; those without any have none. */
export function toBuilderCodes(rows: readonly CodedRow[]): BuilderCode[] {
  return rows.flatMap(({ chain, blockNumber, logIndex, codes }) => {
    if (!codes) return []
    const { facilitator, app, services } = codes
    const id = `${chain}-${blockNumber}-${logIndex}`
    return { id, chain, blockNumber, logIndex, facilitator, app, services: [...services] }
  })
}
