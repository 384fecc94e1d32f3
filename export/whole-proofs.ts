import type { Queryable } from '../db/pool.ts'
import { claimProofs } from '../db/queries/claims/claim-proofs.ts'
import type { ExportColumn, ExportRow } from '../db/queries/exports/exports.ts'
import type { ProofTerms } from '../trust/proof/published.ts'
import type { DescribedColumn } from './manifest.ts'

/** For which installation proofs are made, and the moment at which they have to be public. */
export interface ProofsOf {
  readonly terms: ProofTerms
  readonly at: Date
}

/**
 * Columns of an export that its view does not have: for claims `whole_proof`, the answer of GET /api/agent/:fid/proof,
 * in the row of the claim that it proves. Null: the account's proof is of another claim, or there is none yet.
 */
export function furtherColumns(what: string): readonly DescribedColumn[] {
  return what === 'claims' ? [{ name: 'whole_proof', type: 'text', about }] : []
}

const about =
  'The proof as /api/agent/:fid/proof answers it, which verify-proof checks; null: the proof of the account is of ' +
  'another claim, or not public yet.'

/** Appends `whole_proof` to rows of the view of claims. */
export async function withProofs(
  db: Queryable,
  columns: readonly ExportColumn[],
  rows: readonly ExportRow[],
  { terms, at }: ProofsOf,
): Promise<ExportRow[]> {
  const [fid = -1, method = -1, nonce = -1] = ['fid', 'method', 'nonce'].map((name) =>
    columns.findIndex((column) => column.name === name),
  )
  const fids = [...new Set(rows.map((row) => Number(row[fid])))]
  const proofs = await claimProofs(db, { fids, now: at, terms })
  return rows.map((row) => {
    const proof = proofs.get(Number(row[fid]))
    const isOf = proof?.method === row[method] && proof?.nonce === row[nonce]
    return [...row, proof && isOf ? JSON.stringify(proof) : null]
  })
}
