import type { OpenDatabase } from '../db/open.ts'
import { createPool } from '../db/pool.ts'
import { markHoldersUnknownTo } from '../db/queries/agents/holders.ts'
import { markDue } from '../db/queries/due/queue.ts'
import { refreshFeedback } from '../db/queries/feedback/feedback-counts.ts'
import { refreshRankings } from '../db/queries/leaderboard/rankings.ts'
import { markOtherFigures } from '../db/queries/rollup/agent-figures.ts'
import { refreshSeriesPayers } from '../db/queries/rollup/series-payers.ts'
import { markAgentsUnknownTo } from '../db/queries/sources/enrichment-inputs.ts'
import { askForAllDocuments } from '../db/queries/sources/registration-documents.ts'
import { addSubjects, askForSubjects, forgetOtherSubjects } from '../db/queries/sources/source-state.ts'
import { forgetOtherWitnesses } from '../db/queries/sources/witnesses.ts'
import { derivations } from '../derive/derivations.ts'
import { derivePass, settle } from '../derive/pass.ts'
import { comparison } from '../derive/transparency.ts'
import { NoAnswer } from '../hosts/no-answer.ts'
import { portOf, serveHealth } from '../ops/health.ts'
import { createLogger } from '../ops/logger.ts'
import { untilStopSignal } from '../ops/stop.ts'
import { outliveStrays } from '../ops/strays.ts'
import { sources } from '../sources.config.ts'
import { witnessSubject } from './cosignatures/source.ts'
import { facilitatorSubjects } from './facilitators/source.ts'
import { checkTables, createHealth } from './health.ts'
import { createSources, type SourcesOptions } from './installed-sources.ts'
import { refreshCounts } from './join/counts.ts'
import { forgetOldRows } from './join/old-rows.ts'
import { rollUpSettlements } from './join/rollup.ts'
import { createMetrics } from './metrics.ts'
import { isAnswer, type OnceRequest, readOnce } from './once.ts'
import { repeat } from './schedule/loop.ts'
import { createPasses } from './schedule/passes.ts'
import { createWatchdog, derivationRestMs, rankingsRestFactor, restMs } from './schedule/watchdog.ts'
import { hubSubject } from './socialindex/shards.ts'

const connections = 12

interface EnrichmentOptions extends Pick<SourcesOptions, 'config' | 'chains'> {
  /** Closed before `runEnrichment` returns. */
  readonly database: OpenDatabase
  /** Do this one read and end; undefined: run as a job. */
  readonly wanted: OnceRequest | undefined
  /** Accept the hub's present totals and end. */
  readonly acceptsTotals: boolean
}

/** Runs the job until the process is asked to stop, or does the one thing asked for. Returns the exit code. */
export async function runEnrichment({
  config,
  chains,
  database,
  wanted,
  acceptsTotals,
}: EnrichmentOptions): Promise<number> {
  const log = createLogger('enrichment', wanted || acceptsTotals ? 'silent' : config.logLevel)
  const now = () => new Date()

  const pool = createPool({ databaseUrl: database.databaseUrl, name: 'enrichment', max: connections })
  await checkTables(pool)
  const { installed, hosts, hubDoubt, hubFollowed, acceptHubTotals, lookups, perAgent, description, close } =
    createSources({
      config,
      chains,
      pool,
      now,
    })
  const watchdog = createWatchdog({ passed: (name, seconds) => metrics.passed(name, seconds) })
  const metrics = createMetrics({ pool, hosts, hubDoubt, hubFollowed, now, silence: watchdog.silence })
  const health = createHealth({ pool, hubDoubt, failing: watchdog.failing })
  const failed = (source: string, subjects: readonly string[], error: Error) => {
    const about = { source, subjects: subjects.slice(0, 3) }
    if (error instanceof NoAnswer) log.warn(about, error.message)
    else log.error({ ...about, err: error }, error.message)
    if (wanted) process.stderr.write(`${error.message}\n`)
  }
  const pass = { pool, now, random: Math.random, failed }
  const join = { pool, now, settlementOverloads: config.settlementOverloads, lookups, perAgent, log: config.log }
  const end = async () => {
    await close()
    await pool.end()
    await database.close()
  }

  if (acceptsTotals) {
    try {
      const { accounts, messages } = await acceptHubTotals()
      process.stdout.write(`${JSON.stringify({ hub: config.hub.url, accounts, messages })}\n`)
      return 0
    } finally {
      await end()
    }
  }
  if (wanted) {
    try {
      const source = installed.find(({ name }) => name === wanted.source)
      if (!source) throw new Error(`${wanted.source} is off: ${description}`)
      const result = await readOnce(source, wanted.fid, pass, join)
      process.stdout.write(`${JSON.stringify(result)}\n`)
      return isAnswer(result.outcome) ? 0 : 1
    } finally {
      await end()
    }
  }

  await askForSubjects(pool, sources.shards.name, [hubSubject], { priority: 0, dueAt: now() })
  if (config.asksFacilitators)
    await addSubjects(pool, sources.facilitators.name, facilitatorSubjects, { priority: 0, dueAt: now() })
  const witnessSubjects = config.logWitnesses.map(witnessSubject)
  await forgetOtherSubjects(pool, sources.cosignatures.name, witnessSubjects)
  await addSubjects(pool, sources.cosignatures.name, witnessSubjects, { priority: 0, dueAt: now() })
  if (lookups) await markHoldersUnknownTo(pool, sources.lookup.name)
  await askForAllDocuments(pool, now())
  await forgetOtherWitnesses(
    pool,
    [config.hub, ...config.otherHubs].map(({ url }) => url),
  )
  await markAgentsUnknownTo(pool, perAgent)
  if (config.log) await markDue(pool, 'logged facts', [comparison]) // compares the log, and has it signed if the key is new
  const server = await serveHealth(config.host, config.metricsPort, {
    ...health,
    stuck: watchdog.stuck,
    metrics: () => metrics.text(),
  })
  outliveStrays(log, metrics.registry)
  if (config.log && !config.log.memory.isWritable())
    log.warn('the folder of LOG_KEY_FILE cannot be written: entries of the log that a restore loses go unnoticed')
  log.info({ metrics: `${config.host}:${portOf(server)}` }, `${description}; ${database.description}`)

  const stopping = new AbortController()
  const signal = stopping.signal
  const loop = (name: string, pass: () => Promise<number>, rest: number) =>
    repeat({ name, pass, restMs: rest, signal, log, watchdog })
  const readModel = (name: string, pass: () => Promise<number>, rest: number, restFactor?: number) =>
    repeat({ name, pass, restMs: rest, restFactor, isReadModel: true, signal, log, watchdog })
  untilStopSignal().then((signal) => {
    log.info(`${signal}: stopping after the passes in flight`)
    stopping.abort()
    for (const host of hosts) host.stop()
  })

  const sourceLoops = installed.flatMap((source) =>
    Array.from({ length: source.loops ?? 1 }, async (_, index) => {
      const passes = createPasses(source, pass)
      await loop(
        index === 0 ? source.name : `${source.name} ${index + 1}`,
        async () => {
          const { leased, outcomes } = await passes.run()
          for (const outcome of outcomes) metrics.read(source.name, outcome)
          return leased
        },
        restMs.source,
      )
      await passes.ended()
    }),
  )
  const refresh = async () => {
    await refreshCounts(join)
    return 0
  }
  const payers = async () => {
    await refreshSeriesPayers(join)
    return 0
  }
  const feedback = async () => {
    await refreshFeedback(join)
    return 0
  }
  const figures = derivations.filter(({ kind }) => kind === 'figures')
  const rankings = async () => {
    await markOtherFigures(pool, { settlementOverloads: config.settlementOverloads, now: now() })
    await settle(figures, join)
    await refreshRankings(join)
    return 0
  }
  const rests = { ...derivationRestMs, 'with counts': config.countsPauseMs }
  await Promise.all([
    ...sourceLoops,
    ...derivations.map((one) => readModel(one.kind, () => derivePass(one, join), rests[one.rest])),
    readModel('settlement roll-up', () => rollUpSettlements({ pool }), restMs.rollup),
    readModel('settlement counts', refresh, config.countsPauseMs),
    readModel('payers', payers, config.countsPauseMs),
    readModel('feedback', feedback, config.countsPauseMs),
    readModel('rankings', rankings, config.countsPauseMs, rankingsRestFactor),
    readModel('old rows', () => forgetOldRows({ pool, now }), restMs.oldRows),
  ])
  server.close()
  await end()
  return 0
}
