import fc from 'fast-check'
import { expect, test } from 'vitest'
import { builderCodesOf } from '../../../processors/mapping/builder-codes.ts'
import { settlementRecordings } from '../../support/recorded/settlements.ts'

const marker = '8021'.repeat(8)
const hexOf = (...bytes: number[]) => Buffer.from(bytes).toString('hex')

/** Head of a CBOR item; `form`: least extra bytes (0 to 2) for its count, so that longer encodings are tested too. */
const head = (type: number, count: number, form: number) => {
  const room = count < 24 ? 0 : count < 256 ? 1 : 2
  const size = Math.max(form, room)
  if (size === 0) return hexOf((type << 5) | count)
  return size === 1 ? hexOf((type << 5) | 24, count) : hexOf((type << 5) | 25, count >> 8, count & 255)
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
  s: fc.option(fc.array(code, { maxLength: 16 }), { nil: undefined }),
})

test('of the recorded transactions of Base five name their facilitator', () => {
  const found = settlementRecordings().flatMap(({ transaction }) => builderCodesOf(transaction.input) ?? [])
  expect(found).toEqual(Array(5).fill({ facilitator: 'cdp_facil1', app: null, services: [] }))
})

test('whatever a map names is read from the end of the calldata, in any order', () => {
  fc.assert(
    fc.property(
      codes,
      fc.uint8Array({ maxLength: 80 }),
      fc.nat(2),
      fc.boolean(),
      ({ w, a, s }, before, form, turned) => {
        const pairs = [
          ...(w === undefined ? [] : [text('w', form) + text(w, form)]),
          ...(a === undefined ? [] : [text('a') + text(a)]),
          ...(s === undefined ? [] : [text('s') + list(s)]),
        ]
        const map = head(5, pairs.length, form) + (turned ? pairs.toReversed() : pairs).join('')
        const isNamed = w !== undefined || a !== undefined || (s ?? []).length > 0
        const expected = { facilitator: w ?? null, app: a ?? null, services: s ?? [] }
        const input = `0x${Buffer.from(before).toString('hex')}${map}${suffix(map)}`
        expect(builderCodesOf(input)).toEqual(isNamed ? expected : undefined)
      },
    ),
  )
})

const named = `${head(5, 1, 0)}${text('w')}${text('cdp_facil1')}`

test.each([
  ['another schema', `${named}${suffix(named, '01')}`],
  ['a map that is longer than the calldata', `${named}ffff02${marker}`],
  ['a map without its first byte', `${named}${suffix(named.slice(2))}`],
  ['a map that ends too early', `${head(5, 2, 0)}${named.slice(2)}${suffix(named)}`],
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
