import {
  deriveAgents,
  deriveControl,
  deriveDeclarations,
  deriveLargeHolders,
  deriveSearched,
  deriveSummedHolders,
  routeHolders,
  routeRegistrations,
} from './agents.ts'
import { deriveCounts, deriveFigures, deriveRecipients, deriveTotals } from './counts.ts'
import type { Derivation } from './derivation.ts'
import { deriveEdges, lookAround } from './edges.ts'
import { deriveFeedbackFiles } from './feedback-files.ts'
import {
  deriveArchivedOwners,
  deriveDemand,
  deriveEscrowFees,
  deriveEscrowHours,
  deriveEscrows,
  deriveFunders,
  deriveIncome,
  deriveIncomeHours,
  deriveIncomeSums,
  routeWallets,
} from './income.ts'
import { deriveCircles, deriveRaterGroups, deriveRaters } from './raters.ts'
import { deriveRings } from './rings.ts'
import { logFacts } from './transparency.ts'
import { appendEvents } from './webhooks.ts'

/** How the kinds of db/due/kinds.ts are derived, which says what each is and when its keys are due. */
export const derivations = [
  { kind: 'holders', batch: 1_000, rest: 'soon', derive: routeHolders },
  { kind: 'registrations', batch: 1_000, rest: 'soon', derive: routeRegistrations },
  { kind: 'agents', batch: 100, rest: 'soon', derive: deriveAgents },
  { kind: 'large holders', batch: 1, rest: 'soon', derive: deriveLargeHolders },
  { kind: 'summed holders', batch: 100, rest: 'soon', derive: deriveSummedHolders },
  { kind: 'searched registrations', batch: 500, rest: 'soon', derive: deriveSearched },
  { kind: 'declarations', batch: 100, rest: 'soon', derive: deriveDeclarations },
  { kind: 'control', batch: 100, rest: 'soon', derive: deriveControl },
  { kind: 'recipients', batch: 500, rest: 'with counts', derive: deriveRecipients },
  { kind: 'counts', batch: 500, rest: 'soon', derive: deriveCounts },
  { kind: 'neighbours', batch: 500, rest: 'with sums', derive: lookAround },
  { kind: 'edges', batch: 100, rest: 'with counts', derive: deriveEdges },
  { kind: 'wallets', batch: 100, rest: 'with sums', derive: routeWallets },
  { kind: 'income', batch: 100, rest: 'with sums', derive: deriveIncome },
  { kind: 'funders', batch: 100, turns: true, rest: 'soon', derive: deriveFunders },
  { kind: 'rings', batch: 50, rest: 'with sums', derive: deriveRings },
  { kind: 'escrows', batch: 100, turns: true, rest: 'soon', derive: deriveEscrows },
  { kind: 'escrow hours', batch: 100, turns: true, rest: 'soon', derive: deriveEscrowHours },
  { kind: 'escrow fees', batch: 50, rest: 'with sums', derive: deriveEscrowFees },
  { kind: 'income hours', batch: 500, turns: true, rest: 'with sums', derive: deriveIncomeHours },
  { kind: 'income sums', batch: 500, rest: 'with counts', derive: deriveIncomeSums },
  { kind: 'feedback files', batch: 500, rest: 'with sums', derive: deriveFeedbackFiles },
  { kind: 'raters', batch: 500, rest: 'with sums', derive: deriveRaters },
  { kind: 'circles', batch: 100, rest: 'with sums', derive: deriveCircles },
  { kind: 'rater groups', batch: 50, rest: 'with counts', derive: deriveRaterGroups },
  { kind: 'archived owners', batch: 1, rest: 'with counts', derive: deriveArchivedOwners },
  { kind: 'demand', batch: 100, rest: 'with counts', derive: deriveDemand },
  { kind: 'figures', batch: 100, rest: 'with counts', derive: deriveFigures },
  { kind: 'totals', batch: 1_000, rest: 'with counts', derive: deriveTotals },
  { kind: 'logged facts', batch: 500, rest: 'soon', derive: logFacts },
  { kind: 'webhook events', batch: 500, rest: 'soon', derive: appendEvents },
] as const satisfies readonly Derivation[]
