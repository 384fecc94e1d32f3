import { expect, test } from 'vitest'
import { checkNode } from '../../../processors/checks.ts'
import { cases, errors, honestly, type NodeCase, rightLogs, startReading } from './one-block.ts'

// A node that cannot answer for now is waited for; only what will not change is passed on.

const timeout = 120_000
const one = cases.k3 as NodeCase
const agreed = { bloom: false }
const errorOf = (code: number, message: string) => ({ error: { code, message } })
const polygon = { name: 'polygon', id: 137 } as never

test.each([
  ['429 in a body', errors.k12a],
  ['-32005', errors.k12c],
  ['-32014, a block that is not there for a moment', errors.k12d],
  ['-32007', errorOf(-32007, '15/second request limit reached')],
  ['-32016', errorOf(-32016, 'over the limit')],
  ['-32029', errorOf(-32029, 'come back later')],
  ['-32603', errorOf(-32603, 'Internal error')],
  ['overloaded', errorOf(-32000, 'the server is overloaded')],
  ['timed out', errorOf(-32000, 'request timed out')],
  ['header not found', errorOf(-32000, 'header not found')],
  ['unfinalized', errorOf(-32000, 'cannot query unfinalized data')],
  ['words that are not known', errorOf(-32000, 'mood')],
])('%s is waited out, from the first question on, and said once', { timeout }, async (_, answer) => {
  const left = new Map<string, number>()
  const { chain, read, lines, progress } = await startReading(
    one,
    (method, params, time) => {
      const times = left.get(method) ?? 0
      left.set(method, times + 1)
      return times < 2 ? (answer as { error: never }) : honestly(one)(method, params, time)
    },
    agreed,
  )
  await checkNode(chain, polygon)
  expect(await read()).toEqual(rightLogs(one))
  const { busy, useless } = progress.sources.node.failures
  expect(busy + useless).toBeGreaterThanOrEqual(4)
  const said = lines.filter((line) => line.includes('for now'))
  expect(said).toEqual([expect.stringMatching(/^the node does not answer eth_chainId for now: .*asked until it does$/)])
})

test.each(['eth_getBlockByNumber', 'eth_getBlockReceipts'])(
  'answers to %s that are none, however many in a row, end no processor: it waits or reads another way',
  { timeout },
  async (method) => {
    const { read, progress } = await startReading(
      one,
      (asked, params, time) =>
        asked === method && time <= 9 ? ({} as { result: never }) : honestly(one)(asked, params, time),
      agreed,
    )
    expect(await read()).toEqual(rightLogs(one))
    expect(progress.sources.node.failures.useless).toBeGreaterThan(5)
    expect(progress.sources.node.problem).toBeUndefined()
  },
)

test('a tenth of the answers being such errors keeps no block from being read', { timeout }, async () => {
  let calls = 0
  const { read, chain } = await startReading(
    one,
    (method, params, time) =>
      calls++ % 10 === 3 ? (errors.k12c as { error: never }) : honestly(one)(method, params, time),
    agreed,
  )
  const ids = await Promise.all(Array.from({ length: 40 }, () => chain.call('eth_chainId')))
  expect(new Set(ids)).toEqual(new Set(['0x89']))
  expect(await read()).toEqual(rightLogs(one))
})

test('a method that is not there will not come: the start is refused with one line', { timeout }, async () => {
  const { chain, node } = await startReading(one, () => errorOf(-32601, 'the method eth_chainId is not available'))
  await expect(checkNode(chain, polygon)).rejects.toThrow(
    'the RPC endpoint of polygon does not report its chain id: the method eth_chainId is not available',
  )
  expect(node.asked).toEqual(['eth_chainId'])
})

test.each([3, 1])(
  'a node that allows %i calls in a request is sent no more, and that is remembered',
  {
    timeout,
  },
  async (allowed) => {
    const { chain, node, lines } = await startReading(one, honestly(one))
    node.refusing = (calls) => (calls > allowed ? errors.k13a : undefined)
    const batch = Array.from({ length: 9 }, () => ({ method: 'eth_chainId' }))
    expect(await chain.batchCall(batch)).toEqual(Array(9).fill('0x89'))
    expect(lines.filter((line) => line.includes('batches'))).toEqual([
      expect.stringMatching(/^the node fails batches of 9 calls: .*; smaller ones are sent$/),
    ])
    node.sizes.splice(0)
    expect(await chain.batchCall(batch)).toEqual(Array(9).fill('0x89'))
    expect(Math.max(...node.sizes)).toBeLessThanOrEqual(allowed)
  },
)

test('a node that closes the connection on large requests gets smaller ones', { timeout }, async () => {
  const { chain, node, lines } = await startReading(one, honestly(one))
  node.refusing = (calls) => (calls > 3 ? 'cut' : undefined)
  const batch = Array.from({ length: 9 }, () => ({ method: 'eth_chainId' }))
  expect(await chain.batchCall(batch)).toEqual(Array(9).fill('0x89'))
  expect(lines.some((line) => line.startsWith('the node fails batches of 9 calls: '))).toBe(true)
})

test('a chain’s setting bounds the calls in a request from the start', { timeout }, async () => {
  const { chain, node } = await startReading(one, honestly(one), { batch: 2 })
  const batch = Array.from({ length: 5 }, () => ({ method: 'eth_chainId' }))
  expect(await chain.batchCall(batch)).toEqual(Array(5).fill('0x89'))
  expect(node.sizes).toEqual([2, 2, 1])
})
