import fc from 'fast-check'
import { expect, test } from 'vitest'
import { writeContracts } from '../../../../db/queries/chain/contracts.ts'
import { agentIncome } from '../../../../db/queries/income/agent-income.ts'
import { rollUpSettlements } from '../../../../enrichment/periodic/rollup.ts'
import { runIncome } from '../../../derive/passes.ts'
import { testDatabase } from '../../../support/database.ts'
import { rounds } from '../../../support/rounds.ts'
import { addressOf, birth, hashOf, insert, seedAgent, seedChainState, seedPayment } from '../../../support/seed.ts'

const database = testDatabase()
const chains = ['base', 'celo'] as const
const payers = ['one', 'two', 'three'].map((name) => addressOf(`payer ${name}`))
/** Addresses by agent; an address of both is income of both. */
const agents: Readonly<Record<number, readonly string[]>> = {
  1: [addressOf('seller'), addressOf('other seller')],
  2: [addressOf('shop'), addressOf('other seller')],
}
const payees = [...new Set(Object.values(agents).flat()), addressOf('nobody')]

const hourMs = 3_600_000
const at = (length: number) => fc.integer({ min: 0, max: length - 1 })
/** Hashes that payments of an escrow have, and their refunds; the last is of one in a token that is not counted. */
const subjects = ['a', 'b', 'c', 'd', 'e'].map((name) => hashOf(`payment ${name}`))

const tokenOf = (subject: number) => addressOf(subject === subjects.length - 1 ? 'token of nobody' : 'token')

/** As many refunds as payments, mostly of what was paid. */
const row = fc.record({
  isRefund: fc.boolean(),
  chain: fc.constantFrom(...chains),
  block: fc.integer({ min: 0, max: 299 }),
  payer: at(payers.length),
  subject: at(subjects.length),
  amount: fc.bigInt({ min: 1n, max: 5_000_000n }),
  /** What is kept of a payment, in percent; who paid gets all of it back. */
  fee: fc.constantFrom(0n, 0n, 2n, 50n, 100n),
  /** Whether it is loaded after the others were summed up. */
  isLate: fc.boolean(),
})
type Row = typeof row extends fc.Arbitrary<infer T> ? T & { readonly place: number; readonly payee: number } : never

const hourOf = ({ block }: Row) => Math.floor((+birth + block * 60_000) / hourMs)
const netOf = ({ amount, fee }: Row) => amount - (amount * fee) / 100n
const isOfOnePayment = (one: Row, other: Row) => one.chain === other.chain && one.subject === other.subject
const isBefore = (one: Pick<Row, 'block' | 'place'>, other: Pick<Row, 'block' | 'place'>) =>
  one.block < other.block || (one.block === other.block && one.place < other.place)

const least = (one: bigint, other: bigint) => (one < other ? one : other)

/** Rows of the first payment that bring nothing, in one block: voids of what was authorized. */
const crowd = fc.record({
  block: fc.integer({ min: 0, max: 299 }),
  size: fc.integer({ min: 20, max: 99 }),
  isLate: fc.boolean(),
})
type Crowd = typeof crowd extends fc.Arbitrary<infer T> ? T : never
/** Log index of the first of a crowd, behind all other rows of its block. */
const crowdPlace = 1_000

/** What the rows come to for each agent, by the rule: a refund takes off what is left of its payment before it. */
function counted(rows: readonly Row[]) {
  return Object.entries(agents).flatMap(([fid, addresses]) => {
    const own = rows.filter(({ payee }) => addresses.includes(payees[payee] as string))
    const amountOf = (one: Row) => {
      if (!one.isRefund) return netOf(one)
      const left = own
        .filter((other) => isOfOnePayment(one, other) && isBefore(other, one))
        .toSorted((a, b) => (isBefore(a, b) ? -1 : 1))
        .reduce((sum, other) => (other.isRefund ? sum - least(other.amount, sum) : sum + netOf(other)), 0n)
      return -least(one.amount, left)
    }
    return own.map((one) => ({ ...one, fid, dollars: one.subject === subjects.length - 1 ? 0n : amountOf(one) }))
  })
}

async function storeCrowds(crowds: readonly Crowd[], late: boolean) {
  for (const [number, { block, size, isLate }] of crowds.entries()) {
    if (isLate !== late) continue
    await database.pool.query(
      `insert into payment (id, chain, block_number, log_index, block_timestamp, kind, token, payer, payee, gross, net,
                            facilitator, tx_hash, subject)
       select 'crowd-' || $1::int || '-' || n, 'base', $2, ${crowdPlace} + 100 * $1 + n, $3, 'escrow_return', $4, $5, $6, 1, 0, $5,
              $4, $7
         from generate_series(1, $8::int) n`,
      [
        number,
        block,
        new Date(+birth + block * 60_000),
        ...[addressOf('token'), payers[0], payees[0], subjects[0]].map((hex) =>
          Buffer.from(String(hex).slice(2), 'hex'),
        ),
        size,
      ],
    )
  }
}

/** Sums by a key, without those of nothing. */
function sums<T>(rows: readonly T[], key: (row: T) => string | number, dollars: (row: T) => bigint) {
  const sum = new Map<string, bigint>()
  for (const one of rows) sum.set(`${key(one)}`, (sum.get(`${key(one)}`) ?? 0n) + dollars(one))
  return Object.fromEntries([...sum].filter(([, amount]) => amount !== 0n))
}

async function settle() {
  while ((await rollUpSettlements({ pool: database.pool })) > 0);
  const steps = { changes: 100, rings: 50, hours: 500, payments: 50_000, parts: 3 }
  while ((await runIncome({ pool: database.pool, steps })) > 0);
}

async function store(rows: readonly Row[]) {
  for (const one of rows) {
    const { isRefund, chain, block, place, payer, payee, subject, amount } = one
    await seedPayment(database.pool, {
      chain,
      kind: isRefund ? 'escrow_refund' : 'escrow_charge',
      payer: payers[payer] as string,
      payee: payees[payee] as string,
      token: tokenOf(subject),
      subject: subjects[subject] as string,
      block,
      logIndex: place,
      amount: isRefund ? -amount : amount,
      net: isRefund ? -amount : netOf(one),
      at: new Date(+birth + block * 60_000),
    })
  }
}

/** Stored sums of a table by one of its columns, or by an expression. */
async function storedBy(table: string, key: string) {
  const { rows } = await database.pool.query<{ key: string; amount: string }>(
    `select (${key})::text as key, amount::text as amount from ${table}`,
  )
  return sums(
    rows,
    (one) => one.key,
    ({ amount }) => BigInt(amount),
  )
}

/** The agents' income by kind, as their answers tell it. */
async function toldByKind() {
  const kinds: { kind: string; raw: { amount_usdc: number } }[] = []
  for (const fid of Object.keys(agents)) {
    const { members } = await agentIncome(database.pool, Number(fid))
    kinds.push(...JSON.parse(members.by_kind ?? '[]'))
  }
  return sums(
    kinds,
    ({ kind }) => kind,
    ({ raw }) => BigInt(Math.round(raw.amount_usdc * 1e6)),
  )
}

test('sums by kind, hour, agent and chain are those of the payments and refunds, in whatever order they came', {
  tags: ['rounds'],
}, async () => {
  const { pool } = database
  for (const chain of chains) {
    await seedChainState(pool, { chain, indexed: 1_000, finalized: 900 })
    await writeContracts(pool, chain, [{ address: addressOf('token'), fromBlock: 0 }])
  }
  for (const [fid, addresses] of Object.entries(agents)) {
    await seedAgent(pool, { fid: Number(fid), addresses: [...addresses] })
    await insert(pool, 'agent_change', { fid: Number(fid), kind: 'upsert', changed_at: birth })
  }
  await settle()
  await fc.assert(
    fc.asyncProperty(
      fc.array(row, { minLength: 20, maxLength: 60 }),
      fc.array(crowd, { maxLength: 3 }),
      // Whom a payment pays is among the terms that its hash is of.
      fc.array(at(payees.length), { minLength: subjects.length, maxLength: subjects.length }),
      async (drawn, crowds, paid) => {
        await pool.query('delete from payment')
        await settle()
        const rows = drawn.map((one, place) => ({ ...one, place, payee: paid[one.subject] as number }))
        for (const isLate of [false, true]) {
          await storeCrowds(crowds, isLate)
          await store(rows.filter((one) => one.isLate === isLate))
          await settle()
        }
        const expected = counted(rows)
        const by = (key: (one: (typeof expected)[number]) => string | number) =>
          sums(expected, key, ({ dollars }) => dollars)
        const kindOf = ({ isRefund }: Row) => (isRefund ? 'escrow_refund' : 'escrow_charge')
        expect(await toldByKind()).toEqual(by(kindOf))
        expect(await storedBy('income_hour', 'kind')).toEqual(by(kindOf))
        expect(await storedBy('income_total', 'kind')).toEqual(by(kindOf))
        expect(await storedBy('income_hour', 'floor(extract(epoch from hour) / 3600)')).toEqual(by(hourOf))
        expect(await storedBy('income_agent', 'fid')).toEqual(by(({ fid }) => fid))
        expect(await storedBy('income_agent', 'chain')).toEqual(by(({ chain }) => chain))
        expect(await storedBy('income_total', 'chain')).toEqual(by(({ chain }) => chain))
      },
    ),
    { numRuns: rounds(5, 40), endOnFailure: true },
  )
})
