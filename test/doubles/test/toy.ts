import { request } from 'node:http'
import { createGunzip } from 'node:zlib'
import type { Block } from '../portal/blocks.ts'
import { memorySource } from '../portal/memory-source.ts'

export const token = `0x${'70'.repeat(20)}`
export const other = `0x${'71'.repeat(20)}`
export const used = `0x${'a1'.repeat(32)}`
export const transfer = `0x${'a2'.repeat(32)}`
export const payer = `0x${'0b'.repeat(32)}`

/** Blocks 0 to 29, of which 5, 6, 12 and 25 hold items; a chunk is ten blocks. */
export function toySource() {
  const blocks = Array.from({ length: 30 }, (_, number) => block(number, [5, 6, 12, 25].includes(number)))
  return memorySource({ blocks, chunkBlocks: 10 })
}

export const numbers = { block: { number: true } }
export const range = (number: number) => ({ fromBlock: number, toBlock: number })
export const everyField = {
  block: { number: true, hash: true, parentHash: true, timestamp: true },
  transaction: { transactionIndex: true, hash: true, from: true, to: true, input: true, status: true },
  log: { logIndex: true, transactionIndex: true, address: true, topics: true, data: true },
  trace: { transactionIndex: true, traceAddress: true, type: true, error: true, callTo: true, callSighash: true },
}

export function hash(number: number): string {
  return `0x${number.toString(16).padStart(64, '0')}`
}

/** A block with two transactions, three logs and four frames, or an empty one. */
export function block(number: number, full: boolean): Block {
  const header = { number, hash: hash(number), parentHash: hash(number - 1), timestamp: 1_700_000_000 + number }
  if (!full) return { header, transactions: [], logs: [], traces: [] }
  const data = `0x${number.toString(16).padStart(2, '0')}`
  const of = { transactionIndex: 0, transactionHash: hash(number * 100) }
  const frame = {
    transactionIndex: 0,
    type: 'call' as const,
    subtraces: 0,
    error: null,
    revertReason: null,
    result: null,
  }
  return {
    header,
    transactions: [
      {
        transactionIndex: 0,
        hash: hash(number * 100),
        from: other,
        to: token,
        input: `0xe3ee160e${data.slice(2)}`,
        sighash: '0xe3ee160e',
        status: 1,
      },
      {
        transactionIndex: 1,
        hash: hash(number * 100 + 1),
        from: other,
        to: other,
        input: '0x',
        sighash: '0x',
        status: 0,
      },
    ],
    logs: [
      { ...of, logIndex: 0, address: token, topics: [used, payer], data },
      { ...of, logIndex: 1, address: token, topics: [transfer, payer], data: '0x' },
      {
        transactionIndex: 1,
        transactionHash: hash(number * 100 + 1),
        logIndex: 2,
        address: other,
        topics: [],
        data: '0x',
      },
    ],
    traces: [
      { ...frame, traceAddress: [], action: { to: other, sighash: '0x11111111' } },
      { ...frame, traceAddress: [0], action: { to: other, sighash: '0x22222222' } },
      { ...frame, traceAddress: [0, 0], action: { to: token, sighash: '0xe3ee160e' } },
      { ...frame, traceAddress: [1], type: 'create', error: 'out of gas', action: { from: other } },
    ],
  }
}

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  /** Body, decompressed as far as it goes. */
  readonly text: string
  readonly error?: NodeJS.ErrnoException
}

interface SendOptions {
  /** Sent as it is when a string, as JSON otherwise. */
  readonly body?: unknown
  readonly encoding?: 'gzip' | 'identity'
  /** The connection is given up this long after the answer began. */
  readonly timeoutMs?: number
}

/** One request on a connection of its own. Never rejects: a broken answer is what came, with the error. */
export function send(method: string, url: string, options: SendOptions = {}): Promise<Answer> {
  const { body, encoding = 'gzip', timeoutMs } = options
  return new Promise((resolve) => {
    const req = request(url, { method, headers: { 'accept-encoding': encoding }, agent: false }, (res) => {
      let text = ''
      const done = (error?: Error) => {
        clearTimeout(timer)
        resolve({ status: res.statusCode ?? 0, headers: res.headers, text, error })
      }
      const timer = timeoutMs ? setTimeout(() => req.destroy(), timeoutMs) : undefined
      const plain = res.headers['content-encoding'] === 'gzip' ? res.pipe(createGunzip()) : res
      plain.on('data', (piece: Buffer) => {
        text += piece
      })
      plain.on('end', () => done())
      plain.on('error', done)
      res.on('error', done)
    })
    req.on('error', (error) => resolve({ status: 0, headers: {}, text: '', error }))
    req.end(body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body))
  })
}

/** Asks the finalized stream of the dataset `toy`; reading `lines` throws when they are not all JSON. */
export async function stream(portalUrl: string, query: object, options: Omit<SendOptions, 'body'> = {}) {
  const body = { type: 'evm', ...query }
  const answer = await send('POST', `${portalUrl}/datasets/toy/finalized-stream`, { ...options, body })
  return {
    ...answer,
    get lines() {
      return parseLines(answer.text)
    },
  }
}

// biome-ignore lint/suspicious/noExplicitAny: lines are whatever the query asked for
export function parseLines(text: string): any[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}
