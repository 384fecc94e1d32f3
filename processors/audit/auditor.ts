import type pg from 'pg'
import type { Logger } from 'pino'
import type { ChainSettings } from '../../chains.file.ts'
import type { BlockRange } from '../../db/block-range.ts'
import { createPool, inTransaction } from '../../db/pool.ts'
import { countUnaudited, unauditedRange, writeAudit } from '../../db/queries/chain/audit.ts'
import { differingAgents } from '../../db/queries/chain/audit-agents.ts'
import { replaceCustody } from '../../db/queries/chain/replaced-rows.ts'
import { type History, type Wanted, wantedOf } from '../history/history.ts'
import type { SourceAddress } from '../history/source-address.ts'
import { Rounds } from '../rounds.ts'
import type { Scope } from '../scope/scope.ts'
import { jsonRows } from '../store/json-rows.ts'
import { mendAgents, noteAgents } from './agents.ts'
import { type ContractEvents, logsOfContracts, readContractEvents } from './contract-events.ts'
import type { Mended } from './mend.ts'
import { auditSettlements, emptyAudit } from './settlements.ts'

/** Most blocks of one audit, which writes one certificate. */
const maxBlocks = 10_000
/** Shortest rest after an audit, as a multiple of the time it took: indexing the tip goes first. */
const restShare = 4
/** Rest after a failed audit, as a multiple of `pauseMs`. */
const failureShare = 5

interface AuditOptions {
  readonly databaseUrl: string
  readonly chain: ChainSettings
  readonly scope: Scope
  /** What kind of source `openHistory` opens. */
  readonly source: SourceAddress['kind']
  /** Opens the chain's archive or Portal. */
  readonly openHistory: (wanted: Wanted) => History
  /** Shortest rest between two audits. */
  readonly pauseMs: number
  readonly log: Pick<Logger, 'info' | 'warn'>
}

/**
 * Background audit in the processor's process. Blocks that were indexed from a node at the head are read again from the
 * history source once they are final there too, and rows that the node left out or got wrong are mended. A failure is
 * logged and retried later.
 */
export class Auditor {
  /** Rows mended since the start; `contracts`: rows of registrations, feedback and custody. */
  readonly mended = { missing: 0, surplus: 0, changed: 0, unpaid: 0, contracts: 0 }
  /** Blocks that still have to be audited; the newest of them are not final yet. */
  blocksToGo = 0
  readonly #pool: pg.Pool
  readonly #rounds = new Rounds({ turn: () => this.#turn(), failed: (error) => this.#failed(error) })
  readonly #warn = (text: string) => this.options.log.warn(text)

  constructor(private readonly options: AuditOptions) {
    const { databaseUrl, chain } = options
    this.#pool = createPool({ databaseUrl, name: `processor ${chain.name} audit`, max: 1 })
  }

  /** When the audit in flight began or last made progress, milliseconds since 1970; undefined: none is in flight. */
  get silentSince(): number | undefined {
    return this.#rounds.silentSince
  }

  start(): void {
    this.#rounds.start(this.options.pauseMs)
  }

  /** Begins no further audit; waits for the piece that is being mended, `graceMs` at most. */
  close(graceMs: number): Promise<void> {
    return this.#rounds.close(graceMs)
  }

  async #turn(): Promise<number> {
    const began = Date.now()
    await this.audit()
    return Math.max(this.options.pauseMs, restShare * (Date.now() - began))
  }

  #failed({ message }: Error): number {
    const restMs = failureShare * this.options.pauseMs
    this.#warn(`the audit: ${message}; the next attempt in ${restMs / 1000} s`)
    return restMs
  }

  /** Audits the next blocks, and mends the registrations that were found to differ. False: no blocks are waiting. */
  async audit(): Promise<boolean> {
    const { chain, openHistory } = this.options
    this.blocksToGo = await countUnaudited(this.#pool, chain.name)
    const waiting = await unauditedRange(this.#pool, chain.name)
    if (!waiting && (await differingAgents(this.#pool, chain.name, 1)).length === 0) return false
    const contracts = openHistory({ tokens: [], logs: logsOfContracts(chain) })
    const finalHeight = await contracts.finalHeight()
    const toBlock = waiting ? Math.min(waiting.toBlock, finalHeight, waiting.fromBlock + maxBlocks - 1) : -1
    const isThere = waiting !== undefined && toBlock >= waiting.fromBlock
    if (isThere) await this.#auditRange({ fromBlock: waiting.fromBlock, toBlock }, contracts, finalHeight)
    this.mended.contracts += await mendAgents({
      pool: this.#pool,
      chain,
      openHistory: (logs) => openHistory({ tokens: [], logs }),
      finalHeight,
      warn: this.#warn,
    })
    this.blocksToGo = await countUnaudited(this.#pool, chain.name)
    return isThere
  }

  async #auditRange(range: BlockRange, contracts: History, finalHeight: number) {
    const { chain, scope, openHistory } = this.options
    const mended = { missing: 0, surplus: 0, changed: 0, unpaid: 0 }
    const tokens = chain.tokens.map(({ address }) => address)
    const audit = {
      pool: this.#pool,
      chain,
      scope,
      history: openHistory(wantedOf(chain)),
      finalHeight,
      warn: this.#warn,
      isClosing: () => this.#rounds.isClosing,
      onMended: (piece: Mended) => this.#count(mended, piece),
    }
    const tally = tokens.length > 0 ? await auditSettlements(audit, range) : emptyAudit()
    this.#rounds.moved()
    const { events, firstHash, lastHash } = await readContractEvents(contracts, chain, range, this.#warn)
    this.#rounds.moved()
    const custody = await this.#mendCustody(range, events)
    const agents = await noteAgents(this.#pool, chain, range, events)
    const read = events.registrations.length + events.feedback.length + events.responses.length + events.custody.length
    const found = { ...mended, events: read, agents, custody }
    await writeAudit(this.#pool, chain.name, {
      ...tally,
      ...range,
      firstHash,
      lastHash,
      ...found,
      source: this.options.source,
    })
    this.#report(range, found)
  }

  #count(sum: { -readonly [K in keyof Mended]: number }, piece: Mended) {
    this.#rounds.moved()
    for (const kind of ['missing', 'surplus', 'changed', 'unpaid'] as const) {
      sum[kind] += piece[kind]
      this.mended[kind] += piece[kind]
    }
  }

  async #mendCustody({ fromBlock, toBlock }: BlockRange, events: ContractEvents): Promise<number> {
    const { name, social } = this.options.chain
    if (!social) return 0
    const rows = jsonRows(events.custody)
    const { missing, surplus, changed } = await inTransaction(this.#pool, (db) =>
      replaceCustody(db, { chain: name, fromBlock, toBlock }, rows),
    )
    const differed = missing + surplus + changed
    this.mended.contracts += differed
    return differed
  }

  #report({ fromBlock, toBlock }: BlockRange, found: Mended & { readonly agents: number; readonly custody: number }) {
    const { missing, surplus, changed, unpaid, agents, custody } = found
    if (missing + surplus + changed + unpaid + agents + custody === 0) return
    this.#warn(
      `the audit of blocks ${fromBlock} to ${toBlock} of ${this.options.chain.name}: ${missing} settlements were missing, ` +
        `${surplus} too many, ${changed} otherwise; unpaid authorizations differed ${unpaid} times; rows of ${agents} ` +
        `tokens and of ${custody} changes of custody differed`,
    )
  }
}
