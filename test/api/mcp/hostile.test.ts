import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTools } from '../../../api/mcp/tools.ts'
import { errorBody } from '../../../api/schemas/error.ts'
import { mcpLimits } from '../../../config/limits.protocols.ts'
import { startApi, type TestApi } from '../../support/api/api.ts'
import { testDatabase } from '../../support/database.ts'
import { rounds } from '../../support/rounds.ts'
import { addressOf, seedAgent, seedHolding, seedRegistration } from '../../support/seed.ts'

const database = testDatabase()
let api: TestApi
beforeAll(async () => {
  await seedAgent(database.pool, { fid: 1, addresses: [addressOf('one')], claimMethod: 'jfs' })
  api = await startApi(database)
})
afterAll(() => api.stop())

interface Message {
  readonly jsonrpc?: unknown
  readonly id?: unknown
  readonly method?: unknown
  readonly params?: unknown
}

interface Reply {
  readonly result?: { readonly isError?: boolean; readonly content?: { readonly text: string }[] }
  readonly error?: { readonly code: number; readonly message: string }
}

const envelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
}

/** Posts a message, with the headers that repeat its method and name; `reply`: the parsed body, {} for an empty one. */
async function send(message: Message, to = api) {
  const { name, uri } = (message.params ?? {}) as { name?: unknown; uri?: unknown }
  const named = [name, uri].find((text) => typeof text === 'string' && /^[\x21-\x7e]+$/.test(text)) as
    | string
    | undefined
  const method =
    typeof message.method === 'string' && /^[\x21-\x7e]+$/.test(message.method) ? message.method : undefined
  const response = await to.get('/mcp', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      ...(method !== undefined && { 'mcp-method': method }),
      ...(named !== undefined && { 'mcp-name': named }),
    },
    body: JSON.stringify(message),
  })
  const text = await response.text()
  return { status: response.status, reply: (text === '' ? {} : JSON.parse(text)) as Reply }
}
const call = (name: string, args: unknown) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { _meta: envelope, name, arguments: args },
})
const read = (uri: string) => ({ jsonrpc: '2.0', id: 1, method: 'resources/read', params: { _meta: envelope, uri } })

const value = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom<unknown>('1', 1, '0', -1, 1e300, addressOf('one'), 'Base', ['Base', 'x'], true, ''),
  fc.constantFrom<unknown>({ toString: 1 }, [{ toString: 1 }], { __proto__: 1 }, ['\u0000'], '\ud800'),
)
const names = createTools().map(({ name, input }) => {
  const { properties } = input['~standard'].jsonSchema.input({ target: 'draft-2020-12' }) as { properties: object }
  return { name, parameters: [...Object.keys(properties), 'constructor', '__proto__', 'x'] }
})
const calls = fc
  .constantFrom(...names)
  .chain(({ name, parameters }) =>
    fc
      .dictionary(fc.constantFrom(...parameters), value, { maxKeys: 4, noNullPrototype: true })
      .map((args) => call(name, args)),
  )
const reads = fc
  .tuple(
    fc.constantFrom('agent://', 'address://', 'settlement://base/', 'x:'),
    fc.oneof(fc.string(), fc.constantFrom('1', '0', 'x')),
  )
  .map(([scheme, rest]) => read(scheme + rest))
const nonsense = fc.record(
  {
    jsonrpc: fc.constantFrom('2.0', 1),
    id: value,
    method: fc.constantFrom('tools/call', 'initialize', 'x', 1),
    params: value,
  },
  { requiredKeys: [] },
)

test('whatever is asked, the answer is one of the protocol, and says no more than a route would', {
  tags: ['rounds'],
}, async () => {
  let served = 0
  await fc.assert(
    fc.asyncProperty(fc.oneof({ weight: 6, arbitrary: calls }, reads, nonsense), async (message) => {
      const { status, reply } = await send(message)
      expect(status).toBeLessThan(500)
      if (reply.error) expect([reply.error.code === -32_603, reply.error.message]).toEqual([false, expect.any(String)])
      const { isError, content } = reply.result ?? {}
      if (!content) return
      const told = JSON.parse(content[0]?.text ?? '')
      if (!isError) served++
      else expect(errorBody.parse(told).error).not.toBe('ERR_INTERNAL')
    }),
    { numRuns: rounds(300, 600) },
  )
  expect(served).toBeGreaterThan(10)
})

test('of trouble on our side a client learns that there is some, and nothing else', async () => {
  const query = () => Promise.reject(Object.assign(new Error('password of postgres@10.0.0.1'), { code: '57P01' }))
  const broken = await startApi(database, { database: { query } as never })
  for (const message of [call('get_stats', {}), read('agent://1')]) {
    const { reply } = await send(message, broken)
    expect(JSON.stringify(reply)).toContain('ERR_INTERNAL')
    expect(JSON.stringify(reply)).not.toContain('postgres')
  }
  await broken.stop()
})

test('an answer that no model can read is refused, with what would be less', async () => {
  const { pool } = database
  const address = addressOf('long')
  await seedAgent(pool, { fid: 2, addresses: [address] })
  const uri = `https://a.example/${'x'.repeat(8_000)}`
  for (let id = 1; id <= mcpLimits.answerBytes / 8_000 + 1; id++) {
    await seedRegistration(pool, { chain: 'base', id, owner: address, uri })
    await seedHolding(pool, { fid: 2, chain: 'base', id, by: address })
  }
  const long = (await send(call('get_agent', { fid: 2 }))).reply.result
  expect(long?.isError).toBe(true)
  expect(JSON.parse(long?.content?.[0]?.text ?? '')).toMatchObject({ error: 'ERR_PAYLOAD_INVALID' })
  const short = (await send(call('get_agent', { fid: 2, fields: 'handle' }))).reply.result
  expect(short?.isError ?? false).toBe(false)
})

test('an argument that no schema names may be of anything: it is no error of ours', async () => {
  const depth = 20_000
  const nested = `${'['.repeat(depth)}${']'.repeat(depth)}`
  const response = await api.get('/mcp', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': createTools()[0]?.name ?? '',
    },
    body: JSON.stringify(call(createTools()[0]?.name ?? '', { x: 'nested' })).replace('"nested"', nested),
  })
  expect(await response.text()).not.toContain('ERR_INTERNAL')
})
