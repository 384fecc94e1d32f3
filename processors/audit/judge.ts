import { inTransaction, type Queryable } from '../../db/pool.ts'
import { type OtherRow, otherSettlements, readUnpaid } from '../../db/queries/chain/audit.ts'
import { otherAttached } from '../../db/queries/chain/payments/attached.ts'
import { otherPayments } from '../../db/queries/chain/payments/payments.ts'
import { groupsOf } from '../../ops/groups.ts'
import { paymentContractsOf } from '../mapping/payment-kinds.ts'
import { tokensOf } from '../mapping/scale.ts'
import { type SettledBlocks, settleBlocks } from '../mapping/settle-blocks.ts'
import type { FindCalls } from '../mapping/settlements.ts'
import { attachedLists, toRecord } from '../store/settlement-record.ts'
import { expectedPayments, keptOf, type Mendable, type Piece, type SettledPiece } from './mend.ts'
import { enoughDisputed, type NodeWord } from './node-word.ts'

/** Which stored rows of a piece may be deleted or changed. */
interface Verdict {
  /** Blocks in which the node agrees with the history source about every row that differs. */
  readonly agreed: readonly number[]
  /** Rows that only the history source denies. */
  readonly disputed: number
  /** Rows that are on the chain neither by the history source nor by the node. */
  readonly removed: number
}

interface Judges {
  readonly findCalls: FindCalls
  /** Undefined: the chain has no node, and no row is one's. */
  readonly node: NodeWord | undefined
}

/** Asks the node about each block in which stored rows differ from those of the history source. */
export async function judge(mendable: Mendable, piece: SettledPiece, judges: Judges): Promise<Verdict> {
  const others = await inTransaction(mendable.pool, (db) => othersOf(db, mendable, piece))
  const expected = textsOf(piece)
  const agreed: number[] = []
  let disputed = 0
  let removed = 0
  for (const [height, rows] of byBlock(others)) {
    const said = judges.node ? await nodeTexts(mendable, piece, judges.node, judges.findCalls, height, rows) : expected
    const denied = rows.filter(({ key }) => !said || said.get(key) !== expected.get(key)).length
    disputed += denied
    if (disputed >= enoughDisputed) break
    if (denied > 0) continue
    agreed.push(height)
    removed += rows.filter(({ key }) => !expected.has(key)).length
  }
  return { agreed, disputed, removed }
}

interface Other extends Omit<OtherRow, 'logIndex'> {
  readonly key: string
}

async function othersOf(db: Queryable, { chain, scope }: Mendable, { range, found }: Piece): Promise<Other[]> {
  const { name } = chain
  const kept = await keptOf(db, chain, scope, found)
  const expected = { rows: kept.settlements.map(toRecord), known: scope === 'verified' }
  const rows = [
    ...(await otherSettlements(db, name, range, expected)),
    ...(await otherPayments(db, name, range, expectedPayments(scope, kept))),
    ...(await otherAttached(db, name, range, attachedLists([...found.settlements, ...found.payments]))),
  ]
  const counts = new Map(found.unpaid.map((one) => [unpaidKey(one), one.count]))
  const unpaid = (await readUnpaid(db, name, range)).filter((one) => counts.get(unpaidKey(one)) !== one.count)
  return [
    ...rows.map((row) => ({ ...row, key: rowKey(row) })),
    ...unpaid.map((one) => ({ blockNumber: one.blockNumber, txHash: null, key: unpaidKey(one) })),
  ]
}

/** Rows of a block as texts to compare, from the node's receipts. Undefined: it knows another block. */
async function nodeTexts(
  { chain }: Mendable,
  { hashes, found }: SettledPiece,
  node: NodeWord,
  findCalls: FindCalls,
  height: number,
  stored: readonly Other[],
): Promise<Map<string, string> | undefined> {
  const given = [...found.settlements, ...found.payments].filter(({ blockNumber }) => blockNumber === height)
  const transactions = new Set([...stored, ...given].flatMap(({ txHash }) => txHash ?? []))
  const block = await node.blockAt({ height, hash: hashes.get(height), transactions })
  if (!block) return undefined
  const contracts = paymentContractsOf(chain.paymentContracts)
  return textsOf({ found: await settleBlocks(chain.name, tokensOf(chain), [block], findCalls, contracts) })
}

function textsOf({ found }: { readonly found: SettledBlocks }): Map<string, string> {
  return new Map([
    ...[...found.settlements, ...found.payments].map((row) => [rowKey(row), textOf(row)] as const),
    ...found.unpaid.map((one) => [unpaidKey(one), String(one.count)] as const),
  ])
}

const rowKey = ({ blockNumber, logIndex }: Pick<OtherRow, 'blockNumber' | 'logIndex'>) => `${blockNumber}-${logIndex}`
const unpaidKey = ({ blockNumber, token }: { readonly blockNumber: number; readonly token: string }) =>
  `${blockNumber} ${token}`

/** Rows by the block that they name. */
export const byBlock = <T extends { readonly blockNumber: number }>(rows: readonly T[]) =>
  groupsOf(rows, ({ blockNumber }) => blockNumber)

/** What an event or row says, as a text to compare. */
export const textOf = (row: object) =>
  JSON.stringify(row, (_, value) => (typeof value === 'bigint' ? String(value) : value))
