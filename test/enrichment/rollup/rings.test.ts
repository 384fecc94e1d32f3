import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findRings, type RingBounds, ringBounds } from '../../../derive/rings.ts'
import { ringPayers } from './flag-oracle.ts'

type Paid = readonly [payer: string, recipient: string, amount: number]

const edgesOf = (paid: readonly Paid[]) =>
  paid.map(([payer, recipient, amount]) => ({ payer, recipient, amount: BigInt(amount) }))

/** Ring payers of some addresses, searched from both sides or from one; asserts that no address's sums are read twice. */
async function search(
  addresses: readonly string[],
  paid: readonly Paid[],
  { isBoth = false, ...bounds }: Partial<RingBounds> & { isBoth?: boolean } = {},
) {
  const reader = (end: 'payer' | 'recipient') => {
    const asked = new Set<string>()
    return async (some: readonly string[]) => {
      for (const one of some) expect(asked.has(one) || !asked.add(one)).toBe(false)
      return edgesOf(paid).filter((sum) => some.includes(sum[end]))
    }
  }
  const reads = { paid: reader('payer'), ...(isBoth && { got: reader('recipient') }) }
  return findRings(addresses, reads, { ...ringBounds, ...bounds })
}
const round = (length: number, amount = 100): Paid[] =>
  Array.from({ length }, (_, at) => [`${at}`, `${(at + 1) % length}`, amount])

test('a round of three to six payments is a ring of each of its addresses, one of two or of seven of none', async () => {
  for (const length of [2, 3, 4, 5, 6, 7]) {
    const found = await search(['0', '1'], round(length))
    const expected = length > 2 && length < 7 ? [[`${length - 1}`], ['0']] : [[], []]
    expect(found.map(({ payers }) => payers)).toEqual(expected)
  }
})

test('what stays on the way is no ring, up to a fifth it is', async () => {
  const shrinking = (part: number): Paid[] => [
    ['a', 'b', 100],
    ['b', 'c', 100],
    ['c', 'a', part],
  ]
  expect((await search(['a'], shrinking(80)))[0]?.payers).toEqual(['c'])
  expect((await search(['a'], shrinking(79)))[0]?.payers).toEqual([])
  expect((await search(['b'], shrinking(125)))[0]?.payers).toEqual(['a'])
  expect((await search(['b'], shrinking(126)))[0]?.payers).toEqual([])
})

test('a customer who is on no round is not taken into one, and nor is one who keeps', async () => {
  const paid: Paid[] = [...round(3), ['customer', '0', 100], ['1', 'shop', 100_000]]
  expect((await search(['0'], paid))[0]?.payers).toEqual(['2'])
  expect((await search(['0'], [...paid, ['0', 'x', 5], ['x', 'customer', 5]]))[0]?.payers).toEqual([])
})

test('a hop of more sums than are followed is left out, and looked at again when it moves', async () => {
  const wide: Paid[] = Array.from({ length: 5 }, (_, at) => ['2', `shop ${at}`, 1])
  const paid: Paid[] = [...round(4), ...wide]
  expect((await search(['0'], paid, { sums: 9 }))[0]?.payers).toEqual(['3'])
  const [found] = await search(['0'], paid, { sums: 7 })
  expect(found).toEqual({ address: '0', payers: [], ring: [], reached: ['0', '1', '2'], reachedBack: [] })
})

test('from both sides, what branches off at each step is followed half as far', async () => {
  // Each of the round pays four others, and each of these four more.
  const branches = (from: string, depth: number): Paid[] =>
    depth === 0
      ? []
      : Array.from({ length: 4 }, (_, n) => `${from}-${n}`).flatMap((to) => [[from, to, 1], ...branches(to, depth - 1)])
  const paid = [...round(6), ...round(6).flatMap(([payer]) => branches(payer, 5))]
  const [found] = await search(['0'], paid, { isBoth: true, sums: 2_000 })
  expect(found?.ring).toHaveLength(6)
  expect(found!.reached.length + found!.reachedBack.length).toBeLessThan(40)
  const [oneWay] = await search(['0'], paid, { sums: 2_000 })
  expect(oneWay?.ring).toEqual([])
})

const one = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h')
const amount = fc.oneof(fc.constantFrom(0, 80, 100, 100, 100, 120), fc.integer({ min: 1, max: 200 }))
const graph = fc.uniqueArray(fc.tuple(one, one, amount), {
  minLength: 3,
  maxLength: 20,
  selector: ([payer, recipient]) => `${payer} ${recipient}`,
})

test('rings are those that walking every round finds, of many addresses at once as of each', async () => {
  await fc.assert(
    fc.asyncProperty(graph, async (paid) => {
      const addresses = [...new Set([...paid.map(([payer]) => payer), ...paid.map(([, recipient]) => recipient)])]
      const real = paid.filter(([payer, recipient, amount]) => payer !== recipient && amount > 0)
      const found = await search(addresses, real)
      const expected = addresses.map((address) => ringPayers(address, edgesOf(paid)).sort())
      expect(found.map(({ payers }) => payers.toSorted())).toEqual(expected)
      // Half of the way from each side leads to the same.
      const both = await search(addresses, real, { isBoth: true })
      const ringsOf = (one: typeof found) => one.map(({ ring }) => ring.toSorted())
      expect(ringsOf(both)).toEqual(ringsOf(found))
    }),
    { numRuns: 300 },
  )
})
