import { Readable } from 'node:stream'
import type { BlockRange } from '../../db/block-range.ts'
import { inTransaction } from '../../db/pool.ts'
import { areSettlements, countSettlements, readUnpaid } from '../../db/queries/chain/audit.ts'
import { areAttached } from '../../db/queries/chain/payments/attached.ts'
import { arePayments } from '../../db/queries/chain/payments/payments.ts'
import { boundedFailures } from '../../hosts/retries.ts'
import { addTally, emptyTally, type Tally } from '../backfill/row-pages.ts'
import { certifySource, differences, tallyOf, tallyTable } from '../backfill/verify.ts'
import type { History } from '../history/history.ts'
import { findCallsIn } from '../history/sources.ts'
import type { PaymentRow } from '../mapping/payments.ts'
import type { UnpaidCount } from '../mapping/settle-blocks.ts'
import { addPaymentTally, emptyPaymentTally, type PaymentTally, tallyPayments } from '../store/payment-tally.ts'
import { encodeSettlements } from '../store/settlement-copy.ts'
import { type AttachedRow, attachedLists, toRecord } from '../store/settlement-record.ts'
import { judge } from './judge.ts'
import {
  differingUnpaid,
  expectedPayments,
  keptOf,
  type Mendable,
  type Mended,
  mendRange,
  type Piece,
  readSettled,
  type SettledPiece,
} from './mend.ts'
import { areTooMany, DisputedRows, enoughDisputed, type NodeWord } from './node-word.ts'

/** Blocks of one piece, which is mended in one transaction. */
const pieceBlocks = 64

interface SettlementsAudit extends Mendable {
  /** Opened for the settlements and payments of the chain. */
  readonly history: History
  /** Asked before a row is deleted or changed; undefined: the chain has no node. */
  readonly node: NodeWord | undefined
  readonly finalHeight: number
  readonly warn: (text: string) => void
  /** Whether to stop after the piece in flight; blocks not compared by then are audited again later. */
  readonly isClosing: () => boolean
  /** Called with what was mended in each piece. */
  readonly onMended: (mended: Mended) => void
}

type Audited = Tally & PaymentTally

/** Totals of an audit where nothing is paid. */
export const emptyAudit = (): Audited => ({ ...emptyTally(), ...emptyPaymentTally() })

/** Mends settlements and payments of a range that differ from the source. Returns the source's totals of kept rows. */
export async function auditSettlements(audit: SettlementsAudit, range: BlockRange): Promise<Audited> {
  return audit.scope === 'all' ? auditAll(audit, range) : auditKnown(audit, range)
}

/** Audit of everybody's settlements: compares totals first, and reads the range again, in pieces, if they differ. */
async function auditAll(audit: SettlementsAudit, range: BlockRange): Promise<Audited> {
  const { pool, chain, history, warn } = audit
  const unpaid: UnpaidCount[] = []
  const payments: PaymentRow[] = []
  const codes: AttachedRow[] = []
  const shard = { firstBlock: range.fromBlock, lastBlock: range.toBlock }
  const certificate = await certifySource(history, chain, shard, warn, (found) => {
    unpaid.push(...found.unpaid)
    payments.push(...found.payments)
    codes.push(...found.codes)
  })
  const isSame = async () => {
    const table = await inTransaction(pool, (client) => tallyTable(client, chain.name, shard))
    if (!table || differences(certificate, table).length > 0) return false
    if (differingUnpaid(unpaid, await readUnpaid(pool, chain.name, range)) > 0) return false
    const ours = await inTransaction(pool, (db) => keptOf(db, chain, 'all', { settlements: [], payments, unpaid: [] }))
    if (!(await areAttached(pool, chain.name, range, attachedLists(codes)))) return false
    return arePayments(pool, chain.name, range, expectedPayments('all', ours))
  }
  if (await isSame()) return certificate
  const mending = new Mending(audit, range)
  for (const piece of piecesOf(range)) {
    if (audit.isClosing()) break
    await mending.take(await readPiece(audit, piece))
  }
  await mending.end()
  if (!(await isSame()))
    throw new Error(`blocks ${range.fromBlock} to ${range.toBlock} still differ from ${history.name}`)
  return certificate
}

/** Audit where only known recipients are kept: row by row, because who is known changes from block to block. */
async function auditKnown(audit: SettlementsAudit, range: BlockRange): Promise<Audited> {
  let sum = emptyTally()
  let paid = emptyPaymentTally()
  const mending = new Mending(audit, range)
  const count = async (piece: SettledPiece) => {
    const kept = await lookAt(audit, piece)
    if (!kept) return false
    sum = addTally(sum, await tallyOf(Readable.from(encodeSettlements(kept.settlements)), audit.chain.name))
    paid = addPaymentTally(paid, tallyPayments(kept.payments))
    return true
  }
  const mended: SettledPiece[] = []
  for (const range of piecesOf(mending.range)) {
    if (audit.isClosing()) throw new Error('closed in its middle')
    const piece = await readPiece(audit, range)
    if (await count(piece)) continue
    await mending.take(piece)
    mended.push(piece)
  }
  await mending.end()
  for (const piece of mended) {
    const { fromBlock, toBlock } = piece.range
    if (!(await count(piece)))
      throw new Error(`blocks ${fromBlock} to ${toBlock} still differ from ${audit.history.name}`)
  }
  return { ...sum, ...paid }
}

/** Rows of a piece that are kept; undefined: the stored ones differ. */
function lookAt({ pool, chain: { name }, chain, scope }: SettlementsAudit, { range, found }: Piece) {
  return inTransaction(pool, async (db) => {
    const kept = await keptOf(db, chain, scope, found)
    const expected = { rows: kept.settlements.map(toRecord), known: true }
    const isSame =
      (await areSettlements(db, name, range, expected)) &&
      (await arePayments(db, name, range, expectedPayments(scope, kept))) &&
      (await areAttached(db, name, range, attachedLists([...found.settlements, ...found.payments]))) &&
      differingUnpaid(found.unpaid, await readUnpaid(db, name, range)) === 0
    return isSame ? kept : undefined
  })
}

interface Judged {
  readonly piece: SettledPiece
  readonly agreed: readonly number[]
  readonly isWhole: boolean
}

/**
 * Mends the pieces of an audit. Pieces of which rows are removed wait for the end: when there are too many of these, a
 * hole in the history is likelier than a node that made them all up, and none is removed.
 */
class Mending {
  #disputed = 0
  #removed = 0
  readonly #waiting: Judged[] = []

  constructor(
    private readonly audit: SettlementsAudit,
    readonly range: BlockRange,
  ) {}

  /** Throws DisputedRows once the audit has no chance to certify its range. */
  async take(piece: SettledPiece): Promise<void> {
    const { audit } = this
    const findCalls = findCallsOf(audit)
    const { agreed, disputed, removed } = await judge(audit, piece, { node: audit.node, findCalls })
    const verdict = { piece, agreed, isWhole: disputed === 0 }
    this.#disputed += disputed
    this.#removed += removed
    if (removed > 0) this.#waiting.push(verdict)
    else await this.#mend(verdict)
    await this.#check(this.#disputed >= enoughDisputed)
  }

  /** Mends what waits. Throws DisputedRows when rows of the range stay that the history source does not have. */
  async end(): Promise<void> {
    for (const verdict of this.#waiting) await this.#mend(verdict)
    await this.#check(this.#disputed > 0)
  }

  async #mend({ piece, ...verdict }: Judged) {
    this.audit.onMended(await mendRange(this.audit, piece, verdict))
  }

  async #check(isDisputed: boolean) {
    const { pool, chain, history, node } = this.audit
    const blocks = `blocks ${this.range.fromBlock} to ${this.range.toBlock} of ${chain.name}`
    if (isDisputed) {
      const text = `${history.name} lacks or denies ${this.#disputed} rows of ${blocks} that the node confirms`
      throw new DisputedRows(`${text}; they stay`, this.#disputed)
    }
    if (node && (await areTooMany(this.#removed, () => countSettlements(pool, chain.name, this.range)))) {
      const text = `neither ${history.name} nor the node has ${this.#removed} rows of ${blocks}`
      throw new DisputedRows(`${text}, too many to remove; if they are wrong: npm run reset`, this.#removed)
    }
  }
}

const readPiece = (audit: SettlementsAudit, piece: BlockRange) =>
  readSettled(audit.history, audit.chain, piece, findCallsOf(audit), audit.warn)

function* piecesOf({ fromBlock, toBlock }: BlockRange): Generator<BlockRange> {
  for (let first = fromBlock; first <= toBlock; first += pieceBlocks) {
    yield { fromBlock: first, toBlock: Math.min(first + pieceBlocks - 1, toBlock) }
  }
}

function findCallsOf({ chain, history, finalHeight, warn }: SettlementsAudit) {
  return findCallsIn(history, chain, { finalHeight, attempts: boundedFailures }, warn)
}
