import type pg from 'pg'
import type { Logger } from 'pino'
import type { ChainSettings } from '../../config/chains.file.ts'
import { firstPaidBlock } from '../../config/chains.row.ts'
import type { BlockRange } from '../../db/block-range.ts'
import { createPool, inTransaction } from '../../db/pool.ts'
import { countUnaudited, putOffRange, unauditedRange, writeAudit } from '../../db/queries/chain/audit.ts'
import { blocksOfAgents, differingAgents, noteDiffering } from '../../db/queries/chain/audit-agents.ts'
import { readChainState } from '../../db/queries/chain/chain-state.ts'
import { otherRowsOfRange, type RangeTable, replaceRowsOfRange } from '../../db/queries/chain/replaced-rows.ts'
import { type History, type Wanted, wantedOf } from '../history/history.ts'
import { clientAt } from '../history/node.ts'
import type { SourceAddress } from '../history/source-address.ts'
import { Rounds } from '../rounds.ts'
import type { Scope } from '../scope/scope.ts'
import { jsonRows } from '../store/json-rows.ts'
import { agentsUnlike, mendAgents } from './agents.ts'
import { type ContractEvents, logsOfContracts, readContractEvents } from './contract-events.ts'
import { confirmEvents, mostAsked } from './contract-word.ts'
import type { Mended } from './mend.ts'
import { DisputedRows, NodeWord } from './node-word.ts'
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
 * history source once they are final there too, and rows that the node left out or got wrong are mended. A row is deleted
 * or changed only when the node, asked again for its block, agrees; else both sources are at odds, the row stays, and its
 * blocks are not certified. A failure is logged and retried later.
 */
export class Auditor {
  /** Rows mended since the start; `contracts`: rows of registrations, feedback, custody and operators. */
  readonly mended = { missing: 0, surplus: 0, changed: 0, unpaid: 0, contracts: 0 }
  /** Rows found since the start that the history source denies and that stay; counted again at each audit of their blocks. */
  disputed = 0
  /** When a round last ended without a failure, milliseconds since 1970; undefined: none has since the start. */
  succeededAt: number | undefined
  /** Blocks that still have to be audited; the newest of them are not final yet. */
  blocksToGo = 0
  readonly #pool: pg.Pool
  readonly #node: NodeWord | undefined
  readonly #rounds = new Rounds({ round: () => this.#round(), failed: (error) => this.#failed(error) })
  readonly #warn = (text: string) => this.options.log.warn(text)

  constructor(private readonly options: AuditOptions) {
    const { databaseUrl, chain, openHistory } = options
    const { rpc } = chain
    this.#node = rpc ? new NodeWord(clientAt(rpc), openHistory(wantedOf(chain)), chain, this.#warn) : undefined
    this.#pool = createPool({
      databaseUrl,
      name: `processor ${chain.name} audit`,
      max: 1,
    })
  }

  start(): void {
    this.#rounds.start(this.options.pauseMs)
  }

  /** Begins no further audit; waits for the piece that is being mended, `graceMs` at most. */
  close(graceMs: number): Promise<void> {
    return this.#rounds.close(graceMs)
  }

  async #round(): Promise<number> {
    const began = Date.now()
    await this.audit()
    this.succeededAt = Date.now()
    return Math.max(this.options.pauseMs, restShare * (Date.now() - began))
  }

  #failed({ message }: Error): number {
    const restMs = failureShare * this.options.pauseMs
    this.#warn(`the audit: ${message}; the next attempt in ${restMs / 1000} s`)
    return restMs
  }

  /**
   * Audits the next blocks, and mends the registrations that were found to differ. False: nothing could
   * be audited, because no block waits or none of them is final at the history source yet.
   */
  async audit(): Promise<boolean> {
    const { chain, openHistory } = this.options
    this.blocksToGo = await countUnaudited(this.#pool, chain.name)
    const waiting = await unauditedRange(this.#pool, chain.name)
    if (!waiting && (await differingAgents(this.#pool, chain.name, 1)).length === 0) return false
    const contracts = openHistory({ tokens: [], logs: logsOfContracts(chain) })
    const finalHeight = await contracts.finalHeight()
    const toBlock = waiting ? Math.min(waiting.toBlock, finalHeight, waiting.fromBlock + maxBlocks - 1) : -1
    const isThere = waiting !== undefined && toBlock >= waiting.fromBlock
    if (isThere) await this.#certify({ fromBlock: waiting.fromBlock, toBlock }, contracts, finalHeight)
    // Above the processor's blocks it is for the processor to write what happened.
    const { indexedBlock = -1, finalizedBlock = -1 } = (await readChainState(this.#pool, chain.name)) ?? {}
    this.mended.contracts += await mendAgents({
      pool: this.#pool,
      chain,
      openHistory: (logs) => openHistory({ tokens: [], logs }),
      node: this.#node,
      toBlock: Math.min(finalHeight, indexedBlock, finalizedBlock),
      warn: this.#warn,
      onDisputed: (disputed) => this.#dispute(disputed),
    })
    this.blocksToGo = await countUnaudited(this.#pool, chain.name)
    return isThere
  }

  /** Audits a range; one with disputed rows is put off. */
  async #certify(range: BlockRange, contracts: History, finalHeight: number) {
    try {
      await this.#auditRange(range, contracts, finalHeight)
    } catch (error) {
      if (!(error instanceof DisputedRows)) throw error
      await putOffRange(this.#pool, this.options.chain.name, range)
      this.#dispute(error)
    }
  }

  #dispute({ rows, message }: DisputedRows) {
    this.disputed += rows
    this.#warn(`the audit: ${message}`)
  }

  async #auditRange(range: BlockRange, contracts: History, finalHeight: number) {
    const { chain, scope, openHistory } = this.options
    const mended = { missing: 0, surplus: 0, changed: 0, unpaid: 0 }
    const audit = {
      pool: this.#pool,
      chain,
      scope,
      history: openHistory(wantedOf(chain)),
      node: this.#node,
      finalHeight,
      warn: this.#warn,
      isClosing: () => this.#rounds.isClosing,
      onMended: (piece: Mended) => this.#count(mended, piece),
    }
    const tally = firstPaidBlock(chain) !== null ? await auditSettlements(audit, range) : emptyAudit()
    const { events, firstHash, lastHash } = await readContractEvents(contracts, chain, range, this.#warn)
    const differing = await agentsUnlike(this.#pool, chain, range, events)
    await this.#confirm(range, events, differing)
    const custody = await this.#mendRangeRows(range, events)
    await noteDiffering(this.#pool, chain.name, differing)
    const agents = differing.length
    const read = Object.values(events).reduce((sum, list) => sum + list.length, 0)
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
    for (const kind of ['missing', 'surplus', 'changed', 'unpaid'] as const) {
      sum[kind] += piece[kind]
      this.mended[kind] += piece[kind]
    }
  }

  /** Throws DisputedRows when stored rows of a range rest on events of contracts that only the node has. */
  async #confirm(range: BlockRange, events: ContractEvents, differing: readonly bigint[]) {
    const { chain } = this.options
    if (!this.#node) return
    const ids = new Set(differing)
    const limit = mostAsked + 1
    const of = { chain: chain.name, ...range }
    const named = ids.size > 0 ? await blocksOfAgents(this.#pool, chain.name, range, differing, limit) : []
    for (const [table, rows] of rangeRows(chain, events)) {
      for (const { blocks, txHash } of await otherRowsOfRange(this.#pool, table, of, jsonRows(rows), limit)) {
        named.push(...blocks.map((blockNumber) => ({ blockNumber, txHash })))
      }
    }
    const blocks = `blocks ${range.fromBlock} to ${range.toBlock} of ${chain.name}`
    const isMeant = (event: object) => !('agentId' in event) || ids.has(event.agentId as bigint)
    await confirmEvents(named, { chain, node: this.#node, events, isMeant, of: blocks })
  }

  async #mendRangeRows({ fromBlock, toBlock }: BlockRange, events: ContractEvents): Promise<number> {
    const { chain } = this.options
    const of = { chain: chain.name, fromBlock, toBlock }
    const differed = await inTransaction(this.#pool, async (db) => {
      let sum = 0
      for (const [table, rows] of rangeRows(chain, events)) {
        const { missing, surplus, changed } = await replaceRowsOfRange(db, table, of, jsonRows(rows))
        sum += missing + surplus + changed
      }
      return sum
    })
    this.mended.contracts += differed
    return differed
  }

  #report({ fromBlock, toBlock }: BlockRange, found: Mended & { readonly agents: number; readonly custody: number }) {
    const { missing, surplus, changed, unpaid, agents, custody } = found
    if (missing + surplus + changed + unpaid + agents + custody === 0) return
    this.#warn(
      `the audit of blocks ${fromBlock} to ${toBlock} of ${this.options.chain.name}: ${missing} settlements were missing, ` +
        `${surplus} too many, ${changed} otherwise; unpaid authorizations differed ${unpaid} times; rows of ${agents} ` +
        `registrations and of ${custody} changes of custody or operators differed`,
    )
  }
}

/** Rows that belong to no registration, which are compared block by block. */
function rangeRows(
  { social }: ChainSettings,
  { custody, operators }: ContractEvents,
): (readonly [RangeTable, readonly object[]])[] {
  const ofOwners = ['registration_operator', operators] as const
  return social ? [['fid_custody', custody], ofOwners] : [ofOwners]
}
