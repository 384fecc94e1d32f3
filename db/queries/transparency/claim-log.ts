import { inclusionProof, onceEach } from '../../../transparency/tree.ts'
import type { SealedClaimEvent } from '../../../trust/claim-event.ts'
import type { ClaimLog } from '../../../trust/proof/proof.ts'
import type { Queryable } from '../../pool.ts'
import { type Epoch, subjectIn } from './epoch.ts'
import { lastCheckpoint, tileReader } from './tree.ts'

/**
 * Reads the last checkpoint, and gives what shows that events of claims are in its tree. Events that are not are left
 * out; null: no tree was signed. Where another log has begun meanwhile, its checkpoint is read.
 */
export async function readClaimLog(
  db: Queryable,
): Promise<(events: readonly SealedClaimEvent[]) => Promise<ClaimLog | null>> {
  let log = await openLog(db)
  return async (events) => {
    for (;;) {
      try {
        return (await log?.prove(events)) ?? null
      } catch (error) {
        const later = await openLog(db)
        if (!log || later?.epoch === log.epoch) throw error
        log = later
      }
    }
  }
}

/** The log that was signed last, and what proves events in it; `prove` rejects when another log has begun. */
async function openLog(db: Queryable) {
  const last = await lastCheckpoint(db)
  if (!last) return undefined
  const { epoch, size, note: checkpoint, key } = last
  const readTile = onceEach(tileReader(db, epoch))
  const prove = async (events: readonly SealedClaimEvent[]): Promise<ClaimLog> => {
    const proven = (await indexesOf(db, events, last)).map(async ({ seq, index }) => {
      const hashes = await inclusionProof(index, size, readTile)
      return { seq, index, hashes: hashes.map((hash) => hash.toString('hex')) }
    })
    return { key, checkpoint, entries: await Promise.all(proven) }
  }
  return { epoch, prove }
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
