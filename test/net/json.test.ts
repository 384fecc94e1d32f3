import { expect, test } from 'vitest'
import { maxJsonDepth, parseJson } from '../../net/json.ts'

const read = (text: string) => parseJson(Buffer.from(text))
const refusal = (bytes: Uint8Array) => {
  try {
    return { value: parseJson(bytes) }
  } catch (error) {
    return { reason: (error as { reason?: string }).reason }
  }
}

test('a document is read whatever stands around it', () => {
  expect(read(' {"name":"Ada","skills":[1,-2.5e3,true,null]} \n')).toEqual({
    name: 'Ada',
    skills: [1, -2500, true, null],
  })
  expect(read('\ufeff[]')).toEqual([])
  expect(read('"text"')).toBe('text')
})

test('nesting is allowed to its bound and refused above it', () => {
  const nested = (depth: number) => `${'[{"a":'.repeat(depth / 2)}1${'}]'.repeat(depth / 2)}`
  expect(maxJsonDepth).toBe(32)
  expect(refusal(Buffer.from(nested(32)))).toHaveProperty('value')
  expect(refusal(Buffer.from(nested(34)))).toEqual({ reason: 'not_json' })
  expect(refusal(Buffer.from('['.repeat(33) + ']'.repeat(33)))).toEqual({ reason: 'not_json' })
  expect(refusal(Buffer.alloc(2_000_000, '['))).toEqual({ reason: 'not_json' })
  expect(refusal(Buffer.from('{"a":'.repeat(400_000)))).toEqual({ reason: 'not_json' })
})

test('brackets inside strings are no nesting', () => {
  for (const text of [`"${'['.repeat(100)}"`, `{"a\\"${'{'.repeat(100)}":1}`, `["\\\\","${'['.repeat(40)}"]`]) {
    expect(refusal(Buffer.from(text))).toEqual({ value: JSON.parse(text) })
  }
  expect(refusal(Buffer.from(`["\\\\",${'['.repeat(32)}${']'.repeat(32)}]`))).toEqual({ reason: 'not_json' })
})

test('a number nobody could store is refused, a large one is rounded', () => {
  for (const text of ['1e309', '-1e999', '{"a":[{"n":1e400}]}', '9'.repeat(400), `1e${'9'.repeat(10_000)}`]) {
    expect(refusal(Buffer.from(text))).toEqual({ reason: 'not_json' })
  }
  expect(read('12345678901234567890')).toBe(12345678901234567000)
  expect(read(`0.${'1'.repeat(100_000)}`)).toBeCloseTo(1 / 9)
})

test('what is not one JSON text in UTF-8 is refused', () => {
  const texts = [
    '',
    ' ',
    '{',
    '{"a":1',
    '{"a":1}{',
    '[1,]',
    "{'a':1}",
    'NaN',
    'undefined',
    '<html></html>',
    '1 2',
    '// c\n1',
  ]
  for (const text of texts) expect([text, refusal(Buffer.from(text))]).toEqual([text, { reason: 'not_json' }])
  expect(refusal(Buffer.of(0x22, 0xff, 0x22))).toEqual({ reason: 'not_json' })
  expect(refusal(Buffer.of(0x22, 0xed, 0xa0, 0x80, 0x22))).toEqual({ reason: 'not_json' })
  expect(refusal(Buffer.from('{"a":1}', 'utf16le'))).toEqual({ reason: 'not_json' })
})

test('a key of an object’s machinery is a key like any other', () => {
  const value = read('{"__proto__":{"polluted":1},"constructor":2}') as object
  expect(Object.keys(value)).toEqual(['__proto__', 'constructor'])
  expect(({} as { polluted?: number }).polluted).toBeUndefined()
})
