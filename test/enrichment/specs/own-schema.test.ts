import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findingsOfDemand } from '../../../enrichment/specs/findings/demand.ts'
import { misfit } from '../../../enrichment/specs/findings/own-schema.ts'
import { parsesTaken } from '../../support/measures/cpu.ts'

const value = fc.oneof(
  fc.constantFrom<unknown>(null, true, 'a', 'b', 0, 1, 1.5, [], ['a', 1], {}),
  fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.constantFrom<unknown>('a', 1, null, ['b'], { a: 1 })),
)
const type = fc.constantFrom<unknown>('object', 'array', 'string', 'number', 'integer', 'boolean', 'null')
const { schema } = fc.letrec((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3 },
    fc.boolean(),
    fc.record(
      {
        type: fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 2 })),
        const: value,
        enum: fc.uniqueArray(fc.constantFrom('a', 1, null), { minLength: 1 }),
        required: fc.uniqueArray(fc.constantFrom('a', 'b'), { maxLength: 2 }),
        properties: fc.dictionary(fc.constantFrom('a', 'b'), tie('schema')),
        additionalProperties: tie('schema'),
        items: tie('schema'),
        allOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
        anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
        oneOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
        not: tie('schema'),
        $ref: fc.constantFrom('#/properties/a', '#/items'),
      },
      { requiredKeys: [] },
    ),
  ),
}))

test('whatever is said not to fit does not fit', () => {
  let misfits = 0
  fc.assert(
    fc.property(value, schema, (one, by) => {
      const place = misfit(one, by)
      if (place === undefined) return
      const ajv = new Ajv2020({ strict: false, logger: false })
      let isValid: unknown
      try {
        isValid = ajv.compile(by as object)(one)
      } catch {
        return // a reference to nowhere, or without an end
      }
      misfits++
      expect([one, by, isValid]).toEqual([one, by, false])
    }),
    { numRuns: 200 },
  )
  expect(misfits).toBeGreaterThan(5)
})

test('a value that does not fit is told by its place', () => {
  const input = {
    type: 'object',
    required: ['type'],
    properties: { type: { const: 'http' }, body: { $ref: '#/$defs/body' } },
  }
  const by = {
    required: ['input'],
    properties: { input },
    $defs: { body: { type: 'object', additionalProperties: false } },
  }
  expect(misfit({ input: { type: 'http', body: {} } }, by)).toBeUndefined()
  expect(misfit({}, by)).toBe('/input')
  expect(misfit({ input: {} }, by)).toBe('/input/type')
  expect(misfit({ input: { type: 'mcp' } }, by)).toBe('/input/type')
  expect(misfit({ input: { type: 'http', body: { city: 'Bern' } } }, by)).toBe('/input/body/city')
})

test('a schema without an end, or one that branches without measure, ends soon and says nothing', () => {
  expect(misfit({}, { $ref: '#' })).toBeUndefined()
  const levels = Array.from({ length: 30 }, (_, level) => {
    const next = { $ref: `#/$defs/${level + 1}` }
    return [level, { anyOf: [next, next], allOf: [next, next] }]
  })
  const by = { $ref: '#/$defs/0', $defs: { ...Object.fromEntries(levels), 30: { type: 'string' } } }
  expect(misfit({}, by)).toBeUndefined()
})

/** Codes of the findings of a demand whose bazaar info and schema are these. */
function codesOf(info: object, schema: object) {
  const bazaar = {
    info: { input: { type: 'http', method: 'GET' }, ...info },
    schema: { required: ['input'], ...schema },
  }
  const body = Buffer.from(JSON.stringify({ x402Version: 1, accepts: [], extensions: { bazaar } }))
  return findingsOfDemand({ headers: new Map(), body } as never, new URL('https://shop.test/')).map(({ code }) => code)
}

/** Most processor time for a schema here, in times of what a megabyte of JSON takes to be parsed. */
const mostParses = 25

/** A part of a schema that is come to 900 times. */
const often = (d: object) => ({ allOf: Array.from({ length: 900 }, () => ({ $ref: '#/d' })), d })
const list = (length: number, item: unknown = 'input') => Array.from({ length }, () => item)

test.each([
  ['a reference of 100,000 names', {}, often({ $ref: `#${'/a'.repeat(100_000)}` })],
  ['a reference of 10,000 names', {}, often({ $ref: `#${'/a'.repeat(10_000)}` })],
  ['20,000 members that are required', {}, often({ required: list(20_000) })],
  ['4,000 members that are required', {}, often({ required: list(4_000) })],
  ['50,000 names of types', {}, often({ type: list(50_000, 'null') })],
  ['10,000 names of types', {}, often({ type: list(10_000, 'null') })],
  ['50,000 values to choose from', {}, often({ enum: list(50_000, 0) })],
  ['10,000 values to choose from', {}, often({ enum: list(10_000, 0) })],
  ['a value as large as the schema', { x: list(20_000, 0) }, often({ const: { x: list(20_000, 0) } })],
  ['50,000 members', Object.fromEntries(list(50_000).map((_, at) => [`x${at}`, 0])), often({ required: ['input'] })],
])('a schema that has %s wherever it is looked at costs no more than its length', (_, info, schema) => {
  const taken = parsesTaken(
    mostParses,
    () => schema,
    () => codesOf(info, schema),
  )
  expect(taken).toBeLessThan(mostParses)
})

test.each(['__proto__', '__defineGetter__', 'toString', 'constructor', { toString: 1 }, [['string']]])(
  'the unknown type %j forbids nothing, and hides no other misfit',
  (type) => {
    const by = (rest: object) => JSON.parse(JSON.stringify({ properties: { input: { type, ...rest } } }))
    expect(codesOf({}, by({}))).not.toContain('discovery_malformed')
    expect(codesOf({}, by({ required: ['body'] }))).toContain('discovery_malformed')
  },
)

test('members named like those of every object are told like others', () => {
  const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty']
  for (const name of names) {
    expect(misfit({}, { required: [name] })).toBe(`/${name}`)
    const value = JSON.parse(`{"${name}":1}`)
    expect(misfit(value, { additionalProperties: false })).toBe(`/${name}`)
    expect(misfit({ a: 1 }, { properties: {}, additionalProperties: { $ref: `#/${name}` } })).toBeUndefined()
    expect(misfit(value, { const: JSON.parse(`{"${name}":1}`) })).toBeUndefined()
    expect(misfit({}, { const: value })).toBe('')
  }
})
