import type { ChainSettings } from '../config/chains.file.ts'
import { lagObjective } from '../config/chains.row.ts'
import { counter, gauge, type ScrapedMetric } from '../ops/metrics.ts'
import type { Auditor } from './audit/auditor.ts'
import type { LateLoader } from './late/loader.ts'
import type { Progress } from './progress.ts'
import type { ScopeLoader } from './scope/loader.ts'

/** Background jobs of the processor whose state is reported; absent: the job does not run. */
export interface Jobs {
  /** Loads the history of recipients that become known; runs when not every settlement is kept. */
  readonly loader?: Pick<ScopeLoader, 'backlog' | 'turnedAt'> | undefined
  readonly auditor?: Pick<Auditor, 'mended' | 'disputed' | 'succeededAt' | 'blocksToGo'> | undefined
  readonly late?: Pick<LateLoader, 'blocksToGo' | 'secondsToGo'> | undefined
  /** What the chain's backfills have loaded; they are commands and have no /metrics of their own. */
  readonly loads?: () => Promise<{ readonly blocksToGo: number; readonly settlements: number }>
}

/** What /metrics of a processor shows at each scrape, besides what the SDK tells. */
export function metricsOf(
  chain: Pick<ChainSettings, 'finalityConfirmation' | 'rpc'>,
  progress: Progress,
  { loader, auditor, late, loads }: Jobs,
): ScrapedMetric[] {
  return [
    ...metricsOfBlocks(chain, progress),
    ...metricsOfRows(progress),
    ...metricsOfSources(progress),
    ...(loads ? metricsOfLoads(loads) : []),
    ...(loader ? metricsOfLoader(loader) : []),
    ...(late ? metricsOfLate(late) : []),
    ...(auditor ? metricsOfAuditor(auditor) : []),
  ]
}

function metricsOfBlocks(
  { finalityConfirmation, rpc }: Pick<ChainSettings, 'finalityConfirmation' | 'rpc'>,
  progress: Progress,
): ScrapedMetric[] {
  return [
    gauge(
      'agent_directory_processor_indexed_block',
      'Last block whose rows are committed',
      () => progress.indexedBlock,
    ),
    gauge('agent_directory_processor_head_block', 'Head of the source as last seen', () => progress.headBlock),
    gauge(
      'agent_directory_processor_reorg_depth_blocks',
      'Indexed blocks that the last reorg took back; 0: there was none',
      () => progress.reorgs.lastDepth,
    ),
    gauge(
      'agent_directory_processor_finality_blocks',
      'Blocks below the head that a reorg may still take back',
      () => finalityConfirmation,
    ),
    gauge(
      'agent_directory_processor_final_block',
      'Newest block whose rows no reorg takes back',
      () => progress.finalBlock,
    ),
    gauge(
      'agent_directory_processor_upgraded_timestamp_seconds',
      'Time of the newest block in which the proxy of a registry or token got a new implementation; 0: none since the start',
      () => progress.upgradedAt / 1_000,
    ),
    gauge(
      'agent_directory_processor_last_commit_timestamp_seconds',
      'When the last transaction was committed; before the first, when the process started',
      () => progress.committedAt / 1_000,
    ),
    gauge(
      'agent_directory_processor_head_seen_timestamp_seconds',
      'When the source last told its head; before that, when the process started',
      () => progress.headSeenAt / 1_000,
    ),
    gauge(
      'agent_directory_processor_lag_objective_seconds',
      'How old the newest indexed block may be: more where no node tells the tip, and final blocks alone are read',
      () => (rpc ? lagObjective.atTip : lagObjective.whenFinal),
    ),
  ]
}

function metricsOfRows(progress: Progress): ScrapedMetric[] {
  return [
    counter(
      'agent_directory_processor_settlements_total',
      'Settlements written since the start',
      () => progress.totals.settlements,
    ),
    counter(
      'agent_directory_processor_unpaid_authorizations_total',
      'Authorizations since the start that moved no money: counted, not stored',
      () => progress.totals.unpaid,
    ),
    counter(
      'agent_directory_processor_bloom_mismatches_total',
      'Blocks since the start whose logs bloom told of more than their logs, which two methods of the node agreed on',
      () => progress.bloomMismatches,
    ),
    counter('agent_directory_processor_reorgs_total', 'Reorgs since the start', () => progress.reorgs.count),
  ]
}

function metricsOfSources(progress: Progress): ScrapedMetric[] {
  const sources = Object.entries(progress.sources)
  return [
    counter(
      'agent_directory_processor_source_errors_total',
      'Questions to the Portal or the node since the start that failed: busy, it asked for a pause; useless, its answer ' +
        'was no use; silent, there was none',
      () =>
        sources.flatMap(([source, { failures }]) =>
          Object.entries(failures).map(([kind, times]) => [{ source, kind }, times] as const),
        ),
      ['source', 'kind'],
    ),
    counter(
      'agent_directory_processor_source_wait_seconds_total',
      'Time since the start in which work waited for the Portal or the node after a failure',
      () => sources.map(([source, { waitedSeconds }]) => [{ source }, waitedSeconds] as const),
      ['source'],
    ),
  ]
}

function metricsOfLoads(loads: NonNullable<Jobs['loads']>): ScrapedMetric[] {
  const ask = () => loads().catch(() => undefined)
  return [
    gauge(
      'agent_directory_backfill_blocks_to_go',
      'Blocks reserved for backfills that are not loaded yet; absent while the database does not answer',
      async () => (await ask())?.blocksToGo,
    ),
    gauge(
      'agent_directory_backfill_rows',
      'Settlements that backfills have loaded; absent while the database does not answer',
      async () => (await ask())?.settlements,
    ),
  ]
}

function metricsOfLoader(loader: NonNullable<Jobs['loader']>): ScrapedMetric[] {
  return [
    gauge(
      'agent_directory_processor_scope_recipients_waiting',
      'Verified addresses whose settlements are not all loaded',
      () => loader.backlog.recipients,
    ),
    gauge(
      'agent_directory_processor_scope_blocks_to_go',
      'Blocks to read for the verified address that is furthest behind',
      () => loader.backlog.blocks,
    ),
  ]
}

function metricsOfLate(late: NonNullable<Jobs['late']>): ScrapedMetric[] {
  return [
    gauge(
      'agent_directory_processor_late_blocks_to_go',
      'Indexed blocks to read for payment contracts that came to the chain table late',
      () => late.blocksToGo,
    ),
    gauge(
      'agent_directory_processor_late_seconds_to_go',
      'Time until these are read, at the pace since the start; absent: none is known yet',
      () => late.secondsToGo,
    ),
  ]
}

function metricsOfAuditor(auditor: NonNullable<Jobs['auditor']>): ScrapedMetric[] {
  return [
    gauge(
      'agent_directory_audit_blocks_to_go',
      'Blocks written from a node that the auditor has not read again',
      () => auditor.blocksToGo,
    ),
    gauge(
      'agent_directory_audit_succeeded_timestamp_seconds',
      'When a round of the audit last ended without a failure; absent: none has since the start',
      () => auditor.succeededAt && auditor.succeededAt / 1_000,
    ),
    counter(
      'agent_directory_audit_missing_rows_total',
      'Settlements that a node left out, mended',
      () => auditor.mended.missing,
    ),
    counter(
      'agent_directory_audit_surplus_rows_total',
      'Settlements that are not on the chain, deleted',
      () => auditor.mended.surplus,
    ),
    counter(
      'agent_directory_audit_changed_rows_total',
      'Settlements with a wrong value, mended',
      () => auditor.mended.changed,
    ),
    counter(
      'agent_directory_audit_contract_rows_total',
      'Rows of registrations, feedback and custody that were missing, too many or otherwise, mended',
      () => auditor.mended.contracts,
    ),
    counter(
      'agent_directory_audit_disputed_rows_total',
      'Rows that the history source denies and that stay, because the node confirms them or they are too many',
      () => auditor.disputed,
    ),
    counter(
      'agent_directory_audit_unpaid_rows_total',
      'Counts of unpaid authorizations, mended',
      () => auditor.mended.unpaid,
    ),
  ]
}
