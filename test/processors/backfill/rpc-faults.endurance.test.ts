import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { addressFor } from '../calls.ts'
import type { NodeLimits } from './limited-node.ts'
import { type RpcStage, startRpcStage } from './rpc-stage.ts'

let stage: RpcStage
beforeAll(async () => {
  stage = await startRpcStage()
})
afterEach(() => stage.calm())
afterAll(() => stage?.end())

const lies = (times: number, alter: NonNullable<NodeLimits['alter']>): NodeLimits => {
  let left = times
  return {
    alter(question, reply) {
      const altered = left > 0 ? alter(question, reply) : reply
      if (altered !== reply) left--
      return altered
    },
  }
}

const tooMany = { status: 429, body: 'slow down', retryAfterSeconds: 0 }
const busy = { status: 503, body: 'busy' }
const tooWide = { status: 400, body: '{"id":1,"error":{"code":-32602,"message":"block range is too wide"}}' }

test.each<[string, () => NodeLimits]>([
  ['takes few blocks at a time', () => ({ blocks: 90 })],
  ['answers few logs at a time', () => ({ logs: 8 })],
  ['takes few calls at a time', () => ({ batch: 3 })],
  ['takes no batches', () => ({ batch: 1 })],
  ['limits the rate, with status 429', () => ({ fails: (request) => request % 3 === 0, failure: tooMany })],
  ['limits the rate of calls, in a batch too', () => ({ fails: (_, calls) => calls > 7, failure: tooMany })],
  ['limits the rate, inside of its answers', () => ({ fails: (request) => request % 9 === 2 })],
  ['is overloaded', () => ({ fails: (request) => request % 5 === 1, failure: busy })],
  ['is overloaded and takes no batches', () => ({ batch: 1, fails: (request) => request % 5 === 1, failure: busy })],
  ['answers no JSON', () => ({ fails: (request) => request % 5 === 1, failure: { status: 200, body: '<html>' } })],
  ['cuts connections', () => ({ fails: (request) => request % 5 === 1, failure: 'cut' })],
  ['refuses a long range with status 400', () => ({ blocks: 90, refusal: tooWide })],
  ['refuses a long answer with status 413', () => ({ logs: 8, refusal: { status: 413, body: '' } })],
  [
    'has not all the logs yet, nor the last block',
    () => {
      // Both requests of one batch go to the node that is behind.
      let behind = 2
      return {
        alter({ method, params }, reply) {
          if (behind === 0) return reply
          if (method === 'eth_getLogs') return { id: reply.id, result: [] }
          if (method !== 'eth_getBlockByNumber' || params[0] === '0x0') return reply
          behind--
          return { id: reply.id, result: null }
        },
      }
    },
  ],
  [
    'has no receipt yet',
    () =>
      lies(2, ({ method }, reply) => (method === 'eth_getTransactionReceipt' ? { id: reply.id, result: null } : reply)),
  ],
  [
    'leaves a log out of a receipt',
    () =>
      lies(2, ({ method }, reply) => {
        if (method !== 'eth_getTransactionReceipt') return reply
        const receipt = reply.result as { logs: unknown[] }
        return { id: reply.id, result: { ...receipt, logs: receipt.logs.slice(1) } }
      }),
  ],
  [
    'leaves a log out of the search',
    () =>
      lies(2, ({ method }, reply) => {
        if (method !== 'eth_getLogs') return reply
        const logs = reply.result as { transactionHash: string }[]
        const second = logs.findIndex(({ transactionHash }, at) => transactionHash === logs[at - 1]?.transactionHash)
        return second < 0 ? reply : { id: reply.id, result: logs.toSpliced(second, 1) }
      }),
  ],
  [
    'numbers the logs of a receipt alike',
    () =>
      lies(2, ({ method }, reply) => {
        if (method !== 'eth_getTransactionReceipt') return reply
        const receipt = reply.result as { logs: object[] }
        return { id: reply.id, result: { ...receipt, logs: receipt.logs.map((log) => ({ ...log, logIndex: '0x0' })) } }
      }),
  ],
  [
    'says of the logs of a receipt that they were removed, until it gives others',
    () =>
      lies(2, ({ method }, reply) => {
        if (method !== 'eth_getTransactionReceipt') return reply
        const receipt = reply.result as { logs: object[] }
        const to = `0x${'ab'.repeat(32)}`
        const logs = receipt.logs.map((log) => {
          const { topics } = log as { topics: string[] }
          return { ...log, removed: true, topics: topics.length === 3 ? [topics[0], topics[1], to] : topics }
        })
        return { id: reply.id, result: { ...receipt, logs } }
      }),
  ],
  [
    'gives a receipt and its logs to another transaction of the block',
    () =>
      lies(2, ({ method }, reply) => {
        if (method !== 'eth_getTransactionReceipt') return reply
        const receipt = reply.result as { logs: object[] }
        const transactionIndex = '0x7'
        const logs = receipt.logs.map((log) => ({ ...log, transactionIndex }))
        return { id: reply.id, result: { ...receipt, transactionIndex, logs } }
      }),
  ],
  [
    'knows a transaction in another block',
    () =>
      lies(2, ({ method }, reply) => {
        if (method !== 'eth_getTransactionByHash') return reply
        const elsewhere = { blockHash: `0x${'ab'.repeat(32)}`, from: addressFor('somebody else') }
        return { id: reply.id, result: { ...(reply.result as object), ...elsewhere } }
      }),
  ],
])('an endpoint that %s gives the same rows', async (_, limits) => {
  const truth = await stage.certify()
  expect(truth.settlements).toBe(stage.expected.settlement.length)
  stage.node.limits = limits()
  expect(await stage.certify()).toEqual(truth)
})

test('an endpoint without traces lets selectors be inferred, and is told of once', async () => {
  stage.node.limits = {
    alter: ({ id, method }, reply) =>
      method === 'debug_traceTransaction' ? { id, error: { code: -32601, message: 'the method is not there' } } : reply,
  }
  const warnings: string[] = []
  const { settlements } = await stage.certify((text) => warnings.push(text))
  const unpaid = stage.expected.unpaid_authorization.length
  expect(settlements).toBeGreaterThanOrEqual(stage.expected.settlement.length)
  expect(settlements).toBeLessThanOrEqual(stage.expected.settlement.length + unpaid)
  expect(warnings).toEqual([
    expect.stringMatching(
      /^no trace of 0x\w{64}, selector inferred: .* the method is not there \(-32601\); .* not told of$/,
    ),
  ])
})
