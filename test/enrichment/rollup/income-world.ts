import type pg from 'pg'
import { maxBlock } from '../../../db/block-range.ts'
import { inTransaction, type Queryable } from '../../../db/pool.ts'
import { deleteWithin } from '../../../db/queries/chain/block-rows.ts'
import { deleteNewestSettlements } from '../../../db/queries/chain/reset.ts'
import { lockRollup, rewindRollup, subtractFromRollup } from '../../../db/queries/rollup/cursor.ts'
import { storeSenders } from '../../../db/queries/sources/facilitators.ts'
import { rollUpSettlements } from '../../../enrichment/periodic/rollup.ts'
import { runIncome } from '../../derive/passes.ts'
import { addressOf, hashOf, insert, seedHolding, seedWallet } from '../../support/seed.ts'
import { payerFlags, ringPayers } from './flag-oracle.ts'
import {
  bytes,
  fids,
  lastBlock,
  type OtherRow,
  type Paid,
  type Passed,
  people,
  senders,
  store,
  storeOthers,
  timeOf,
} from './income-rows.ts'
import type { Step } from './income-steps.ts'

/** That somebody is an operator, or the wallet, from a block on, or is not. */
interface Word {
  readonly who: number
  readonly block: number
  readonly approved: boolean
}
/** Address of an agent that holds its registration, and neither pays nor is paid. */
const ownerOf = (fid: number) => addressOf(`owner ${fid}`)

/** Applies steps to the tables, and computes each agent's expected income by the rule, from the single payments. */
export class World {
  readonly #pool: pg.Pool
  readonly payments = new Map<string, Paid>()
  others: OtherRow[] = []
  #transactions = 0
  readonly verified = new Map<number, readonly number[]>(fids.map((fid) => [fid, []]))
  readonly ever = new Map<number, Set<number>>(fids.map((fid) => [fid, new Set()]))
  /** What the owner of an agent's registration said of operators, and of wallets, in the order of the words. */
  readonly #operators = new Map<number, Word[]>(fids.map((fid) => [fid, []]))
  readonly #wallets = new Map<number, Word[]>(fids.map((fid) => [fid, []]))
  named: readonly number[] = []
  final = -1

  constructor(pool: pg.Pool) {
    this.#pool = pool
  }

  async take(step: Step): Promise<void> {
    const pool = this.#pool
    switch (step.kind) {
      case 'pay': {
        const above = step.rows.map((row) => ({ ...row, block: this.final + 1 + (row.block % 40) }))
        const rows = above.filter(
          ({ block, logIndex }) => block > this.final && !this.payments.has(`${block} ${logIndex}`),
        )
        const fresh = [...new Map(rows.map((row) => [`${row.block} ${row.logIndex}`, row])).entries()]
        for (const [key, row] of fresh) this.payments.set(key, row)
        await store(
          pool,
          fresh.map(([, row]) => row),
        )
        return
      }
      case 'pass on': {
        const above = step.rows.map((row) => ({ ...row, block: this.final + 1 + (row.block % 40) }))
        await this.#passOn(above)
        return
      }
      case 'find': {
        // Payments that an audit finds in final blocks; it adds no settlements here.
        const known = step.rows.filter(({ origin }) => origin !== 'settlement' && this.final >= 0)
        const rows = known.map((row) => ({ ...row, block: row.block % (this.final + 1) }))
        await inTransaction(pool, async (db) => {
          await lockRollup(db, 'base')
          await this.#passOn(rows, db)
        })
        return
      }
      case 'refund': {
        // Of what is less than a millionth, less goes back, which is in no sum.
        const charges = this.others.filter(
          ({ kind, block, amount }) => kind === 'escrow_charge' && amount > 0 && block + step.after <= lastBlock,
        )
        const charge = charges[step.which % charges.length]
        const from = charge ?? step.stranger
        if (!from) return
        const { payer, isDollar } = step.stranger ?? from
        const recipient = charge?.recipient ?? 0
        const row: OtherRow = {
          block: from.block + step.after,
          logIndex: 10 * ++this.#transactions,
          origin: 'escrow_refund',
          kind: 'escrow_refund',
          isDollar,
          sender: from.sender,
          payer,
          recipient,
          amount: -step.amount,
          through: [],
          originLogIndex: null,
          // Of a stranger: of a payment that nobody made.
          subject: step.stranger ? -1 : (charge?.subject ?? -1),
        }
        await inTransaction(pool, async (db) => {
          await lockRollup(db, 'base')
          await storeOthers(db, [row])
        })
        this.others.push(row)
        return
      }
      case 'drop': {
        const found = this.others.filter(({ block, origin }) => block <= this.final && origin !== 'settlement')
        const { block, logIndex, originLogIndex } = found[step.which % found.length] ?? {}
        if (block === undefined) return
        const first = originLogIndex ?? logIndex
        const isGone = (row: OtherRow) => row.block === block && (row.originLogIndex ?? row.logIndex) === first
        this.others = this.others.filter((row) => !isGone(row))
        await inTransaction(pool, async (db) => {
          await lockRollup(db, 'base')
          const where = 'block_number = $1 and coalesce(origin_log_index, log_index) = $2'
          await db.query(`delete from payment where ${where}`, [block, first])
        })
        return
      }
      case 'roll up':
        this.final += step.blocks
        await pool.query('update chain_state set finalized_block = $1', [this.final])
        while ((await rollUpSettlements({ pool, stepSettlements: 5 })) > 0);
        return
      case 'sum':
        await runIncome({ pool, steps: { changes: 1, rings: 1, hours: 2, payments: 3 } })
        return
      case 'verify': {
        this.verified.set(step.fid, step.now)
        for (const one of step.now) this.ever.get(step.fid)?.add(one)
        const addresses = [...step.now.map((one) => people[one] as string), ownerOf(step.fid)].map(bytes)
        await pool.query('update agent set verified_addresses = $2 where fid = $1', [step.fid, addresses])
        await pool.query(
          'update verified_address set ended_at = verified_at where fid = $1 and ended_at is null and not address = any ($2)',
          [step.fid, addresses],
        )
        await pool.query(
          `insert into verified_address (fid, address, verified_at)
           select $1, address, clock_timestamp() from unnest($2::bytea[]) address
            where not exists (select from verified_address v where v.fid = $1 and v.address = address.address and v.ended_at is null)`,
          [step.fid, addresses],
        )
        await insert(pool, 'agent_change', { fid: step.fid, kind: 'upsert', changed_at: new Date() })
        return
      }
      case 'operate': {
        const { fid, who, block, approved } = step
        await insert(pool, 'registration_operator', {
          ...wordAt(block, ++this.#transactions),
          owner: bytes(ownerOf(fid)),
          operator: bytes(people[who] as string),
          approved,
        })
        this.#operators.get(fid)?.push({ who, block, approved })
        return
      }
      case 'wallet': {
        const { fid, who, block } = step
        const words = this.#wallets.get(fid) as Word[]
        if (words.some((word) => word.block === block)) return
        if (words.length === 0) {
          await seedHolding(pool, { fid, chain: 'base', id: fid, by: ownerOf(fid), block: -1, at: timeOf(0) })
        }
        words.push({ who, block, approved: true })
        await seedWallet(pool, { id: fid, wallet: people[who] as string, block, logIndex: fid, at: timeOf(block) })
        return
      }
      case 'name':
        this.named = step.names
        await storeSenders(
          pool,
          'test',
          step.names.map((one) => ({ address: senders[one] as string, name: 'Somebody' })),
        )
        return
      case 'take back': {
        const from = Math.max(0, this.final + 1 - step.blocks)
        for (const [key, { block }] of this.payments) if (block >= from) this.payments.delete(key)
        this.others = this.others.filter(({ block }) => block < from)
        await inTransaction(pool, async (db) => {
          await lockRollup(db, 'base')
          const above = { fromBlock: from, toBlock: maxBlock }
          await subtractFromRollup(db, 'base', await deleteNewestSettlements(db, 'base', above, 1_000))
          await deleteWithin(db, 'base', above, ['payment'])
          await rewindRollup(db, 'base', from)
        })
        this.final = from - 1
        await pool.query('update chain_state set finalized_block = $1', [this.final])
      }
    }
  }

  /** Stores payments that each hand forwards in full; what comes back to the payer is change, and no payment. */
  async #passOn(rows: readonly Passed[], db: Queryable = this.#pool): Promise<void> {
    for (const { hands, payer, amount, ...shared } of rows) {
      const { block, origin, sender } = shared
      const first = 10 * ++this.#transactions
      const path = hands.filter((hand, at) => at === 0 || hand !== payer)
      const steps = path.map((recipient, at) => ({
        ...shared,
        logIndex: first + at,
        kind: at === 0 ? origin : 'forwarded',
        isDollar: origin === 'settlement' || shared.isDollar,
        payer,
        recipient,
        amount,
        through: path.slice(0, at),
        originLogIndex: at === 0 ? null : first,
        ...(at === 0 && origin === 'escrow_charge' ? { subject: first } : {}),
      }))
      if (origin === 'settlement') {
        const row = { block, logIndex: first, payer, recipient: path[0] as number, sender, selector: 0, amount }
        this.payments.set(`${block} ${first}`, row)
        await store(this.#pool, [row])
      }
      const others = origin === 'settlement' ? steps.slice(1) : steps
      this.others.push(...others)
      await storeOthers(db, others)
    }
  }

  /** Whether somebody is or was the agent's own in a block: verified ever, a wallet before, or an operator then. */
  isOwn(fid: number, who: number, block: number): boolean {
    const operator = this.#operators
      .get(fid)
      ?.filter((word) => word.who === who && word.block <= block)
      .reduce<Word | undefined>((last, word) => (last && last.block > word.block ? last : word), undefined)
    const wasWallet = this.#wallets.get(fid)?.some((word) => word.who === who && word.block <= block)
    return this.ever.get(fid)?.has(who) === true || wasWallet === true || operator?.approved === true
  }

  /** Whether the payer of a payment is the agent's own: of a refund, as of what was charged. */
  #isByOwn(fid: number, { payer, block, subject }: Pick<OtherRow, 'payer' | 'block' | 'subject'>): boolean {
    const charged = this.others.filter((one) => subject !== undefined && one.subject === subject && one.amount > 0)
    return this.isOwn(fid, payer, Math.min(block, ...charged.map((one) => one.block)))
  }

  /** For each person, the payers whose payments to it are part of a ring. */
  #rings(): string[][] {
    const total = new Map<string, bigint>()
    // Settlements are sums of their own: what goes back of other payments takes nothing off them.
    for (const { block, payer, recipient, amount, ...rest } of this.#dollars()) {
      const key = `${payer} ${recipient} ${'selector' in rest}`
      if (block <= this.final) total.set(key, (total.get(key) ?? 0n) + BigInt(amount))
    }
    const edges = [...total].map(([key, amount]) => {
      const [payer, recipient] = key.split(' ') as [string, string]
      return { payer, recipient, amount }
    })
    return people.map((_, one) => ringPayers(`${one}`, edges))
  }

  /** All payments in dollars, settlements and others, and what went back of these. */
  #dollars() {
    return [...this.payments.values(), ...this.others.filter((row) => row.isDollar && this.#isFunded(row))]
  }

  /** Whether it is known whose money a row moved: what goes back before anything was charged is nobody's. */
  #isFunded({ amount, subject, block, logIndex }: OtherRow): boolean {
    const isBefore = (one: OtherRow) => one.block < block || (one.block === block && one.logIndex < logIndex)
    return amount >= 0 || this.others.some((one) => one.subject === subject && one.amount >= 0 && isBefore(one))
  }

  /** Final payments to an agent's addresses that did not pass through one of them before. */
  #paid(fid: number) {
    const settled = [...this.payments.values()].map((row) => ({
      ...row,
      kind: row.selector < 2 ? 'eip3009_vrs' : 'eip3009_bytes',
      origin: 'settlement',
      isDollar: true,
      through: [] as readonly number[],
    }))
    const isIts = (one: number) => this.verified.get(fid)?.includes(one) === true
    const others = this.others
      .map((row) => (row.amount >= 0 ? row : { ...row, amount: -Math.min(-row.amount, this.#leftBefore(row)) }))
      .filter(({ amount }) => !Object.is(amount, -0))
    return [...settled, ...others].filter(
      ({ block, recipient, through }) => block <= this.final && isIts(recipient) && !through.some(isIts),
    )
  }

  /** What is left, before a row, of what its subject brought. */
  #leftBefore({ subject, block, logIndex }: OtherRow): number {
    const earlier = this.others.filter(
      (one) => one.subject === subject && (one.block < block || (one.block === block && one.logIndex < logIndex)),
    )
    const inOrder = earlier.toSorted((a, b) => a.block - b.block || a.logIndex - b.logIndex)
    return inOrder.reduce((left, { amount }) => Math.max(0, left + amount), 0)
  }

  /** Expected flags on an agent's payers. */
  flags(fid: number) {
    const paid = this.received(fid)
      .filter(isCounted)
      .map((one) => ({
        ...one,
        other: one.payer,
        at: timeOf(one.block).getTime(),
        amount: one.isDollar ? BigInt(one.amount) : 0n,
      }))
    const isIts = (payer: number) =>
      this.verified.get(fid)?.includes(payer) || this.#wallets.get(fid)?.some(({ who }) => who === payer)
    const given = upToNothing(this.#dollars().filter(({ block, payer }) => block <= this.final && isIts(payer))).map(
      ({ block, recipient, amount }) => ({
        other: recipient,
        at: timeOf(block).getTime(),
        amount: BigInt(amount),
      }),
    )
    return payerFlags(paid, given)
  }

  /** Final payments to an agent, with whether each goes round, and whether it is by the agent itself. */
  received(fid: number) {
    const rings = this.#rings()
    return this.#paid(fid).map((one) => ({
      ...one,
      isRing: rings[one.recipient]?.includes(`${one.payer}`) === true,
      isOwn: this.#isByOwn(fid, one),
    }))
  }

  income(): string[] {
    const rings = this.#rings()
    const sums = new Map<string, [number, bigint, number, bigint, number]>()
    for (const fid of fids) {
      for (const payment of this.#paid(fid).filter(isCounted)) {
        const isOwn = this.#isByOwn(fid, payment)
        const other = rings[payment.recipient]?.includes(`${payment.payer}`) ? 'ring' : 'none'
        const flag = payment.payer === payment.recipient ? 'self' : isOwn ? 'same_owner' : other
        const hour = new Date(Math.floor(timeOf(payment.block).getTime() / 3_600_000) * 3_600_000).toISOString()
        const isX402 = x402Origins.includes(payment.origin) || this.named.includes(payment.sender)
        const isPassedOn = payment.through.some((one) => fids.some((other) => this.verified.get(other)?.includes(one)))
        const key = [fid, hour, people[payment.recipient], payment.kind, flag, isX402, isPassedOn].join(' ')
        const sum = sums.get(key) ?? [0, 0n, 0, 0n, 0]
        const amount = payment.isDollar ? BigInt(payment.amount) : 0n
        const dust = payment.isDollar && amount >= 0n && amount < 1_000n
        sums.set(key, [
          sum[0] + Number(payment.amount >= 0),
          sum[1] + amount,
          sum[2] + Number(dust),
          sum[3] + (dust ? amount : 0n),
          sum[4] + Number(!payment.isDollar),
        ])
      }
    }
    return [...sums].map(([key, sum]) => `${key}: ${sum.join(' ')}`).sort()
  }
}

/** Of each pair no more goes back than it paid by other means than settlements: what goes back of these takes nothing off them. */
function upToNothing<T extends { payer: number; recipient: number; amount: number }>(rows: readonly T[]): T[] {
  const pairOf = ({ payer, recipient }: T) => `${payer} ${recipient}`
  const left = new Map<string, number>()
  for (const row of rows)
    if (!('selector' in row) && row.amount > 0) left.set(pairOf(row), (left.get(pairOf(row)) ?? 0) + row.amount)
  return rows.flatMap((row) => {
    if (row.amount >= 0) return row
    const taken = Math.min(-row.amount, left.get(pairOf(row)) ?? 0)
    left.set(pairOf(row), (left.get(pairOf(row)) ?? 0) - taken)
    return taken > 0 ? { ...row, amount: -taken } : []
  })
}

const wordAt = (block: number, logIndex: number) => ({
  id: `base-${block}-word-${logIndex}`,
  chain: 'base',
  block_number: block,
  log_index: logIndex,
  block_timestamp: timeOf(block),
  tx_hash: bytes(hashOf(`word ${logIndex}`)),
})

const x402Origins = ['permit2_exact', 'permit2_upto', 'batch_claim']
/** What goes back in another token than dollars is nothing: no payment, and no amount. */
const isCounted = ({ amount, isDollar }: { amount: number; isDollar: boolean }) => amount >= 0 || isDollar
