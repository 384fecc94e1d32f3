import { Readable } from 'node:stream'
import type pg from 'pg'
import type { ChainSettings } from '../../chains.file.ts'
import type { BlockRange } from '../../db/block-range.ts'
import { inTransaction } from '../../db/pool.ts'
import { areSettlements, readUnpaid } from '../../db/queries/chain/audit.ts'
import { areCodes } from '../../db/queries/chain/payments/builder-codes.ts'
import { arePayments } from '../../db/queries/chain/payments/payments.ts'
import { addTally, emptyTally, type Tally } from '../backfill/row-pages.ts'
import { certifySource, differences, tallyOf, tallyTable } from '../backfill/verify.ts'
import type { History } from '../history/history.ts'
import { findCallsIn } from '../history/sources.ts'
import type { PaymentRow } from '../mapping/payments.ts'
import type { UnpaidCount } from '../mapping/settle-blocks.ts'
import type { Scope } from '../scope/scope.ts'
import type { CodedRow } from '../store/builder-code-record.ts'
import { addPaymentTally, emptyPaymentTally, type PaymentTally, tallyPayments } from '../store/payment-tally.ts'
import { encodeSettlements } from '../store/settlement-copy.ts'
import { toRecord } from '../store/settlement-record.ts'
import {
  differingUnpaid,
  expectedCodes,
  expectedPayments,
  keptOf,
  type Mended,
  mendRange,
  readSettled,
} from './mend.ts'

/** Blocks of one piece, which is mended in one transaction. */
const pieceBlocks = 64

interface SettlementsAudit {
  readonly pool: pg.Pool
  readonly chain: ChainSettings
  readonly scope: Scope
  /** Opened for the settlements and payments of the chain. */
  readonly history: History
  readonly finalHeight: number
  readonly warn: (text: string) => void
  /** Whether to stop after the piece in flight; blocks not compared by then are audited again later. */
  readonly isClosing: () => boolean
  /** Called with what was mended in each piece. */
  readonly onMended: (mended: Mended) => void
}

type Audited = Tally & PaymentTally

/** Totals of an audit without settlements. */
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
  const codes: CodedRow[] = []
  const shard = { firstBlock: range.fromBlock, lastBlock: range.toBlock }
  const config = { chain, tokens: tokensOf(chain), second: undefined }
  const certificate = await certifySource(history, config, shard, warn, (found) => {
    unpaid.push(...found.unpaid)
    payments.push(...found.payments)
    codes.push(...found.codes)
  })
  const isSame = async () => {
    const table = await inTransaction(pool, (client) => tallyTable(client, chain.name, shard))
    if (!table || differences(certificate, table).length > 0) return false
    if (differingUnpaid(unpaid, await readUnpaid(pool, chain.name, range)) > 0) return false
    const ours = await inTransaction(pool, (db) => keptOf(db, chain, 'all', { settlements: [], payments, unpaid: [] }))
    if (!(await areCodes(pool, chain.name, range, expectedCodes(codes)))) return false
    return arePayments(pool, chain.name, range, expectedPayments('all', ours))
  }
  if (await isSame()) return certificate
  for (const piece of piecesOf(range)) {
    if (audit.isClosing()) break
    const found = await readSettled(history, chain, piece, findCallsOf(audit), warn)
    audit.onMended(await mendRange(pool, chain, 'all', piece, found))
  }
  if (!(await isSame()))
    throw new Error(`blocks ${range.fromBlock} to ${range.toBlock} still differ from ${history.name}`)
  return certificate
}

/** Audit where only known recipients are kept: row by row, because who is known changes from block to block. */
async function auditKnown(audit: SettlementsAudit, range: BlockRange): Promise<Audited> {
  const { pool, chain, history, warn } = audit
  let sum = emptyTally()
  let paid = emptyPaymentTally()
  for (const piece of piecesOf(range)) {
    if (audit.isClosing()) throw new Error('closed in its middle')
    const found = await readSettled(history, chain, piece, findCallsOf(audit), warn)
    const look = () =>
      inTransaction(pool, async (db) => {
        const kept = await keptOf(db, chain, 'verified', found)
        const { settlements, payments } = kept
        const expected = { rows: settlements.map(toRecord), known: true }
        const isSame =
          (await areSettlements(db, chain.name, piece, expected)) &&
          (await arePayments(db, chain.name, piece, expectedPayments('verified', kept))) &&
          (await areCodes(db, chain.name, piece, expectedCodes([...found.settlements, ...found.payments]))) &&
          differingUnpaid(found.unpaid, await readUnpaid(db, chain.name, piece)) === 0
        return { settlements, payments, isSame }
      })
    let { settlements, payments, isSame } = await look()
    if (!isSame) {
      audit.onMended(await mendRange(pool, chain, 'verified', piece, found))
      ;({ settlements, payments, isSame } = await look())
      if (!isSame) throw new Error(`blocks ${piece.fromBlock} to ${piece.toBlock} still differ from ${history.name}`)
    }
    sum = addTally(sum, await tallyOf(Readable.from(encodeSettlements(settlements)), chain.name))
    paid = addPaymentTally(paid, tallyPayments(payments))
  }
  return { ...sum, ...paid }
}

function* piecesOf({ fromBlock, toBlock }: BlockRange): Generator<BlockRange> {
  for (let first = fromBlock; first <= toBlock; first += pieceBlocks) {
    yield { fromBlock: first, toBlock: Math.min(first + pieceBlocks - 1, toBlock) }
  }
}

const tokensOf = ({ tokens }: ChainSettings) => tokens.map(({ address }) => address)

function findCallsOf({ chain, history, finalHeight, warn }: SettlementsAudit) {
  return findCallsIn(history, { ...chain, chain: chain.name, tokens: tokensOf(chain), finalHeight }, warn)
}
