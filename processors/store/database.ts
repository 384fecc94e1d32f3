import { SnakeNamingStrategy } from '@subsquid/typeorm-config/lib/namingStrategy.js'
import { Store, TypeormDatabase } from '@subsquid/typeorm-store'
import { DataSource } from 'typeorm'
import type { ChainSettings } from '../../config/chains.file.ts'
import * as entities from '../../db/model/index.ts'
import { connectionTimeouts, patientStatementMs, rebuildable, sessionOf } from '../../db/pool.ts'
import { noteHeadRange } from '../../db/queries/chain/audit.ts'
import { lockCursor, writeChainState } from '../../db/queries/chain/chain-state.ts'
import { dropHotIds, noteFinalBlock } from '../../db/queries/chain/final-blocks.ts'
import { Refusal } from '../../ops/cli.ts'
import type { BlockPlace } from '../continuity.ts'
import type { Progress } from '../progress.ts'
import { checkConnection, connectionOf, untilReached } from './connection.ts'
import { PartitionsAhead } from './partitions-ahead.ts'

type FinalInfo = Parameters<TypeormDatabase['transact']>[0]
type FinalMap = Parameters<TypeormDatabase['transact']>[1]
/** The blocks between which a transaction changes the chain's rows. */
interface Reach {
  /** Last block that the transaction writes. */
  readonly height: number
  /** Block above which it undoes what is indexed; default: it undoes nothing. */
  readonly goesBackTo?: number
}

type HotInfo = Parameters<TypeormDatabase['transactHot2']>[0]
type HotMap = Parameters<TypeormDatabase['transactHot2']>[1]
type StoredChain = Awaited<ReturnType<TypeormDatabase['connect']>>

/** The transaction's own connection and one that waits. */
const connections = 2
const connectTimeoutMs = 10_000
/** From 200 hot blocks in a transaction on, typeorm-store 1.9.2 handles several as one and notes the last of them alone. */
const maxHotBlocks = 199

/**
 * The SDK's database with our entities, which also records how far the chain is, in the transaction that moves the
 * cursor: whoever reads `chain_state` sees the rows that belong to it.
 *
 * READ COMMITTED: under SERIALIZABLE the processors of different chains abort each other although they share no row.
 *
 * A second processor of the same chain must not write, and the SDK's cursor does not see to that: it keeps two from
 * writing at once, but in turns each undoes the other's hot blocks and writes them again. So every transaction also
 * requires that the cursor was last moved by this process.
 */
export class ChainDatabase extends TypeormDatabase {
  /** Newest block whose rows will not be undone; undefined before the first is written. */
  final: BlockPlace | undefined
  #dataSource: DataSource | undefined
  /** How often the cursor has been moved, as far as this process knows. */
  #moves = 0
  #running: Promise<unknown> = Promise.resolve()
  #closing = false
  /** Whether the transaction in hand has reached the database. */
  #hasBegun = false
  readonly #partitions: PartitionsAhead

  constructor(
    private readonly databaseUrl: string,
    private readonly settings: ChainSettings,
    private readonly progress: Progress,
    private readonly log: { warn(text: string): void },
  ) {
    super({ stateSchema: stateSchema(settings), isolationLevel: 'READ COMMITTED', supportHotBlocks: true })
    this.#partitions = new PartitionsAhead(databaseUrl, settings.name)
  }

  protected override async initializeDataSource(): Promise<DataSource> {
    const dataSource = new DataSource({
      type: 'postgres',
      url: rebuildable(sessionOf(this.databaseUrl)),
      applicationName: `processor ${this.settings.name}`,
      entities: Object.values(entities),
      namingStrategy: new SnakeNamingStrategy(),
      connectTimeoutMS: connectTimeoutMs,
      poolSize: connections,
      extra: connectionTimeouts(patientStatementMs),
    })
    await dataSource.initialize()
    await checkConnection(dataSource, Store)
    this.#dataSource = dataSource
    return dataSource
  }

  override async connect(): Promise<StoredChain> {
    const stored = await super.connect()
    this.#moves = stored.nonce
    if (stored.height >= 0) this.#settle({ height: stored.height, hash: stored.hash })
    return stored
  }

  override transact(info: FinalInfo, map: FinalMap): Promise<void> {
    const { height } = info.nextHead
    return this.#run({ height }, info.nextHead, () =>
      super.transact(info, async (store) => {
        await this.#begin(store)
        const result = await map(store)
        await this.#noteHead(store, info.prevHead.height + 1, height)
        await this.#moveState(store, height, info.nextHead)
        return result
      }),
    )
  }

  /**
   * In transactions of a bounded number of blocks: of more at a time the SDK notes only some, and neither a restart nor a
   * fork finds its way back to the others.
   */
  override async transactHot2(info: HotInfo, map: HotMap): Promise<void> {
    const { newBlocks, finalizedHead } = info
    for (let from = 0; from === 0 || from < newBlocks.length; from += maxHotBlocks) {
      const part = newBlocks.slice(from, from + maxHotBlocks)
      const baseHead = newBlocks[from - 1] ?? info.baseHead
      const isFinal = finalizedHead.height <= (part.at(-1) ?? baseHead).height
      await this.#transactHot(
        { ...info, baseHead, newBlocks: part, finalizedHead: isFinal ? finalizedHead : (this.final ?? info.baseHead) },
        (store, first, end) => map(store, from + first, from + end),
      )
    }
  }

  #transactHot(info: HotInfo, map: HotMap): Promise<void> {
    const last = info.newBlocks.length - 1
    const { height } = info.newBlocks[last] ?? info.baseHead
    const goesBackTo = info.baseHead.height
    return this.#run({ height, goesBackTo }, info.finalizedHead, () =>
      super.transactHot2(info, async (store, from, to) => {
        if (from === 0) await this.#begin(store)
        const result = await map(store, from, to)
        if (to > last) {
          if (info.newBlocks.length > 0) await this.#noteHead(store, info.baseHead.height + 1, height)
          await this.#moveState(store, height, info.finalizedHead)
        }
        return result
      }),
    )
  }

  /**
   * Lets the transaction in flight end, begins none any more, and disconnects. After `graceMs` the transaction is
   * aborted by the end of its connection.
   */
  async close(graceMs: number): Promise<void> {
    this.#closing = true
    let timer: NodeJS.Timeout | undefined
    const deadline = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, graceMs)
    })
    await Promise.race([this.#running.catch(() => {}), deadline])
    clearTimeout(timer)
    if (this.#dataSource?.isInitialized) await Promise.race([this.disconnect(), deadline])
  }

  async #run({ height, goesBackTo = height }: Reach, final: BlockPlace, work: () => Promise<void>): Promise<void> {
    // The process is about to exit; the SDK has no way to be told, so it waits for this for ever.
    if (this.#closing) return new Promise(() => {})
    this.#running = this.#whenReached(height, work)
    await this.#running
    this.#moves++
    this.#settle(final)
    this.progress.goBack(goesBackTo)
    this.progress.commit(height)
  }

  /** Does work in a transaction. While the database cannot be reached it waits; what has begun is not begun again. */
  async #whenReached(height: number, work: () => Promise<void>): Promise<void> {
    await untilReached(this.log, () => this.#partitions.reach(height))
    this.#hasBegun = false
    await untilReached(this.log, work, () => !this.#hasBegun)
  }

  #settle(final: BlockPlace) {
    this.final = final
    this.progress.finalBlock = final.height
  }

  /** Throws when somebody else has moved the cursor since this process did. */
  async #begin(store: Store) {
    this.#hasBegun = true
    this.progress.begin()
    const moves = await lockCursor(connectionOf(store), stateSchema(this.settings))
    if (moves === this.#moves) return
    const { name } = this.settings
    throw new Refusal(`another processor of ${name} has written to this database; only one may run`)
  }

  /**
   * Records blocks as read at the head, from the node: those above what the archive handed over. What it reports to hold
   * tells nothing of that, because the SDK asks it for no more blocks once it has gone on to the node.
   */
  async #noteHead(store: Store, first: number, last: number) {
    const { archiveReadTo } = this.progress
    if (archiveReadTo === undefined || last <= archiveReadTo) return
    const range = { fromBlock: Math.max(first, archiveReadTo + 1), toBlock: last }
    await noteHeadRange(connectionOf(store), this.settings.name, range)
  }

  /** Writes the chain's state past the change tracking: a reorg does not undo it, its repair writes it again. */
  async #moveState(store: Store, indexedBlock: number, final: BlockPlace) {
    await noteFinalBlock(connectionOf(store), this.settings.name, final)
    const before = this.final?.height ?? -1
    if (final.height > before) await dropHotIds(connectionOf(store), this.settings.name, before, final.height)
    await writeChainState(connectionOf(store), {
      chain: this.settings.name,
      chainId: this.settings.id,
      indexedBlock,
      indexedAt: this.progress.timestampOf(indexedBlock),
      finalizedBlock: final.height,
      headBlock: Math.max(this.progress.headBlock ?? indexedBlock, indexedBlock),
    })
  }
}

/** The schema that holds the SDK's cursor for a chain. */
export function stateSchema({ name }: Pick<ChainSettings, 'name'>): string {
  return `processor_${name}`
}
