import type { Hex } from 'viem'
import { describe, expect, onTestFinished, test } from 'vitest'
import { isAnswer } from '../../hosts/retries.ts'
import type { SettlingTransaction } from '../../processors/mapping/block.ts'
import type { FlatTrace } from '../../processors/mapping/trace-query.ts'
import { callsInArchive, callsInFrame, createTraceLookup } from '../../processors/mapping/traces.ts'
import { mayPass, RpcClient } from '../../processors/rpc-client.ts'
import { HttpTransport } from '../../processors/rpc-http.ts'
import { startAnsweringNode } from '../doubles/answering-node.ts'
import { addressFor, token } from './calls.ts'

const wallet = addressFor('wallet')
const implementation = addressFor('implementation')

describe('calls in a call tree', () => {
  const call = (to: string, input: string, more = {}) => ({ type: 'CALL', to, input, ...more })

  test('are those of every depth, outermost first, in lowercase', () => {
    const frame = call('0xAA', '0x01', {
      calls: [call('0xBB', '0x02', { calls: [call('0xCC', '0xAB')] }), call('0xDD', '0x03')],
    })
    expect(callsInFrame(frame)).toEqual([
      { to: '0xaa', input: '0x01' },
      { to: '0xbb', input: '0x02' },
      { to: '0xcc', input: '0xab' },
      { to: '0xdd', input: '0x03' },
    ])
  })

  test('without those that failed, and all that happened below them', () => {
    const undone = call('0xbb', '0x02', { error: 'execution reverted', calls: [call(token, '0x03')] })
    expect(callsInFrame(call('0xaa', '0x01', { calls: [undone] }))).toEqual([{ to: '0xaa', input: '0x01' }])
  })

  test('without what a proxy repeats, a static call asks, or a creation runs', () => {
    const types = ['DELEGATECALL', 'STATICCALL', 'CALLCODE', 'CREATE2', 'SELFDESTRUCT']
    const calls = types.map((type) => ({ type, to: implementation, input: '0x02' }))
    expect(callsInFrame(call(token, '0x02', { calls }))).toEqual([{ to: token, input: '0x02' }])
  })
})

describe('calls in an archive', () => {
  const trace = (
    traceAddress: number[],
    to: string,
    more: Partial<FlatTrace> & { callType?: string } = {},
  ): FlatTrace => {
    const { callType = 'call', ...rest } = more
    return { transactionIndex: 3, traceAddress, type: 'call', action: { callType, to, input: '0x02' }, ...rest }
  }

  test('are those that are not below a failed one', () => {
    const traces = [
      trace([], wallet),
      trace([0], '0xbb', { error: 'Reverted' }),
      trace([0, 1], token),
      trace([1], token),
      trace([1, 0], implementation, { callType: 'delegatecall' }),
    ]
    expect(callsInArchive(traces)).toEqual([
      { to: wallet, input: '0x02' },
      { to: token, input: '0x02' },
    ])
  })

  test('are none when the transaction itself failed', () => {
    expect(callsInArchive([trace([], wallet, { error: 'Reverted' }), trace([0], token)])).toEqual([])
  })
})

describe('the lookup', () => {
  const settling = (height: number) =>
    ({ block: { height }, transaction: { hash: '0x77', transactionIndex: 3 } }) as unknown as SettlingTransaction
  const frame = { type: 'CALL', to: token, input: '0x0a' }
  const refusal = new Error('the method debug_traceTransaction does not exist')
  const base = { tokens: new Set([token]), isRefusal: (error: unknown) => error === refusal, onRefusal: () => {} }

  test('asks the archive for the one block it needs, when the archive holds it', async () => {
    const queries: object[] = []
    const archive = {
      query: async (query: object) => {
        queries.push(query)
        const traces: FlatTrace[] = [2, 3].map((transactionIndex) => ({
          transactionIndex,
          traceAddress: [],
          type: 'call',
          action: { callType: 'call', to: token, input: `0x0${transactionIndex}` },
        }))
        return [{ header: { number: 500 }, traces }]
      },
    }
    const find = createTraceLookup({ ...base, archive, archiveHeight: () => 500 })
    expect(await find(settling(500))).toEqual([{ to: token, input: '0x03' }])
    expect(queries).toMatchObject([{ fromBlock: 500, toBlock: 500, traces: [{ callTo: [token], parents: true }] }])
  })

  test('asks the archive once for all transactions of a block, and only for calls that settle', async () => {
    const queries: { traces: object[] }[] = []
    const archive = {
      query: async (query: object) => {
        queries.push(query as (typeof queries)[number])
        const traces: FlatTrace[] = Array.from({ length: 40 }, (_, transactionIndex) => ({
          transactionIndex,
          traceAddress: [],
          type: 'call',
          action: { callType: 'call', to: token, input: `0x${transactionIndex}` },
        }))
        return [{ header: { number: 500 }, traces }]
      },
    }
    const find = createTraceLookup({ ...base, archive, archiveHeight: () => 500 })
    const of = (transactionIndex: number) =>
      ({ block: { height: 500 }, transaction: { hash: '0x77', transactionIndex } }) as unknown as SettlingTransaction
    const indexes = Array.from({ length: 40 }, (_, index) => index)
    expect(await Promise.all(indexes.map((index) => find(of(index))))).toEqual(
      indexes.map((index) => [{ to: token, input: `0x${index}` }]),
    )
    expect(queries).toHaveLength(1)
    const callSighash = ['0xe3ee160e', '0xef55bec6', '0xcf092995', '0x88b7ab63']
    expect(queries[0]?.traces).toEqual([{ type: ['call'], callTo: [token], callSighash, parents: true }])
  })

  test('asks the archive once for blocks that are near each other, on behind what an answer ends with', async () => {
    const queries: { fromBlock: number; toBlock: number }[] = []
    const archive = {
      async query(query: object) {
        const { fromBlock, toBlock } = query as (typeof queries)[number]
        queries.push({ fromBlock, toBlock })
        // Answers end before every 50th block, and hold the blocks with calls and the last one.
        const end = Math.min(toBlock, fromBlock - (fromBlock % 50) + 49)
        const action = { callType: 'call', to: token, input: '0x0a' }
        const traces: FlatTrace[] = [{ transactionIndex: 3, traceAddress: [], type: 'call', action }]
        const blocks = Array.from({ length: end - fromBlock + 1 }, (_, at) => ({ header: { number: fromBlock + at } }))
        return blocks.flatMap((block) => {
          if (block.header.number % 10 === 0) return [{ ...block, traces }]
          return block.header.number === end ? [block] : []
        })
      },
    }
    const find = createTraceLookup({ ...base, archive, archiveHeight: () => 2_000 })
    const heights = [100, 130, 190, 190, 1_000, 1_064]
    expect(await Promise.all(heights.map((height) => find(settling(height))))).toEqual(
      heights.map((height) => (height === 1_064 ? undefined : [{ to: token, input: '0x0a' }])),
    )
    expect(queries.toSorted((a, b) => a.fromBlock - b.fromBlock)).toEqual([
      { fromBlock: 100, toBlock: 190 },
      { fromBlock: 150, toBlock: 190 },
      { fromBlock: 1_000, toBlock: 1_064 },
      { fromBlock: 1_050, toBlock: 1_064 },
    ])
  })

  test('asks a node for several at once, and alone for what it does not give so', async () => {
    const requests: number[] = []
    const missing = new Set(['0x5'])
    const answerOf = (hash: unknown) => (missing.delete(String(hash)) ? null : frame)
    const node = {
      async call(_: string, [hash]: unknown[]) {
        requests.push(1)
        return answerOf(hash)
      },
      async batchCall(calls: readonly { params: unknown[] }[]) {
        requests.push(calls.length)
        if (calls.length === 4) throw refusal
        return calls.map(({ params }) => answerOf(params[0]))
      },
    }
    const find = createTraceLookup({ ...base, node, onRefusal: () => expect.unreachable() })
    const of = (hash: string) =>
      ({ block: { height: 500 }, transaction: { hash, transactionIndex: 3 } }) as unknown as SettlingTransaction
    const all = (count: number) => Promise.all(Array.from({ length: count }, (_, n) => find(of(`0x${n}`))))
    expect(await all(20)).toEqual(Array.from({ length: 20 }, () => [{ to: token, input: '0x0a' }]))
    expect(requests).toEqual([16, 1, 4, 1, 1, 1, 1])
  })

  test('asks the node for what the archive does not hold yet', async () => {
    const asked: unknown[] = []
    const node = {
      call: async (method: string, params: unknown[]) => {
        asked.push([method, params[0] as Hex])
        return frame
      },
    }
    const archive = { query: async () => Promise.reject(new Error('not for this block')) }
    const find = createTraceLookup({ ...base, archive, archiveHeight: () => 499, node })
    expect(await find(settling(500))).toEqual([{ to: token, input: '0x0a' }])
    expect(asked).toEqual([['debug_traceTransaction', '0x77']])
  })

  test('knows nothing when nobody can be asked, or the node refuses, and says so', async () => {
    expect(await createTraceLookup(base)(settling(500))).toBeUndefined()
    const said: string[] = []
    const node = { call: async () => Promise.reject(refusal) }
    const onRefusal = (txHash: string, error: Error) => said.push(`${txHash} ${error.message}`)
    expect(await createTraceLookup({ ...base, node, onRefusal })(settling(500))).toBeUndefined()
    expect(said).toEqual([`0x77 ${refusal.message}`])
  })

  test('asks the node for what the archive left out', async () => {
    const archive = { query: async () => [{ header: { number: 500 }, traces: [] }] }
    const node = { call: async () => frame }
    const find = createTraceLookup({ ...base, archive, archiveHeight: () => 500, node })
    expect(await find(settling(500))).toEqual([{ to: token, input: '0x0a' }])
    const said: string[] = []
    const onRefusal = (_: string, error: Error) => said.push(error.message)
    expect(
      await createTraceLookup({ ...base, archive, archiveHeight: () => 500, onRefusal })(settling(500)),
    ).toBeUndefined()
    expect(said).toEqual(['the archive does not have it'])
  })

  test('asks a node again that does not have the transaction yet', async () => {
    const answers = [null, refusal, { failed: false, structLogs: [] }, { ...frame, to: wallet }, frame]
    const node = { call: async () => answerWith(answers.shift()) }
    const onRefusal = () => expect.unreachable()
    const find = createTraceLookup({ ...base, node, onRefusal })
    expect(await find(settling(500))).toEqual([{ to: token, input: '0x0a' }])
  })

  test('asks a node once that has never given a trace, and often one that has', async () => {
    const answers = [...Array(8).fill(refusal), null, frame, null, null, frame]
    const node = { call: async () => answerWith(answers.shift()) }
    const find = createTraceLookup({ ...base, node })
    expect(await find(settling(500))).toBeUndefined()
    expect(answers.length).toBe(5)
    expect(await find(settling(500))).toBeUndefined()
    expect(await find(settling(500))).toHaveLength(1)
    expect(await find(settling(500))).toHaveLength(1)
    expect(answers).toEqual([])
  })

  const internalError = { error: { code: -32603, message: 'internal error' } }
  async function nodeThatRefuses(times: number) {
    const server = await startAnsweringNode((_, __, time) => (time <= times ? internalError : { result: frame }))
    onTestFinished(() => server.stop())
    return { server, node: new RpcClient(new HttpTransport(server.url), { batch: 1 }) }
  }

  test('waits for what may pass for minutes, and says so once; a guess would stay', { timeout: 30_000 }, async () => {
    const { node, server } = await nodeThatRefuses(10)
    const waits: string[] = []
    const onWait = (txHash: string, { message }: Error) => waits.push(`${txHash} ${message}`)
    const onRefusal = () => expect.unreachable()
    const find = createTraceLookup({ ...base, isRefusal: isAnswer, mayPass, node, onWait, onRefusal })
    expect(await find(settling(500))).toEqual([{ to: token, input: '0x0a' }])
    expect(server.asked).toHaveLength(11)
    expect(waits).toEqual(['0x77 internal error (-32603)'])
  })

  test('infers what does not pass in that time, and then asks once until a trace comes', {
    timeout: 30_000,
  }, async () => {
    const { node, server } = await nodeThatRefuses(Infinity)
    const told: string[] = []
    const onRefusal = (txHash: string) => told.push(txHash)
    const find = createTraceLookup({ ...base, isRefusal: isAnswer, mayPass, node, onRefusal, waitMs: 3_500 })
    expect(await find(settling(500))).toBeUndefined()
    const asked = server.asked.length
    expect(asked).toBeGreaterThan(8)
    expect(await find(settling(501))).toBeUndefined()
    expect(server.asked.length).toBe(asked + 1)
    expect(told).toEqual(['0x77', '0x77'])
  })

  test('fails when the node does, so that no selector is guessed because of a broken line', async () => {
    const node = { call: async () => Promise.reject(new Error('socket hang up')) }
    await expect(createTraceLookup({ ...base, node })(settling(500))).rejects.toThrow('socket hang up')
  })
})

async function answerWith(answer: unknown) {
  if (answer instanceof Error) throw answer
  return answer
}
