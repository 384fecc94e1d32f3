import fc from 'fast-check'
import { expect, test } from 'vitest'
import { builderCodesOf } from '../../../processors/mapping/builder-codes.ts'
import { settlementRecordings } from '../../support/recorded/settlements.ts'

const marker = '8021'.repeat(8)
const hexOf = (...bytes: number[]) => Buffer.from(bytes).toString('hex')

/** Head of a CBOR item; `form`: least form (0 to 4) of its count, so that longer encodings are tested too. */
const head = (type: number, count: number, form: number) => {
  const size = Math.max(form, count < 24 ? 0 : count < 256 ? 1 : 2)
  if (size === 0) return hexOf((type << 5) | count)
  return hexOf((type << 5) | (23 + size)) + count.toString(16).padStart(2 ** size, '0')
}
const text = (value: string, form = 0) => {
  const bytes = Buffer.from(value)
  return head(3, bytes.length, form) + bytes.toString('hex')
}
const list = (values: readonly string[]) => head(4, values.length, 0) + values.map((value) => text(value)).join('')
const suffix = (map: string, schema = '02') => (map.length / 2).toString(16).padStart(4, '0') + schema + marker

const code = fc.stringMatching(/^[a-z0-9_]{1,32}$/)
const codes = fc.record({
  w: fc.option(code, { nil: undefined }),
  a: fc.option(code, { nil: undefined }),
  s: fc.option(fc.oneof(code, fc.array(code, { maxLength: 16 })), { nil: undefined }),
})

/** Items that name nobody, in hex: numbers, bytes, simple values and floats, and lists, maps and tags of them. */
const { item: nameless } = fc.letrec<{ item: string }>((tie) => ({
  item: fc.oneof(
    { depthSize: 'small' },
    fc.tuple(fc.constantFrom(0, 1), fc.nat(70_000)).map(([type, count]) => head(type, count % 256, count % 5)),
    fc.uint8Array({ maxLength: 40 }).map((bytes) => head(2, bytes.length, 0) + Buffer.from(bytes).toString('hex')),
    fc.constantFrom('f4', 'f6', 'f818', 'f93e00', 'fa47c35000', 'fb3ff199999999999a'),
    fc.array(tie('item'), { maxLength: 3 }).map((items) => head(4, items.length, 0) + items.join('')),
    fc.array(tie('item'), { maxLength: 3 }).map((items) => {
      return head(5, items.length, 0) + items.map((item) => text('a') + item).join('')
    }),
    tie('item').map((item) => head(6, 30, 0) + item),
  ),
}))
const otherKey = fc.oneof(fc.constantFrom(text('m'), text('r')), nameless)
const others = fc.array(fc.tuple(otherKey, nameless), { maxLength: 3 })

test('of the recorded transactions of Base five name their facilitator', () => {
  const found = settlementRecordings().flatMap(({ transaction }) => builderCodesOf(transaction.input) ?? [])
  expect(found).toEqual(Array(5).fill({ facilitator: 'cdp_facil1', app: null, services: [] }))
})

test('whatever a map names is read from the end of the calldata, in any order and whatever else it has', () => {
  fc.assert(
    fc.property(
      codes,
      others,
      fc.uint8Array({ maxLength: 80 }),
      fc.nat(4),
      fc.boolean(),
      ({ w, a, s }, more, before, form, turned) => {
        const pairs = [
          ...(w === undefined ? [] : [text('w', form) + text(w, form)]),
          ...(a === undefined ? [] : [text('a') + text(a)]),
          ...more.map((pair) => pair.join('')),
          ...(s === undefined ? [] : [text('s') + (typeof s === 'string' ? text(s) : list(s))]),
        ]
        const map = head(5, pairs.length, form) + (turned ? pairs.toReversed() : pairs).join('')
        const services = [s ?? []].flat()
        const isNamed = w !== undefined || a !== undefined || services.length > 0
        const expected = { facilitator: w ?? null, app: a ?? null, services }
        const input = `0x${Buffer.from(before).toString('hex')}${map}${suffix(map)}`
        expect(builderCodesOf(input)).toEqual(isNamed ? expected : undefined)
      },
    ),
  )
})

test.each([
  ['one service without a list', `a2${text('a')}${text('my_app')}${text('s')}${text('my_client')}`, ['my_client']],
  ['metadata', `a2${text('a')}${text('my_app')}${text('m')}a1${text('k')}01`, []],
  ['a number for its services', `a2${text('a')}${text('my_app')}${text('s')}01`, []],
])('an app is named next to %s', (_, map, services) => {
  expect(builderCodesOf(`0x${map}${suffix(map)}`)).toEqual({ facilitator: null, app: 'my_app', services })
})

const endless = `a1${text('s')}9bffffffffffffffff`
const deep = `a1${text('s')}${'81'.repeat(1_021)}`
const named = `${head(5, 1, 0)}${text('w')}${text('cdp_facil1')}`

test.each([
  ['another schema', `${named}${suffix(named, '01')}`],
  ['a map that is longer than the calldata', `${named}ffff02${marker}`],
  ['a map without its first byte', `${named}${suffix(named.slice(2))}`],
  ['a map that ends too early', `${head(5, 2, 0)}${named.slice(2)}${suffix(named)}`],
  ['a list that ends too early', `${endless}${suffix(endless)}`],
  ['lists in lists to its end', `${deep}${suffix(deep)}`],
  ['no map', `${text('cdp_facil1')}${suffix(text('cdp_facil1'))}`],
  ['the marker alone', marker],
  ['marker and schema alone', `02${marker}`],
  ['an empty map', `a0${suffix('a0')}`],
])('calldata with %s names nobody', (_, digits) => {
  expect(builderCodesOf(`0x${digits}`)).toBeUndefined()
})

test.each(['CDP', '', 'a b', 'x'.repeat(33), 'é', '=1'])('%o is no code', (value) => {
  const map = `${head(5, 1, 0)}${text('w')}${text(value)}`
  expect(builderCodesOf(`0x${map}${suffix(map)}`)).toBeUndefined()
})

test('no bytes in front of the marker are too strange', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), fc.nat(70), (bytes, length) => {
      const digits = Buffer.from(bytes).toString('hex')
      const found = builderCodesOf(`0x${digits}${length.toString(16).padStart(4, '0')}02${marker}`)
      expect(found === undefined || typeof found === 'object').toBe(true)
    }),
  )
})
