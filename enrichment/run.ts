import { sources } from '../config/sources.ts'
import type { OpenDatabase } from '../db/open.ts'
import { createPool } from '../db/pool.ts'
import { markHoldersUnknownTo } from '../db/queries/agents/holders.ts'
import { markDue } from '../db/queries/due/queue.ts'
import { markAgentsUnknownTo } from '../db/queries/sources/enrichment-inputs.ts'
import { askForAllDocuments } from '../db/queries/sources/registration-documents.ts'
import { addSubjects, askForSubjects, forgetOtherSubjects } from '../db/queries/sources/source-state.ts'
import { forgetAnswersOfOtherHubs } from '../db/queries/sources/witnesses.ts'
import { derivations } from '../derive/derivations.ts'
import { derivePass } from '../derive/pass.ts'
import { comparison } from '../derive/transparency.ts'
import { NoAnswer } from '../hosts/no-answer.ts'
import { portOf, serveHealth } from '../ops/health.ts'
import { createLogger } from '../ops/logger.ts'
import { untilStopSignal } from '../ops/stop.ts'
import { outliveStrays } from '../ops/strays.ts'
import { witnessSubject } from './cosignatures/source.ts'
import { facilitatorSubjects } from './facilitators/source.ts'
import { checkTables, createHealth } from './health.ts'
import { createSources, type SourcesOptions } from './installed-sources.ts'
import { createMetrics } from './metrics.ts'
import { isAnswer, type OnceRequest, readOnce } from './once.ts'
import { repeat } from './schedule/loop.ts'
import { createPasses } from './schedule/passes.ts'
import { periodicWork } from './schedule/periodic.ts'
import type { AnySource } from './schedule/source.ts'
import { createWatchdog, restMs } from './schedule/watchdog.ts'
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
export async function runEnrichment(options: EnrichmentOptions): Promise<number> {
  const { wanted, acceptsTotals, database } = options
  const pool = createPool({ databaseUrl: database.databaseUrl, name: 'enrichment', max: connections })
  await checkTables(pool)
  const job = new Enrichment(options, pool)
  try {
    if (acceptsTotals) return await job.acceptTotals()
    if (wanted) return await job.readOnce(wanted)
    await job.markNew()
    return await job.run()
  } finally {
    await job.end()
  }
}

class Enrichment {
  readonly #sources
  readonly #log
  readonly #watchdog
  readonly #metrics
  readonly #now = () => new Date()

  constructor(
    private readonly options: EnrichmentOptions,
    private readonly pool: ReturnType<typeof createPool>,
  ) {
    const { config, chains, wanted, acceptsTotals } = options
    const now = this.#now
    this.#log = createLogger('enrichment', wanted || acceptsTotals ? 'silent' : config.logLevel)
    this.#sources = createSources({ config, chains, pool, now })
    this.#watchdog = createWatchdog({ passed: (name, seconds) => this.#metrics.passed(name, seconds) })
    this.#metrics = createMetrics({ pool, ...this.#sources, now, silence: this.#watchdog.silence })
  }

  /** Accepts the hub's present totals. */
  async acceptTotals(): Promise<number> {
    const { accounts, messages } = await this.#sources.acceptHubTotals()
    process.stdout.write(`${JSON.stringify({ hub: this.options.config.hub.url, accounts, messages })}\n`)
    return 0
  }

  /** Reads one subject of a source. */
  async readOnce(wanted: OnceRequest): Promise<number> {
    const { installed, description } = this.#sources
    const source = installed.find(({ name }) => name === wanted.source)
    if (!source) throw new Error(`${wanted.source} is off: ${description}`)
    const result = await readOnce(source, wanted.fid, this.#pass(), this.#deriving())
    process.stdout.write(`${JSON.stringify(result)}\n`)
    return isAnswer(result.outcome) ? 0 : 1
  }

  /** Makes due what is new to this installation by its settings, and forgets what they do not name any more. */
  async markNew(): Promise<void> {
    const { pool } = this
    const { config } = this.options
    const { lookups, perAgent } = this.#sources
    const first = { priority: 0 as const, dueAt: this.#now() }
    await askForSubjects(pool, sources.shards.name, [hubSubject], first)
    if (config.asksFacilitators) await addSubjects(pool, sources.facilitators.name, facilitatorSubjects, first)
    const witnessSubjects = config.logWitnesses.map(witnessSubject)
    await forgetOtherSubjects(pool, sources.cosignatures.name, witnessSubjects)
    await addSubjects(pool, sources.cosignatures.name, witnessSubjects, first)
    if (lookups) await markHoldersUnknownTo(pool, sources.lookup.name)
    await askForAllDocuments(pool, this.#now())
    await forgetAnswersOfOtherHubs(
      pool,
      [config.hub, ...config.otherHubs].map(({ url }) => url),
    )
    await markAgentsUnknownTo(pool, perAgent)
    if (config.log) await markDue(pool, 'logged facts', [comparison]) // compares the log, and has it signed if the key is new
  }

  /** Runs all loops until the process is asked to stop. */
  async run(): Promise<number> {
    const { config, database } = this.options
    const { hubDoubt, hosts, description, installed } = this.#sources
    const server = await serveHealth(config.host, config.metricsPort, {
      ...createHealth({ pool: this.pool, hubDoubt, failing: this.#watchdog.failing }),
      stuck: this.#watchdog.stuck,
      metrics: () => this.#metrics.text(),
    })
    outliveStrays(this.#log, this.#metrics.registry)
    if (config.log && !config.log.memory.isWritable())
      this.#log.warn(
        'the folder of LOG_KEY_FILE cannot be written: entries of the log that a restore loses go unnoticed',
      )
    this.#log.info({ metrics: `${config.host}:${portOf(server)}` }, `${description}; ${database.description}`)

    const stopping = new AbortController()
    untilStopSignal().then((signal) => {
      this.#log.info(`${signal}: stopping after the passes in flight`)
      stopping.abort()
      for (const host of hosts) host.stop()
    })
    const shared = { signal: stopping.signal, log: this.#log, watchdog: this.#watchdog }
    const rests = { ...restMs, 'with counts': config.countsPauseMs }
    const context = this.#deriving()
    await Promise.all([
      ...installed
        .flatMap((source) => this.#loopsOf(source))
        .map(({ ended, ...one }) => repeat({ ...one, ...shared }).then(ended)),
      ...[
        ...derivations.map((one) => ({ name: one.kind, rest: one.rest, pass: () => derivePass(one, context) })),
        ...periodicWork.map((one) => ({ ...one, pass: () => one.pass(context) })),
      ].map(({ rest, ...one }) => repeat({ ...one, ...shared, restMs: rests[rest], isReadModel: true })),
    ])
    server.close()
    return 0
  }

  async end(): Promise<void> {
    await this.#sources.close()
    await this.pool.end()
    await this.options.database.close()
  }

  /** The loops that read a source. */
  #loopsOf(source: AnySource) {
    return Array.from({ length: source.loops ?? 1 }, (_, index) => {
      const passes = createPasses(source, this.#pass())
      const pass = async () => {
        const { leased, outcomes } = await passes.run()
        for (const outcome of outcomes) this.#metrics.read(source.name, outcome)
        return leased
      }
      const name = index === 0 ? source.name : `${source.name} ${index + 1}`
      return { name, pass, ended: passes.ended, restMs: restMs.source }
    })
  }

  #pass() {
    const failed = (source: string, subjects: readonly string[], error: Error) => {
      const about = { source, subjects: subjects.slice(0, 3) }
      if (error instanceof NoAnswer) this.#log.warn(about, error.message)
      else this.#log.error({ ...about, err: error }, error.message)
      if (this.options.wanted) process.stderr.write(`${error.message}\n`)
    }
    return { pool: this.pool, now: this.#now, random: Math.random, failed }
  }

  #deriving() {
    const { settlementOverloads, log } = this.options.config
    const { lookups, perAgent } = this.#sources
    return { pool: this.pool, now: this.#now, settlementOverloads, lookups, perAgent, log }
  }
}
