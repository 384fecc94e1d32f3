import { expect, test } from 'vitest'
import { JsonProblem, parseStrictJson } from '../../trust/strict-json.ts'

/** Largest body of a claim, in bytes. */
const size = 16_384
/** Most milliseconds for parsing such a body on a busy machine: 0.3 microseconds a byte. */
const mostMs = 5

/** Parts of bodies; repeated in every order of up to three they reach every state of a parser. */
const parts = [
  '"',
  '\\',
  '\\"',
  '\\\\',
  '{',
  '}',
  '[',
  ']',
  ':',
  ',',
  ' ',
  'a',
  '0',
  '\n',
  '"a":',
  '"a",',
  '{"a":',
  'é',
]
const repeated = (text: string) => Buffer.from(text.repeat(Math.ceil(size / text.length))).subarray(0, size)

/** Most runs of one body: enough for the JIT to compile the code and for one run to have the processor to itself. */
const mostRuns = 100

/** The fastest of some runs: what the text costs, not what the machine was doing meanwhile. */
function fastestMs(bytes: Uint8Array): number {
  let fastest = Number.POSITIVE_INFINITY
  for (let run = 0; run < mostRuns && fastest > mostMs; run++) {
    const start = performance.now()
    try {
      parseStrictJson(bytes)
    } catch (error) {
      if (!(error instanceof JsonProblem)) throw error
    }
    fastest = Math.min(fastest, performance.now() - start)
  }
  return fastest
}

test('no body of 16 KiB takes longer than others of its length', () => {
  const wholes = [
    `{"a":"${'\\"'.repeat(size / 2 - 8)}"}`,
    `{"a":${'['.repeat(size / 2)}${']'.repeat(size / 2)}}`,
    `{${Array.from({ length: 1_500 }, (_, n) => `"${n}":1`).join(',')}}`,
    `{"a":"${'"'.repeat(size)}`,
  ].map((text) => Buffer.from(text))
  const periodic = parts.flatMap((one) =>
    parts.flatMap((two) => [
      repeated(one + two),
      repeated(`{"${one}${two}`),
      Buffer.concat([Buffer.from('{"'), repeated(one + two)]),
    ]),
  )
  const triples = parts
    .slice(0, 8)
    .flatMap((one) => parts.slice(0, 8).flatMap((two) => parts.slice(0, 8).map((three) => repeated(one + two + three))))
  const slow = [...wholes, ...periodic, ...triples]
    .map((bytes) => ({ begins: bytes.subarray(0, 16).toString(), ms: fastestMs(bytes) }))
    .filter(({ ms }) => ms > mostMs)
  expect(slow).toEqual([])
})

test.for<[string, RegExp]>([
  ['{"a":1,"\\u0061":2}', /"a" twice/],
  ['{"a":{"b":1,"b":2}}', /"b" twice/],
  ['{"a":"x","b":{"__proto__":1}}', /field __proto__/],
  ['[[[[[[[[[1]]]]]]]]]', /at most 8/],
  ['{"a":"\\"}', /JSON/],
])('%s is not taken', ([text, problem]) => {
  expect(() => parseStrictJson(Buffer.from(text))).toThrow(problem)
})

test.for(['{"a":"\\"b\\":","c":["a","a"],"d":{"a":1}}', '[[[[[[[[1]]]]]]]]', '"a:{}"', ' {"a" : "\\\\" , "b":-1e3} '])(
  '%s means what it says',
  (text) => {
    expect(parseStrictJson(Buffer.from(text))).toEqual(JSON.parse(text))
  },
)
