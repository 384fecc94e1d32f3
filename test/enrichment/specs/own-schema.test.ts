import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { misfit } from '../../../enrichment/specs/findings/own-schema.ts'

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
