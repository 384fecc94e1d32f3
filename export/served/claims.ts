import type { Readable } from 'node:stream'
import type pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { copyServed, nextClaimKeys, type ServedRows } from '../../db/queries/mirror/served-rows.ts'
import type { ExportColumn } from '../../db/queries/read/exports.ts'
import { furtherColumns, type ProofsOf, withProofs } from '../whole-proofs.ts'
import { readRows } from './batches.ts'
import { openColumns } from './parquet.ts'
import { openParts, type Part, type Place } from './parts.ts'

/** Agents whose claims make one row group; few, as whole proofs are some kilobytes each. */
const pageFids = 500
const wholePage = { rows: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY }

/**
 * Writes claims with their whole proofs, as `writeRows` does. A page of agents is read
 * whole before their proofs are asked for, over the same connection.
 */
export async function writeClaims(
  client: pg.ClientBase,
  rows: ServedRows,
  place: Place,
  proofsOf: ProofsOf,
): Promise<Part[]> {
  const { columns } = rows.view
  const served = openColumns([...columns, ...furtherColumns('claims')])
  const ofView = served.rows.slice(0, columns.length)
  const ofProof = served.rows.at(-1)
  const parts = await openParts(served, place)
  for (let after = 0; ; ) {
    const keys = await nextClaimKeys(client, { after, most: pageFids })
    const last = keys.at(-1)
    if (!last) break
    const through = Number(last[0])
    const stream: Readable = client.query(copyTo(copyServed({ ...rows, fids: { after, through } })))
    let count = 0
    for await (const read of readRows(stream, ofView, wholePage)) count += read
    if (count !== keys.length) throw new Error(`${count} claims instead of ${keys.length} up to FID ${through}`)
    for (const row of await withProofs(client, claimKey, keys, proofsOf)) {
      const proof = row.at(-1)
      const bytes = Buffer.from(String(proof))
      if (proof === null) ofProof?.skip()
      else ofProof?.take(bytes, 0, bytes.length)
    }
    await parts.write(count)
    after = through
  }
  return parts.end()
}

const claimKey: readonly ExportColumn[] = [
  { name: 'fid', type: 'text' },
  { name: 'method', type: 'text' },
  { name: 'nonce', type: 'text' },
]
