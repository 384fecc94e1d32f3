import { chainNames } from '../../../config/chains.ts'
import { sources } from '../../../config/sources.ts'
import type { Queryable } from '../../pool.ts'
import { forgetUnlistedProfiles } from '../claims/claim-actions.ts'
import { askForClaimChecks } from '../claims/claim-checks.ts'
import { askForSpecs, forgetSpecs } from '../sources/agent-specs.ts'
import { askAboutAgents, forgetEnrichment } from '../sources/enrichment-inputs.ts'
import { hurryDocumentsOf } from '../sources/registration-documents.ts'
import { addSubjects, askForSubjects, forgetSubjects } from '../sources/source-state.ts'
import { deriveWords } from './agent-words.ts'
import { type AgentChange, type Derivation, deriveAgents } from './agents.ts'
import { markAddressesOf } from './holders.ts'

interface FollowUp {
  readonly fids: readonly number[]
  /** Names of the sources that are asked about every agent; none where nobody knows which are on. */
  readonly perAgent: readonly string[]
  readonly now: Date
}

/**
 * Derives agents and does, in the same transaction, what follows from what changed: documents, sources and readers
 * of their addresses are asked again, what belongs to delisted agents is forgotten. Whoever derives an agent calls this: the
 * next derivation would find nothing changed any more. Call under `lockJoin`. Returns the visible changes.
 */
export async function deriveWithFollowUp(
  db: Queryable,
  { fids, perAgent, now }: FollowUp,
  derive: (db: Queryable, derivation: Derivation) => Promise<AgentChange[]> = deriveAgents,
): Promise<readonly AgentChange[]> {
  const changes = await derive(db, { fids, chainOrder: chainNames, now })
  const changed = changes.map(({ fid }) => fid)
  const listed = fidsOf(changes, 'listed')
  const delisted = fidsOf(changes, 'delisted')
  const claimed = changes.filter(({ claimChanged }) => claimChanged).map(({ fid }) => fid)
  const soon = { priority: 2, dueAt: now } as const

  if (changed.length > 0) await hurryDocumentsOf(db, changed)
  if (listed.length > 0) await addSubjects(db, sources.fids.name, subjectsOf(listed), soon)
  await deriveWords(db, fids)
  await askForSpecs(db, fids, now)
  await askForClaimChecks(db, fids, now)
  await askAboutAgents(db, { fids, sources: perAgent, now })
  if (delisted.length > 0) {
    await forgetSubjects(db, sources.fids.name, subjectsOf(delisted))
    await forgetSpecs(db, delisted)
    await forgetEnrichment(db, delisted)
    await forgetUnlistedProfiles(db, delisted)
  }
  if (claimed.length > 0) {
    await askForSubjects(db, sources.fids.name, subjectsOf(claimed), soon)
    // Of several agents that verify an address, the claimed one is named.
    await markAddressesOf(db, claimed)
  }
  return changes
}

/** FIDs of the changes of one kind. */
export function fidsOf(changes: readonly AgentChange[], kind: AgentChange['kind']): number[] {
  return changes.filter((change) => change.kind === kind).map(({ fid }) => fid)
}

function subjectsOf(fids: readonly number[]): string[] {
  return fids.map((fid) => `fid:${fid}`)
}
