import { PassThrough, Readable } from 'node:stream'
import fc from 'fast-check'
import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import { Retries, SourceFailure, SourceWatch } from '../../hosts/retries.ts'
import { readRetryAfter } from '../../hosts/retry-after.ts'
import { Refusal } from '../../ops/cli.ts'
import { Lines } from '../../processors/portal/lines.ts'
import { toPortalQuery } from '../../processors/portal/query.ts'

const waitMs = 10_000

async function readAll(body: Readable): Promise<string[]> {
  const lines = new Lines(body)
  const read: string[] = []
  for (let line = await lines.read(waitMs); line !== 'end'; line = await lines.read(waitMs)) {
    read.push(line.toString())
  }
  return read
}

describe('lines of an answer', () => {
  test('are the same, however the bytes were cut on the way', async () => {
    const text = fc.array(fc.string({ unit: 'grapheme', minLength: 1 }).filter((line) => !line.includes('\n')))
    await fc.assert(
      fc.asyncProperty(text, fc.integer({ min: 1, max: 7 }), fc.boolean(), async (lines, size, ended) => {
        const bytes = Buffer.from(lines.join('\n') + (ended && lines.length > 0 ? '\n' : ''))
        const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
          bytes.subarray(at * size, (at + 1) * size),
        )
        expect(await readAll(Readable.from(pieces))).toEqual(lines)
      }),
    )
  })

  test('that came before the connection broke are read, then the break is', async () => {
    const body = new PassThrough()
    const lines = new Lines(body)
    body.write('one\ntwo\nthr')
    expect(String(await lines.read(waitMs))).toBe('one')
    expect(String(await lines.read(waitMs))).toBe('two')
    body.destroy(new Error('reset'))
    await expect(lines.read(waitMs)).rejects.toThrow('reset')
  })

  test('that are late are not lost', async () => {
    const body = new PassThrough()
    const lines = new Lines(body)
    body.write('on')
    expect(await lines.read(10)).toBe('later')
    expect(await lines.read(10)).toBe('later')
    body.write('e\n')
    expect(String(await lines.read(waitMs))).toBe('one')
    lines.close()
  })
})

describe('a query for the Portal', () => {
  const logs = [{ address: ['0xaa'], topic0: ['0xbb'], transaction: true }]

  test('names every field, because the Portal implies none', () => {
    const fields = {
      block: { timestamp: true },
      log: { data: true },
      transaction: { hash: true },
      stateDiff: { kind: true },
    }
    expect(JSON.parse(toPortalQuery({ fromBlock: 1, logs, fields }, 7, '0xcc'))).toEqual({
      type: 'evm',
      fromBlock: 7,
      parentBlockHash: '0xcc',
      fields: {
        block: { number: true, hash: true, parentHash: true, timestamp: true },
        log: { logIndex: true, transactionIndex: true, data: true },
        transaction: { transactionIndex: true, hash: true },
      },
      logs,
    })
  })

  test('asks for nothing about what it does not want', () => {
    expect(JSON.parse(toPortalQuery({ fromBlock: 5, toBlock: 5, includeAllBlocks: true }, 5))).toEqual({
      type: 'evm',
      fromBlock: 5,
      toBlock: 5,
      includeAllBlocks: true,
      fields: { block: { number: true, hash: true, parentHash: true } },
    })
  })
})

test.each([
  [undefined, undefined],
  ['2', 2_000],
  ['0.5', 500],
  ['Thu, 01 Jan 1970 00:00:10 GMT', 7_000],
  ['Thu, 01 Jan 1970 00:00:01 GMT', 0],
  ['soon', undefined],
])('Retry-After %j asks for %j milliseconds', (header, expected) => {
  expect(readRetryAfter(header, 3_000)).toBe(expected)
})

describe('the policy of retries', () => {
  const log = pino({ level: 'silent' })

  test('lasts as long as the source fails, and tells of it once', async () => {
    const warned: string[] = []
    const retries = new Retries({ warn: (text) => void warned.push(text) })
    for (let failures = 0; failures < 40; failures++) await retries.afterFailure(new SourceFailure('overloaded', 1))
    expect(warned).toEqual(['the Portal: overloaded; it is asked until it answers, the next time in 1 ms'])
    await expect(retries.afterFailure(new Refusal('no such dataset'))).rejects.toThrow('no such dataset')
  })

  test('of work that is taken up again later ends after its attempts, with what failed', async () => {
    const retries = new Retries(log, { attempts: 3 })
    const failure = new SourceFailure('overloaded', 1)
    for (let attempt = 1; attempt < 3; attempt++) await retries.afterFailure(failure)
    await expect(retries.afterFailure(failure)).rejects.toThrow(/overloaded; gave up after 3 attempts/)
  })

  test('tells how often a source failed, and how long it was waited for', async () => {
    const watch = new SourceWatch()
    const retries = new Retries(log, { watch })
    await retries.afterFailure(new SourceFailure('overloaded', 1))
    await retries.afterFailure(new SourceFailure('no block', 0))
    expect(watch.failures).toEqual({ busy: 2, useless: 0, silent: 0 })
    const waited = watch.waitedSeconds
    expect(waited).toBeGreaterThan(0)
    expect(watch.waitedSeconds).toBe(waited)
    await retries.afterFailure(new Error('socket hang up'))
    expect(watch.failures).toEqual({ busy: 2, useless: 0, silent: 1 })
    const end = [watch.begin(), watch.begin()]
    const before = watch.waitedSeconds
    expect(watch.waitedSeconds).toBeGreaterThanOrEqual(before) // it has not ended
    for (const one of end) one()
    const after = watch.waitedSeconds
    expect(watch.waitedSeconds).toBe(after)
  })

  test('is not tried by what no other attempt can change', async () => {
    await expect(new Retries(log).afterFailure(new Refusal('wrong dataset'))).rejects.toThrow('wrong dataset')
  })
})
