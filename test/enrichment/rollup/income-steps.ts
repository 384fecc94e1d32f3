import fc from 'fast-check'
import { fids, lastBlock, type Passed, paidPeople, people, selectors, senders } from './income-rows.ts'

export const person = fc.integer({ min: 0, max: paidPeople - 1 })
const anybody = fc.integer({ min: 0, max: people.length - 1 })
const block = fc.integer({ min: 0, max: lastBlock })
export const paid = fc.record({
  block,
  logIndex: fc.integer({ min: 0, max: 2 }),
  payer: anybody,
  recipient: person,
  sender: fc.integer({ min: 0, max: senders.length - 1 }),
  selector: fc.integer({ min: 0, max: selectors.length - 1 }),
  amount: fc.oneof(fc.constantFrom(0, 999, 1_000), fc.integer({ min: 0, max: 2 ** 31 })),
})
export const passed: fc.Arbitrary<Passed> = fc.record({
  block,
  origin: fc.constantFrom(
    'settlement',
    'permit2_exact',
    'permit2_upto',
    'batch_claim',
    'escrow_charge',
    'escrow_charge',
  ),
  isDollar: fc.boolean(),
  sender: fc.integer({ min: 0, max: senders.length - 1 }),
  payer: anybody,
  hands: fc.uniqueArray(person, { minLength: 1, maxLength: 4 }),
  amount: fc.oneof(fc.constantFrom(0, 1, 999, 1_000), fc.integer({ min: 1, max: 2 ** 31 })),
})
/** Something goes back to a payer of an escrow, in a later block, or in any block to somebody who may never have paid. */
const refund = fc.record({
  kind: fc.constant('refund' as const),
  which: fc.nat(),
  after: fc.integer({ min: 0, max: 30 }),
  amount: fc.integer({ min: 1, max: 2 ** 31 }),
  stranger: fc.option(passed, { freq: 4 }),
})
/** Somebody is, or is no more, an operator of an agent from a block on, of which most are those of the first payments. */
const operate = fc.record({
  kind: fc.constant('operate' as const),
  fid: fc.constantFrom(...fids),
  who: anybody,
  block: fc.integer({ min: 0, max: 60 }),
  approved: fc.boolean(),
})
/** Somebody is the wallet of an agent's registration from a block on. A wallet is paid to as well, so only who is never paid becomes one. */
const wallet = fc.record({
  kind: fc.constant('wallet' as const),
  fid: fc.constantFrom(...fids),
  who: fc.integer({ min: paidPeople, max: people.length - 1 }),
  block: fc.integer({ min: 0, max: 60 }),
})
/** One random step of everything that can change an agent's income. */
export const step = fc.oneof(
  fc.record({ kind: fc.constant('pay' as const), rows: fc.array(paid, { minLength: 1, maxLength: 12 }) }),
  fc.record({ kind: fc.constant('pass on' as const), rows: fc.array(passed, { minLength: 1, maxLength: 5 }) }),
  fc.record({ kind: fc.constant('find' as const), rows: fc.array(passed, { minLength: 1, maxLength: 3 }) }),
  fc.record({ kind: fc.constant('drop' as const), which: fc.nat() }),
  refund,
  fc.record({ kind: fc.constant('roll up' as const), blocks: fc.integer({ min: 0, max: 60 }) }),
  fc.record({ kind: fc.constant('sum' as const) }),
  fc.record({
    kind: fc.constant('verify' as const),
    fid: fc.constantFrom(...fids),
    now: fc.uniqueArray(person, { maxLength: 3 }),
  }),
  fc.record({ kind: fc.constant('name' as const), names: fc.uniqueArray(fc.constantFrom(0, 1)) }),
  operate,
  wallet,
  fc.record({ kind: fc.constant('take back' as const), blocks: fc.integer({ min: 0, max: 30 }) }),
)
/** Addresses that an agent verifies at first: most people, who pay each other, so that there is income to change. */
const most = fc.uniqueArray(person, { minLength: 3, maxLength: 5 })
export const first = fc.tuple(
  fc.record({ kind: fc.constant('verify' as const), fid: fc.constant(1), now: most }),
  fc.record({ kind: fc.constant('verify' as const), fid: fc.constant(2), now: most }),
  fc.record({ kind: fc.constant('name' as const), names: fc.constant<(0 | 1)[]>([0]) }),
  fc.record({ kind: fc.constant('pay' as const), rows: fc.array(paid, { minLength: 20, maxLength: 30 }) }),
  fc.record({ kind: fc.constant('pass on' as const), rows: fc.array(passed, { minLength: 5, maxLength: 10 }) }),
  operate,
  operate,
  wallet,
  wallet,
  fc.record({ kind: fc.constant('roll up' as const), blocks: fc.constant(40) }),
  fc.record({ kind: fc.constant('sum' as const) }),
)
export type Step = typeof step extends fc.Arbitrary<infer T> ? T : never
