import { markMovedRecipients } from '../../db/queries/rollup/recipient-counts.ts'
import type { DeriveContext } from '../../derive/derivation.ts'
import { derivations } from '../../derive/derivations.ts'
import { settle } from '../../derive/pass.ts'

const counted = derivations.filter(({ kind }) => ['recipients', 'counts', 'totals'].includes(kind))

/** Counts what all agents were paid, as the facts are now, and sums up the directory, each kind once the one before is done. */
export async function refreshCounts(context: DeriveContext): Promise<void> {
  const { pool, settlementOverloads, now } = context
  await markMovedRecipients(pool, { settlementOverloads, now: now() })
  for (const one of counted) await settle([one], context)
}
