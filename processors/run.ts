import type { Server } from 'node:http'
import type { Logger } from 'pino'
import type { ChainSettings } from '../config/chains.file.ts'
import { maxBlock } from '../db/block-range.ts'
import type { OpenDatabase } from '../db/open.ts'
import { createPool } from '../db/pool.ts'
import { backfillLoads, backfillsWithin } from '../db/queries/chain/backfill.ts'
import { readChainState } from '../db/queries/chain/chain-state.ts'
import { Seldom } from '../hosts/retries.ts'
import { type Health, portOf, serveHealth } from '../ops/health.ts'
import { createLogger } from '../ops/logger.ts'
import { untilStopSignal } from '../ops/stop.ts'
import { Auditor } from './audit/auditor.ts'
import { reserveHistory } from './backfill/reservation.ts'
import type { Backfilled } from './backfilled.ts'
import { checkDatabase, checkNode } from './checks.ts'
import type { ProcessorConfig } from './config.ts'
import { rememberContracts } from './contracts.ts'
import { Freezer } from './freezer.ts'
import { createHandler } from './handler.ts'
import { createHealth } from './health.ts'
import type { Wanted } from './history/history.ts'
import { sourceOf } from './history/source-address.ts'
import { openHistory, openWitness, witnessAt } from './history/sources.ts'
import { LateLoader } from './late/loader.ts'
import { Progress } from './progress.ts'
import { openScope } from './scope/open.ts'
import { createSource } from './source/source.ts'
import { firstBlock } from './source/wanted-logs.ts'
import { untilReached } from './store/connection.ts'
import { ChainDatabase } from './store/database.ts'
import { lockForProcessor, processorWaitMs } from './store/lock.ts'

/** Milliseconds that the transaction in flight may still take when the process is asked to stop. */
const stopGraceMs = 10_000

/** Indexes a chain until the process is asked to stop. Calls `exit` when it loses the chain's processor lock. */
export async function runProcessor(
  config: ProcessorConfig,
  opened: OpenDatabase,
  exit: (code: number) => never,
): Promise<void> {
  const { chain } = config
  const { databaseUrl } = opened
  const log = createLogger(`processor-${chain.name}`, config.logLevel)
  const progress = new Progress()
  const ending = [opened.close]
  untilStopSignal().then(async (signal) => {
    log.info(`${signal}: stopping after the batch in flight`)
    for (const end of ending.toReversed()) await end()
    exit(0)
  })
  const page = new HealthPage(config, {
    notReady: () => `another process has the lock of ${chain.name}`,
    metrics: () => '',
  })
  const lock = await lockForProcessor(databaseUrl, chain, {
    waitMs: processorWaitMs,
    onLost(error) {
      log.fatal(`lost the connection that keeps other processors of ${chain.name} away: ${error.message}`)
      exit(1)
    },
    onWait() {
      log.info(`another process has the lock of ${chain.name}: waiting for it`)
      page.serve().catch(() => page.forget()) // the process with the lock may have the port too
    },
  })
  ending.push(lock.release)
  // Only under the lock: its last owner may have changed what is reserved.
  const reserved = await check(databaseUrl, config, progress, log)
  const indexer = await openIndexer(config, databaseUrl, reserved, progress, log)
  page.health = indexer.health
  indexer.source.metrics.port = await page.serve()
  ending.push(() => indexer.close(stopGraceMs))
  log.info(
    { chainId: chain.id, metricsPort: indexer.source.metrics.port },
    startLine(chain, indexer.source.description, opened.description, progress, indexer.backfilled),
  )
  await indexer.run()
}

/** Metrics and health on the port of a process, also while it waits for its lock. */
class HealthPage {
  #serving: Promise<Server> | undefined

  constructor(
    private readonly config: Pick<ProcessorConfig, 'host' | 'metricsPort'>,
    /** What is shown now. */
    public health: Health,
  ) {}

  /** The port that it is on; throws when that is taken. */
  async serve(): Promise<number> {
    this.#serving ??= serveHealth(this.config.host, this.config.metricsPort, {
      notReady: () => this.health.notReady(),
      stuck: () => this.health.stuck?.(),
      metrics: () => this.health.metrics(),
    })
    return portOf(await this.#serving)
  }

  /** Makes the next `serve` try the port again. */
  forget(): void {
    this.#serving = undefined
  }
}

/** The parts of a processor that index its chain: the one that follows the head, and those at work in the background. */
async function openIndexer(
  config: ProcessorConfig,
  databaseUrl: string,
  reserved: Backfilled,
  progress: Progress,
  log: Logger,
) {
  const { chain, portalKey, scope } = config
  const database = new ChainDatabase(databaseUrl, chain, progress, log)
  const known = await openScope({ databaseUrl, chain, scope, portalKey, log })
  const backfilled = [...reserved, ...(known ? [{ fromBlock: 0, toBlock: known.ownFrom - 1 }] : [])]
  const reservations = createPool({ databaseUrl, name: `processor ${chain.name} reservations`, max: 1 })
  const seldom = new Seldom()
  const source = createSource({
    chain,
    portalKey,
    log,
    progress,
    final: () => database.final,
    backfilled,
    reservedFrom: (block) => untilReached(log, () => backfillsWithin(reservations, chain.name, block, maxBlock)),
    openWitness: (filters) => witnessAt(chain, filters, (text) => seldom.isDue('witness') && log.warn(text)),
  })
  const loader = known?.loader
  const auditor = openAuditor(databaseUrl, config, log)
  const late = openLate(databaseUrl, config, log)
  const freezer = chain.partitions ? new Freezer({ databaseUrl, chain, log }) : undefined
  const background = [loader, auditor, late, freezer]
  const loads = () => backfillLoads(reservations, chain.name)
  return {
    source,
    backfilled,
    health: createHealth(chain, progress, source.metrics.registry, { loader, auditor, late, loads }),
    async run() {
      if (source.node) await checkNode(source.node, chain)
      for (const one of background) one?.start()
      source.processor.run(database, createHandler({ chain, findCalls: source.findCalls, scope, progress, log }))
    },
    async close(graceMs: number) {
      await Promise.all([database, ...background].map((one) => one?.close(graceMs)))
    },
  }
}

/** The auditor, which compares two sources; undefined: the chain has only one. */
function openAuditor(databaseUrl: string, { chain, portalKey, scope, auditPauseMs }: ProcessorConfig, log: Logger) {
  if (!(chain.gateway ?? chain.portal) || !chain.rpc) return undefined
  const source = sourceOf(chain, portalKey)
  const pauseMs = auditPauseMs
  const open = (wanted: Wanted) => openHistory(source, wanted)
  return new Auditor({ databaseUrl, chain, scope, source: source.kind, openHistory: open, pauseMs, log })
}

/** The loader of what contracts paid that came to the chain table late. */
function openLate(databaseUrl: string, { chain, portalKey, scope }: ProcessorConfig, log: Logger) {
  const source = sourceOf(chain, portalKey)
  return new LateLoader({
    databaseUrl,
    chain,
    scope,
    openHistory: (wanted) => openHistory(source, wanted),
    openWitness: (wanted) => openWitness(source, chain, wanted, (text) => log.warn(text)),
    log,
  })
}

/** Checks the database before the start and restores `progress` from it. Returns the ranges that backfills load. */
async function check(
  databaseUrl: string,
  { chain, scope }: ProcessorConfig,
  progress: Progress,
  log: Logger,
): Promise<Backfilled> {
  const pool = createPool({ databaseUrl, name: `processor ${chain.name} start`, max: 1 })
  try {
    await checkDatabase(pool, chain)
    await rememberContracts(pool, chain)
    const state = await readChainState(pool, chain.name)
    progress.resume(state?.indexedBlock)
    // Years of settlements would be read before the first registration: agents come first, a backfill loads them meanwhile.
    for (const { fromBlock, toBlock } of scope === 'verified' ? [] : await reserveHistory(pool, chain)) {
      log.warn(
        `settlements of blocks ${fromBlock} to ${toBlock}, before the registry of ${chain.name}, are left to a backfill: ` +
          `npm run backfill -- --chain ${chain.name} --from ${fromBlock} --to ${toBlock}`,
      )
    }
    return await backfillsWithin(pool, chain.name, 0, maxBlock)
  } finally {
    await pool.end()
  }
}

function startLine(
  chain: ChainSettings,
  source: string,
  database: string,
  { indexedBlock }: Progress,
  backfilled: Backfilled,
) {
  const first = firstBlock(chain, backfilled)
  const from = indexedBlock === undefined ? `from block ${first}` : `resuming after block ${indexedBlock}`
  return `indexing ${chain.name} ${from}; ${source}; ${database}`
}
