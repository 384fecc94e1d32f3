import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Trace } from '../portal/blocks.ts'
import type { MemorySource } from '../portal/memory-source.ts'
import { type Portal, startPortal } from '../portal/server.ts'
import {
  block,
  everyField,
  hash,
  numbers,
  other,
  payer,
  range,
  send,
  stream,
  token,
  toySource,
  transfer,
  used,
} from './toy.ts'

let source: MemorySource
let portal: Portal

beforeAll(async () => {
  source = toySource()
  portal = await startPortal({ datasets: { toy: source }, chunksPerAnswer: 2, noContentAfterMs: 20 })
})
afterAll(() => portal.stop())

const ask = (query: object, options = {}) => stream(portal.url, query, options)
const json = async (path: string) => JSON.parse((await send('GET', `${portal.url}${path}`)).text)
const callTo = (to: string, sighash: string) => ({ to, sighash })

describe('what a dataset says of itself', () => {
  test('lists datasets, their metadata and their heads', async () => {
    expect(await json('/datasets')).toMatchObject([{ dataset: 'toy', start_block: 0, real_time: false }])
    expect(await json('/datasets/toy/metadata')).toMatchObject({ dataset: 'toy' })
    expect(await json('/datasets/toy/head')).toEqual({ number: 29, hash: hash(29) })
    expect(await json('/datasets/toy/finalized-head')).toEqual({ number: 29, hash: hash(29) })
  })

  test('an unknown dataset and an unknown route are 404', async () => {
    expect((await send('GET', `${portal.url}/datasets/tulip/head`)).status).toBe(404)
    expect((await send('POST', `${portal.url}/datasets/tulip/stream`, { body: {} })).status).toBe(404)
    expect((await send('GET', `${portal.url}/datasets/toy/tail`)).status).toBe(404)
  })
})

describe('a stream', () => {
  test('holds the matching blocks and the bounds of every chunk, each with the asked fields alone', async () => {
    const { status, lines, headers } = await ask({
      fromBlock: 0,
      fields: { block: { number: true }, log: { data: true } },
      logs: [{ address: [token], topic0: [used] }],
    })
    expect(status).toBe(200)
    expect(headers['content-type']).toBe('application/jsonl')
    expect(headers['x-sqd-finalized-head-number']).toBe('29')
    expect(lines).toEqual([
      { header: { number: 0 } },
      { header: { number: 5 }, logs: [{ data: '0x05' }] },
      { header: { number: 6 }, logs: [{ data: '0x06' }] },
      { header: { number: 9 } },
      { header: { number: 10 } },
      { header: { number: 12 }, logs: [{ data: '0x0c' }] },
      { header: { number: 19 } },
    ])
  })

  test('begins at the block asked for and ends at toBlock inside a chunk', async () => {
    const { lines } = await ask({ fromBlock: 7, toBlock: 8, fields: { block: { number: true } } })
    expect(lines).toEqual([{ header: { number: 7 } }, { header: { number: 8 } }])
  })

  test('implies no field', async () => {
    const { lines } = await ask({ fromBlock: 5, toBlock: 5, logs: [{ topic0: [transfer], transaction: true }] })
    expect(lines).toEqual([{ header: {}, transactions: [{}], logs: [{}] }])
  })

  test('gives every block when all are asked for', async () => {
    const { lines } = await ask({ fromBlock: 3, toBlock: 11, includeAllBlocks: true, fields: numbers })
    expect(lines.map((line) => line.header.number)).toEqual([3, 4, 5, 6, 7, 8, 9, 10, 11])
  })

  test.each([
    ['one value of a list fits', { address: [used, token] }, [0, 1]],
    ['every list of a request fits', { address: [token], topic0: [transfer], topic1: [payer] }, [1]],
    ['one list of a request does not fit', { address: [token], topic0: [used], topic1: [used] }, []],
    ['an empty list fits nothing', { address: [] }, []],
    ['values are compared in lower case alone', { address: [token.toUpperCase()] }, []],
    ['a request without lists fits everything', {}, [0, 1, 2]],
  ])('%s', async (_, logRequest, found) => {
    const { lines } = await ask({ ...range(5), fields: { log: { logIndex: true } }, logs: [logRequest] })
    expect(lines[0]?.logs?.map((log: { logIndex: number }) => log.logIndex) ?? []).toEqual(found)
  })

  test('several requests add up, each item once', async () => {
    const { lines } = await ask({
      ...range(5),
      fields: { log: { logIndex: true } },
      logs: [{ topic0: [used] }, { address: [token] }, { topic0: [transfer] }],
    })
    expect(lines[0]?.logs).toEqual([{ logIndex: 0 }, { logIndex: 1 }])
  })

  test.each([
    ['a log', { logs: [{ topic0: [used], transaction: true, transactionLogs: true, transactionTraces: true }] }],
    ['a transaction', { transactions: [{ to: [token], sighash: ['0xe3ee160e'], logs: true, traces: true }] }],
  ])('%s brings the rest of its own transaction', async (_, request) => {
    const { lines } = await ask({ ...range(5), fields: everyField, ...request })
    expect(lines[0]).toEqual({
      header: { number: 5, hash: hash(5), parentHash: hash(4), timestamp: 1_700_000_005 },
      transactions: [
        { transactionIndex: 0, hash: hash(500), from: other, to: token, input: '0xe3ee160e05', status: 1 },
      ],
      logs: [
        { logIndex: 0, transactionIndex: 0, address: token, topics: [used, payer], data: '0x05' },
        { logIndex: 1, transactionIndex: 0, address: token, topics: [transfer, payer], data: '0x' },
      ],
      traces: [
        { transactionIndex: 0, traceAddress: [], type: 'call', error: null, action: callTo(other, '0x11111111') },
        { transactionIndex: 0, traceAddress: [0], type: 'call', error: null, action: callTo(other, '0x22222222') },
        { transactionIndex: 0, traceAddress: [0, 0], type: 'call', error: null, action: callTo(token, '0xe3ee160e') },
        { transactionIndex: 0, traceAddress: [1], type: 'create', error: 'out of gas', action: {} },
      ].map(({ action, ...trace }) => (trace.type === 'create' ? trace : { ...trace, action })),
    })
  })

  test.each([
    ['its ancestors', { callSighash: ['0xe3ee160e'], parents: true }, [[], [0], [0, 0]]],
    ['its descendants', { callSighash: ['0x22222222'], subtraces: true }, [[0], [0, 0]]],
    ['neither', { type: ['call'], callTo: [token] }, [[0, 0]]],
  ])('a call frame brings %s', async (_, traceRequest, found) => {
    const { lines } = await ask({
      ...range(5),
      fields: { trace: { traceAddress: true } },
      traces: [traceRequest],
    })
    expect(lines[0]?.traces.map((trace: Trace) => trace.traceAddress)).toEqual(found)
  })

  test('is compressed for a client that accepts gzip and plain for one that does not', async () => {
    const query = { ...range(5), fields: numbers }
    expect((await ask(query)).headers['content-encoding']).toBe('gzip')
    const plain = await ask(query, { encoding: 'identity' })
    expect(plain.headers['content-encoding']).toBeUndefined()
    expect(plain.lines).toEqual([{ header: { number: 5 } }])
  })

  test('above the newest block is 204, and goes on once the block exists', async () => {
    expect((await ask({ fromBlock: 30, fields: numbers })).status).toBe(204)
    source.append([block(30, false)])
    expect((await ask({ fromBlock: 30, fields: numbers })).lines).toEqual([{ header: { number: 30 } }])
  })

  test('answers 409 with the blocks below when the parent hash does not fit', async () => {
    const query = { ...range(7), fields: numbers }
    expect((await ask({ ...query, parentBlockHash: hash(6) })).status).toBe(200)
    const { status, text } = await ask({ ...query, parentBlockHash: hash(1) })
    expect(status).toBe(409)
    const { error, previousBlocks } = JSON.parse(text)
    expect(error.code).toBe('base_block_mismatch')
    expect(previousBlocks.at(-1)).toEqual({ number: 6, hash: hash(6) })
    expect(previousBlocks[0]).toEqual({ number: 0, hash: hash(0) })
  })

  test.each([
    ['an unknown field', { fields: { log: { colour: true } } }, 400, /colour/],
    ['an unknown request key', { logs: [{ topic4: [] }] }, 400, /topic4/],
    ['an unknown top-level key', { blocks: 'all' }, 400, /blocks/],
    ['another kind of chain', { type: 'solana' }, 400, /type/],
    ['a range that ends before it begins', { fromBlock: 9, toBlock: 8 }, 400, /toBlock is below/],
    ['more than a hundred requests', { logs: Array.from({ length: 101 }, () => ({})) }, 400, /at most 100/],
    ['a body above 256 KiB', { logs: [{ topic1: ['0x'.padEnd(300_000, '0')] }] }, 413, /longer than/],
  ])('refuses %s', async (_, query, status, reason) => {
    const answer = await ask({ fromBlock: 0, ...query })
    expect(answer.status).toBe(status)
    expect(answer.text).toMatch(reason)
  })

  test('refuses a body that is not JSON', async () => {
    expect((await send('POST', `${portal.url}/datasets/toy/stream`, { body: '{' })).status).toBe(400)
  })
})

test('blocks that are not final yet are in /stream alone', async () => {
  const hot = toySource()
  hot.append([block(30, false), block(31, false)], { final: false })
  const server = await startPortal({ datasets: { toy: hot }, noContentAfterMs: 20 })
  const body = { type: 'evm', fromBlock: 30, fields: numbers }
  const all = await send('POST', `${server.url}/datasets/toy/stream`, { body })
  expect(all.text).toBe('{"header":{"number":30}}\n{"header":{"number":31}}\n')
  expect(all.headers).toMatchObject({ 'x-sqd-head-number': '31', 'x-sqd-finalized-head-number': '29' })
  expect((await stream(server.url, body)).status).toBe(204)
  const metadata = await send('GET', `${server.url}/datasets/toy/metadata`)
  expect(JSON.parse(metadata.text).real_time).toBe(true)
  await server.stop()
})

test('a stream of a hundred thousand blocks waits for a slow reader and holds no more than a few pieces', async () => {
  const big = {
    ...source,
    finalizedHead: () => ({ number: 99_999, hash: hash(99_999) }),
    header: (number: number) => block(number, false).header,
    chunkEnd: () => 99_999,
    *blocks(from: number, to: number) {
      for (let number = from; number <= to; number++) {
        produced++
        yield block(number, true)
      }
    },
  }
  let produced = 0
  const server = await startPortal({ datasets: { toy: big } })
  const url = new URL(`${server.url}/datasets/toy/finalized-stream`)
  await new Promise<void>((resolve, reject) => {
    const req = request(url, { method: 'POST', agent: false }, (res) => {
      res.once('readable', () => {
        // Nothing is read on: the socket fills up, and the source must stop with it.
        let before = -1
        const timer = setInterval(() => {
          if (produced !== before) before = produced
          else {
            clearInterval(timer)
            req.destroy()
            resolve()
          }
        }, 200)
      })
    })
    req.on('error', reject)
    req.end(JSON.stringify({ type: 'evm', fromBlock: 0, fields: everyField, logs: [{}] }))
  })
  await server.stop()
  expect(produced).toBeGreaterThan(100)
  expect(produced).toBeLessThan(60_000)
})
