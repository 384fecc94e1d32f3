import { inclusionProof, onceEach } from '../../../transparency/tree.ts'
import type { SealedClaimEvent } from '../../../trust/claim-event.ts'
import type { ClaimLog } from '../../../trust/proof/proof.ts'
import type { Queryable } from '../../pool.ts'
import { type Epoch, subjectIn } from './epoch.ts'
import { lastCheckpoint, tileHashes } from './tree.ts'

/**
 * Reads the last checkpoint, and gives what shows that events of claims are in its tree. Events that are not are left
 * out; null: no tree was signed.
 */
export async function readClaimLog(
  db: Queryable,
): Promise<(events: readonly SealedClaimEvent[]) => Promise<ClaimLog | null>> {
  const last = await lastCheckpoint(db)
  if (!last) return async () => null
  const { size, note: checkpoint, key } = last
  const readTile = onceEach((place) => tileHashes(db, place))
  return async (events) => {
    const entries: ClaimLog['entries'][number][] = []
    for (const { seq, index } of await indexesOf(db, events, last)) {
      const hashes = await inclusionProof(index, size, readTile)
      entries.push({ seq, index, hashes: hashes.map((hash) => hash.toString('hex')) })
    }
    return { key, checkpoint, entries }
  }
}

/** Numbers of the entries of events in a log, of those among its first `size`. */
async function indexesOf(
  db: Queryable,
  events: readonly SealedClaimEvent[],
  { epoch, first, size }: Epoch & { readonly size: number },
) {
  const { rows } = await db.query<{ seq: number; index: number }>({
    name: 'claim-log-entries',
    text: `
select split_part(subject, ':', 3)::int as seq, index - $2 as index
  from transparency_entry
 where subject = any ($1::text[]) and index < $2 + $3
 order by index`,
    values: [events.map(({ fid, seq }) => subjectIn(epoch, `claim:${fid}:${seq}`)), first, size],
  })
  return rows
}
