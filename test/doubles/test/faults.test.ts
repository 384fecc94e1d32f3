import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { withForeignParent } from '../portal/faults.ts'
import { type Portal, startPortal } from '../portal/server.ts'
import { hash, parseLines, stream, toySource } from './toy.ts'

let portal: Portal

beforeAll(async () => {
  portal = await startPortal({ datasets: { toy: toySource() } })
})
afterEach(() => portal.faults.clear())
afterAll(() => portal.stop())

const ask = (query: object, options = {}) => stream(portal.url, query, options)

describe('a fault', () => {
  const query = {
    fromBlock: 4,
    toBlock: 9,
    fields: { block: { number: true, parentHash: true } },
    includeAllBlocks: true,
  }
  const numbersOf = (lines: { header: { number: number } }[]) => lines.map((line) => line.header.number)

  test('meets the requests it is meant for, and no other', async () => {
    portal.faults.add({ kind: 'status', status: 529, retryAfterSeconds: 3 }, { skip: 1, times: 2 })
    const statuses: number[] = []
    for (let round = 0; round < 5; round++) {
      const { status, headers } = await ask(query)
      statuses.push(status)
      if (status === 529) expect(headers['retry-after']).toBe('3')
    }
    expect(statuses).toEqual([200, 529, 529, 200, 200])
    expect(portal.faults.pending).toBe(0)
    expect(portal.requests.slice(-5).map(({ status }) => status)).toEqual(statuses)
  })

  test('can be an empty answer or a fork', async () => {
    portal.faults.add({ kind: 'noContent' })
    portal.faults.add({ kind: 'fork', previousBlocks: [{ number: 3, hash: hash(3) }] }, { skip: 1 })
    expect((await ask(query)).status).toBe(204)
    const { status, text } = await ask(query)
    expect(status).toBe(409)
    expect(JSON.parse(text).previousBlocks).toEqual([{ number: 3, hash: hash(3) }])
  })

  test.each(['end', 'truncate', 'abort', 'reset'] as const)(
    'cuts a stream in the middle of a line (%s)',
    async (how) => {
      for (const encoding of ['gzip', 'identity']) {
        portal.faults.add({ kind: 'cut', lines: 2, how })
        const { text, error } = await ask(query, { encoding })
        const [, second, third, ...more] = text.split('\n')
        expect(more).toEqual([])
        if (how === 'end' || (how === 'abort' && encoding === 'identity')) {
          expect(JSON.parse(second!).header.number).toBe(5)
          expect(() => JSON.parse(third!)).toThrow()
        }
        if (how === 'end') expect(error).toBeUndefined()
        if (how === 'truncate' && encoding === 'gzip') expect(error?.code).toBe('Z_BUF_ERROR')
        if (how === 'abort' || how === 'reset') expect(error?.code).toBe('ECONNRESET')
      }
    },
  )

  test('can leave out, replace and swap lines', async () => {
    portal.faults.add({ kind: 'line', line: 1, replace: () => undefined })
    expect(numbersOf((await ask(query)).lines)).toEqual([4, 6, 7, 8, 9])
    portal.faults.add({ kind: 'swap', line: 1 })
    expect(numbersOf((await ask(query)).lines)).toEqual([4, 6, 5, 7, 8, 9])
    portal.faults.add({ kind: 'line', line: 2, replace: withForeignParent })
    const { lines } = await ask(query)
    expect(lines[2]?.header.number).toBe(6)
    expect(lines[2]?.header.parentHash).not.toBe(hash(5))
    portal.faults.add({ kind: 'line', line: 0, replace: () => '<html>' })
    expect((await ask(query)).text.split('\n')[0]).toBe('<html>')
  })

  test('can be silence on an open connection', async () => {
    portal.faults.add({ kind: 'silence', lines: 1 })
    const { text, error } = await ask(query, { encoding: 'identity', timeoutMs: 300 })
    expect(numbersOf(parseLines(text))).toEqual([4])
    expect(error?.message).toBe('aborted')
  })
})
