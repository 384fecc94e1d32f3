import type { Queryable } from '../../pool.ts'

interface CustodyChange {
  readonly at: Date
  readonly block: number
  /** t: given away; r: recovered. */
  readonly kind: 't' | 'r'
}

/** The last time a FID changed hands; undefined: never since it was registered. */
export async function lastCustodyChange(db: Queryable, fid: number): Promise<CustodyChange | undefined> {
  const { rows } = await db.query<CustodyChange>({
    name: 'last-custody-change',
    text: `select block_timestamp as at, block_number as block, kind
             from fid_custody
            where fid = $1
            order by block_number desc, log_index desc
            limit 1`,
    values: [fid],
  })
  return rows[0]
}
