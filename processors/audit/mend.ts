import type pg from 'pg'
import type { ChainSettings } from '../../chains.file.ts'
import { inTransaction, type Queryable } from '../../db/pool.ts'
import { deleteOthers, readUnpaid } from '../../db/queries/chain/audit.ts'
import { deleteUnpaidWithin, insertUnpaid } from '../../db/queries/chain/backfill.ts'
import { addSettlements } from '../../db/queries/chain/recipient-settlements.ts'
import { type BlockRange, lockRollup, recountRecipients } from '../../db/queries/rollup/hourly.ts'
import type { History } from '../history/history.ts'
import { type settleBlocks as Settle, settleBlocks, type UnpaidCount } from '../mapping/settle-blocks.ts'
import type { FindCalls } from '../mapping/settlements.ts'
import { withoutBackfilled } from '../reserved.ts'
import { ofReadRecipients } from '../scope/recipients.ts'
import type { Scope } from '../scope/scope.ts'
import { toRecord } from '../store/settlement-record.ts'
import { readBlocks } from './range-blocks.ts'

/** Rows that differed and are right now. */
export interface Mended {
  readonly missing: number
  readonly surplus: number
  readonly changed: number
  readonly unpaid: number
}

type Settled = Awaited<ReturnType<typeof Settle>>

/** Recipients that are counted anew by one statement. */
const recipientsPerRecount = 100

/** The settlements of a short range of final blocks, as a source has them. */
export async function readSettled(
  history: History,
  { name, tokens }: ChainSettings,
  range: BlockRange,
  findCalls: FindCalls,
  warn: (text: string) => void,
): Promise<Settled> {
  const settled: Settled = { settlements: [], unpaid: [] }
  const wanted = new Set(tokens.map(({ address }) => address))
  await readBlocks(history, range, warn, async (block) => {
    const { settlements, unpaid } = await settleBlocks(name, wanted, [block], findCalls)
    settled.settlements.push(...settlements)
    settled.unpaid.push(...unpaid)
  })
  return settled
}

/** What of it the processor keeps: no backfill loads it, and it pays whom the scope is about. */
export async function keptOf(db: Queryable, chain: ChainSettings, scope: Scope, found: Settled): Promise<Settled> {
  const { settlements, unpaid } = await withoutBackfilled(db, chain, found)
  return { settlements: scope === 'all' ? settlements : [...(await ofReadRecipients(db, chain, settlements))], unpaid }
}

/** Makes the rows of a range those of the source, and the sums of their recipients with them. */
export function mendRange(
  pool: pg.Pool,
  chain: ChainSettings,
  scope: Scope,
  range: BlockRange,
  found: Settled,
): Promise<Mended> {
  const { name } = chain
  return inTransaction(pool, async (db) => {
    const { settlements, unpaid } = await keptOf(db, chain, scope, found)
    const rows = settlements.map(toRecord)
    await lockRollup(db, name)
    const deleted = await deleteOthers(db, name, range, { rows, known: scope === 'verified' })
    const added = await addSettlements(db, name, rows)
    const touched = new Map(
      [...deleted.map(({ recipient }) => recipient), ...added].map((one) => [one.toString('hex'), one]),
    )
    const recipients = [...touched.values()]
    for (let at = 0; at < recipients.length; at += recipientsPerRecount) {
      await recountRecipients(db, name, recipients.slice(at, at + recipientsPerRecount))
    }
    const keys = new Set(rows.map(({ blockNumber, logIndex }) => `${blockNumber}-${logIndex}`))
    const changed = deleted.filter(({ key }) => keys.has(key)).length
    const wrong = differingUnpaid(unpaid, await readUnpaid(db, name, range))
    if (wrong > 0) {
      await deleteUnpaidWithin(db, name, range)
      await insertUnpaid(db, name, unpaid)
    }
    return { missing: added.length - changed, surplus: deleted.length - changed, changed, unpaid: wrong }
  })
}

/** In how many blocks and tokens two counts differ. */
export function differingUnpaid(a: readonly UnpaidCount[], b: readonly UnpaidCount[]): number {
  const texts = (counts: readonly UnpaidCount[]) =>
    new Map(counts.map(({ blockNumber, token, count }) => [`${blockNumber} ${token}`, count]))
  const left = texts(a)
  const right = texts(b)
  return [...new Set([...left.keys(), ...right.keys()])].filter((key) => left.get(key) !== right.get(key)).length
}
