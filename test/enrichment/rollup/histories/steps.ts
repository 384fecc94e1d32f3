import fc from 'fast-check'
import { maxBlock } from '../../../../db/block-range.ts'
import { inTransaction } from '../../../../db/pool.ts'
import { deleteArchive, recordArchive, storeArchiveSums } from '../../../../db/queries/chain/archive.ts'
import { deleteNewestSettlements } from '../../../../db/queries/chain/reset.ts'
import { addMovedToRollup, lockRollup, rewindRollup, subtractFromRollup } from '../../../../db/queries/rollup/cursor.ts'
import { type MovedSettlement, movedColumns } from '../../../../db/queries/rollup/sums.ts'
import { rollUpSettlements } from '../../../../enrichment/periodic/rollup.ts'
import type { TestDatabase } from '../../../support/database.ts'
import { insert } from '../../../support/seed.ts'
import {
  type ChainName,
  chainNames,
  finalize,
  keepArchived,
  lastBlock,
  type Paid,
  payers,
  recipients,
  store,
  timeOf,
} from '../world.ts'

// Random histories of chains: what their writers do to settlements and sums, in any order.

/** Most rounds of a history. */
const longest = 8
/** Blocks that a chain grows by from one round to the next, on average. */
const roundBlocks = 200

/** Base is drawn more often, because only Base has backfills here. */
const chain = fc.constantFrom<ChainName>('base', ...chainNames)
const block = fc.integer({ min: 0, max: lastBlock })
const blocks = fc.integer({ min: 1, max: 2 * roundBlocks })
const recipient = fc.integer({ min: 0, max: recipients.length - 1 })
const rows = fc.array(
  fc.record({
    chain,
    block,
    logIndex: fc.integer({ min: 0, max: 3 }),
    recipient,
    payer: fc.integer({ min: 0, max: payers.length - 1 }),
    selector: fc.integer({ min: 0, max: 3 }),
    amount: fc.oneof(fc.constant(0n), fc.bigInt({ min: 0n, max: 2n ** 62n })),
  }),
  { minLength: 3, maxLength: 25 },
)
/** Steps that change the tables, with their random parts; the world skips a step that is impossible in its state. */
export const kinds = {
  pay: { rows },
  finalize: { chain, blocks },
  'roll up': { settlements: fc.integer({ min: 1, max: 30 }) },
  claim: { from: block, blocks },
  load: { rows, blocks },
  complete: {},
  'arrive late': { recipient, rows },
  mend: { rows, chain, blocks },
  archive: { blocks },
  restore: {},
  'take back': { chain, blocks },
}
export type Kind = keyof typeof kinds
export type Step = {
  kind: Kind
  rows: Paid[]
  chain: ChainName
  settlements: number
  from: number
  blocks: number
  recipient: number
}
const stepOf = (kind: Kind) => fc.record({ kind: fc.constant(kind), ...kinds[kind] }) as fc.Arbitrary<Step>
/** Claims of ranges by backfills at the start, when no settlement stands in their way. */
export const claims = fc.array(stepOf('claim'), { minLength: 1, maxLength: 3 })
/** One round: mostly payments, finality and a step of the roll-up, then one other step. */
const round = fc
  .tuple(
    fc.option(stepOf('pay')),
    fc.option(stepOf('finalize')),
    fc.option(stepOf('roll up')),
    fc.oneof(
      ...(
        [
          'load',
          'load',
          'complete',
          'complete',
          'arrive late',
          'mend',
          'mend',
          'archive',
          'restore',
          'take back',
          'claim',
        ] as const
      ).map(stepOf),
    ),
  )
  .map((all) => all.filter((step) => step !== null))
export const steps = fc.array(round, { minLength: longest / 2, maxLength: longest }).map((all) => all.flat())

const dayOf = (block: number) => timeOf(block).toISOString().slice(0, 10)

/** A backfill's part, `first` to `last`; blocks below `next` are loaded. */
interface Shard {
  readonly first: number
  readonly last: number
  next: number
}

/** Changes the tables as their writers do; holds each chain's final block and the ranges of backfills of Base. */
export class World {
  readonly database: TestDatabase
  constructor(database: TestDatabase) {
    this.database = database
  }

  readonly final: Record<ChainName, number> = { base: -1, celo: -1 }
  claims: { id: number; from: number; to: number; complete: boolean; shards: Shard[] }[] = []
  /** The last archived block of Base, and the end of its day: nothing up to there changes. */
  archived: { to: number; sealed: number } | undefined

  isClaimed({ chain, block }: Paid): boolean {
    return chain === 'base' && this.claims.some(({ from, to }) => block >= from && block <= to)
  }
  isLoading(row: Paid): boolean {
    return (
      this.isClaimed(row) &&
      !this.claims.some(({ from, to, complete }) => complete && row.block >= from && row.block <= to)
    )
  }

  /** Takes a step; false when it changed nothing. */
  async take({ kind, rows, chain, settlements, from, blocks, recipient }: Step): Promise<boolean> {
    const { pool } = this.database
    const open = this.claims.find(({ complete }) => !complete)
    switch (kind) {
      case 'pay': {
        // A processor adds hot blocks.
        const hot = rows.map((row) => ({ ...row, block: this.final[row.chain] + 1 + (row.block % (2 * roundBlocks)) }))
        const added = await store(
          pool,
          hot.filter((row) => !this.isClaimed(row)),
        )
        return added.length > 0
      }
      case 'finalize':
        this.final[chain] += blocks
        await finalize(this.database, chain, this.final[chain])
        return true
      case 'roll up':
        return (await rollUpSettlements({ pool, stepSettlements: settlements })) > 0
      case 'claim': {
        const to = from + blocks - 1
        if (from <= this.sealed('base')) return false
        const { rows: claimed } = await pool.query(
          `insert into backfill (chain, from_block, to_block)
           select 'base', $1, $2
            where not exists (select from settlement where chain = 'base' and block_number between $1 and $2)
               on conflict do nothing returning id`,
          [from, to],
        )
        const middle = Math.floor((from + to) / 2)
        const halves = [
          { first: from, last: middle },
          { first: middle + 1, last: to },
        ]
        const shards = halves.filter(({ first, last }) => first <= last).map((half) => ({ ...half, next: half.first }))
        for (const { id } of claimed) {
          this.claims.push({ id, from, to, complete: false, shards })
          for (const { first, last } of shards) {
            const blocks = { first_block: first, last_block: last, next_block: first }
            await insert(pool, 'backfill_shard', { backfill_id: id, ...blocks })
          }
        }
        return claimed.length > 0
      }
      case 'load': {
        const waiting = open?.shards.filter(({ next, last }) => next <= last) ?? []
        const shard = waiting[blocks % 2] ?? waiting[0]
        if (!open || !shard) return false
        const first = shard.next
        shard.next = Math.min(first + blocks, shard.last + 1)
        await inTransaction(pool, async (db) => {
          const among = shard.next - first
          await store(
            db,
            rows.map((row) => ({ ...row, chain: 'base' as const, block: first + (row.block % among) })),
          )
          const moved = [open.id, shard.first, shard.next]
          await db.query('update backfill_shard set next_block = $3 where backfill_id = $1 and first_block = $2', moved)
        })
        return true
      }
      case 'complete':
        if (!open) return false
        open.complete = true
        await pool.query('update backfill_shard set next_block = last_block + 1 where backfill_id = $1', [open.id])
        await pool.query('update backfill set completed_at = now() where id = $1', [open.id])
        return true
      case 'arrive late': {
        // The earlier settlements of an address that an account has just verified.
        const late = rows.map((row) => ({ ...row, recipient }))
        const found = await Promise.all(chainNames.map((name) => this.replace(name, [], late)))
        return found.some((one) => one)
      }
      case 'mend': {
        // An audit finds that rows of some blocks are others, or none.
        const last = this.final[chain]
        const range = [chain, Math.max(this.sealed(chain) + 1, last - blocks), last]
        const { rows: found } = await pool.query<{ block: number; index: number }>(
          `select block_number as block, log_index as index from settlement
            where chain = $1 and block_number between $2 and $3 order by payment_nonce limit 4`,
          range,
        )
        const among = (row: Paid) => ({ ...row, block: found[row.block % found.length]?.block ?? row.block })
        return this.replace(chain, found, rows.slice(0, 3).map(among))
      }
      case 'archive': {
        const sealedOf = (to: number) => {
          let sealed = to
          while (dayOf(sealed + 1) === dayOf(to)) sealed++
          return sealed
        }
        const { rows: waiting } = await pool.query<{ first: number }>(
          `select coalesce(min(from_block), 0)::int as first from settlement_unrolled where chain = 'base'`,
        )
        const begun = this.claims.filter(({ complete }) => !complete).map((claim) => claim.from)
        const last = Math.min(this.final.base + 1, waiting[0]?.first ?? 0, ...begun) - 1
        const to = last - 40 - (blocks % 40)
        if (this.archived || to < 0 || sealedOf(to) > last) return false
        this.archived = { to, sealed: sealedOf(to) }
        const range = { fromBlock: 0, toBlock: to }
        await keepArchived(pool)
        await storeArchiveSums(pool, 'base', range)
        await recordArchive(pool, 'base', { name: 'archived', ...range }, this.archived.sealed, [])
        await pool.query(
          `with gone as (delete from settlement where chain = 'base' and block_number <= $1 returning *)
           insert into archived_settlement select * from gone`,
          [to],
        )
        return true
      }
      case 'restore':
        if (!this.archived) return false
        await pool.query('insert into settlement select * from archived_settlement')
        await pool.query('truncate archived_settlement')
        await deleteArchive(pool, 'base', { fromBlock: 0, toBlock: this.archived.to })
        this.archived = undefined
        return true
      case 'take back':
        return this.takeBack(chain, this.final[chain] + 1 - blocks)
    }
  }

  sealed(chain: ChainName): number {
    return chain === 'base' ? (this.archived?.sealed ?? -1) : -1
  }

  /** Deletes some settlements of final blocks of a chain and stores others there, as an audit and the load by recipient do. */
  async replace(chain: ChainName, less: readonly { block: number; index: number }[], more: Paid[]): Promise<boolean> {
    const isMeant = (row: Paid) =>
      row.chain === chain && row.block <= this.final[chain] && row.block > this.sealed(chain) && !this.isLoading(row)
    return inTransaction(this.database.pool, async (db) => {
      await lockRollup(db, chain)
      const { rows: gone } = await db.query<MovedSettlement>(
        `delete from settlement where chain = $1
            and (block_number, log_index) in (select * from unnest($2::int[], $3::int[]))
         returning ${movedColumns}`,
        [chain, less.map(({ block }) => block), less.map(({ index }) => index)],
      )
      const added = await store(db, more.filter(isMeant))
      await subtractFromRollup(db, chain, gone)
      await addMovedToRollup(db, chain, added)
      return gone.length + added.length > 0
    })
  }

  /** Does as the command `reset`: a backfill that the block lies in is cut off there, those above it are deleted. */
  async takeBack(chain: ChainName, block: number): Promise<boolean> {
    const reaching = chain === 'base' ? this.claims.filter(({ to }) => to >= block) : []
    const above = reaching.filter(({ from }) => from >= block)
    const cut = reaching.filter(({ from }) => from < block)
    if (block <= this.sealed(chain) || block < 0 || cut.some(({ complete }) => !complete)) return false
    const ids = above.map(({ id }) => id)
    await inTransaction(this.database.pool, async (db) => {
      await lockRollup(db, chain)
      for (let toBlock = maxBlock; ; ) {
        const gone = await deleteNewestSettlements(db, chain, { fromBlock: block, toBlock }, 3)
        await subtractFromRollup(db, chain, gone)
        if (gone.length < 3) break
        toBlock = Math.min(...gone.map((one) => one.block)) - 1
      }
      await rewindRollup(db, chain, block)
      await db.query('delete from settlement_rollup_backfill where backfill_id = any ($1)', [ids])
      await db.query('delete from backfill where id = any ($1)', [ids])
      await db.query('update backfill set to_block = $2 where id = any ($1)', [cut.map(({ id }) => id), block - 1])
      await db.query('update chain_state set finalized_block = $2 where chain = $1', [chain, block - 1])
    })
    for (const claim of cut) claim.to = block - 1
    this.claims = this.claims.filter((claim) => !above.includes(claim))
    this.final[chain] = block - 1
    return true
  }
}
