import { Agent, request } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MemoryStore } from '../../../api/limits/memory-store.ts'
import { withoutHiddenText } from '../../../api/mcp/server.ts'
import { startApi, type TestApi } from '../../support/api/api.ts'
import { testDatabase } from '../../support/database.ts'

const database = testDatabase()
let api: TestApi
beforeAll(async () => {
  api = await startApi(database)
})
afterAll(() => api.stop())

test('nothing that is drawn as nothing reaches a model, but the joiners inside an emoji', () => {
  const family = '\u{1f469}\u{1f3fd}\u200d\u{1f680} \u{1f3f3}\ufe0f\u200d\u{1f308}'
  const shown = withoutHiddenText(`"${family}"`)
  expect(shown).toBe('"\u{1f469}\u{1f3fd}\u200d\u{1f680} \u{1f3f3}\u200d\u{1f308}"')
  const everything = Array.from({ length: 0x110000 }, (_, point) => point)
    .filter((point) => point < 0xd800 || point > 0xdfff)
    .map((point) => String.fromCodePoint(point))
  const ignorable = everything.filter((character) => /\p{Default_Ignorable_Code_Point}/u.test(character))
  expect(ignorable.length).toBeGreaterThan(4_000)
  const blank = ['\u2800', '\ufff9', '\ufffa', '\ufffb', '\u200b', '\u3164', '\u00ad']
  expect(withoutHiddenText(`a${[...ignorable, ...blank].join('')}b`)).toBe('ab')
  expect(withoutHiddenText('a\u200db \u{1f600}\u200d\u200d\u{1f600} \u{1f600}\u200d')).toBe(
    'ab \u{1f600}\u{1f600} \u{1f600}',
  )
})

describe('a client of a revision before 2026-07-28', () => {
  const initialize = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  }
  test.each([
    ['*/*', 'application/json', '/mcp'],
    ['', 'application/json', '/mcp'],
    ['application/json', 'application/json', '/mcp'],
    ['application/*, text/html', 'application/json', '/mcp/'],
    ['text/event-stream', 'text/event-stream', '/mcp'],
    ['application/json, text/event-stream', 'text/event-stream', '/mcp/'],
  ])('that accepts %j is answered with %s', async (accept, type, path) => {
    for (const asked of [
      initialize,
      { jsonrpc: '2.0', id: 'two', method: 'tools/call', params: { name: 'get_stats' } },
    ]) {
      const answer = await posted(path, accept, asked)
      expect([answer.status, answer.type]).toEqual([200, type])
      const [, json = answer.text] = /^data: (.*)$/m.exec(answer.text) ?? []
      expect(JSON.parse(json)).toMatchObject({ jsonrpc: '2.0', id: asked.id, result: expect.anything() })
    }
  })

  test('that accepts neither is told so', async () => {
    expect((await posted('/mcp', 'text/html', initialize)).status).toBe(406)
    expect((await api.get('/mcp/x')).status).toBe(404)
  })
})

/** Posts with no header but these: fetch would send an Accept of its own. `accept` empty: none is sent. */
function posted(path: string, accept: string, body: object): Promise<{ status?: number; type?: string; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', ...(accept !== '' && { accept }) }
    const sent = request(api.url + path, { method: 'POST', headers }, (answer) => {
      let text = ''
      answer.setEncoding('utf8')
      answer.on('data', (chunk) => {
        text += chunk
      })
      answer.on('end', () => resolve({ status: answer.statusCode, type: answer.headers['content-type'], text }))
    })
    sent.on('error', reject)
    sent.end(JSON.stringify(body))
  })
}

test('a refused call is answered as its tool would answer, without a server made for it', async () => {
  const limits = { perMinute: 1, perDay: 1_000 }
  const limited = await startApi(database, {
    limiter: { limits, store: new MemoryStore(limits, Date.now), now: Date.now },
  })
  const ask = () =>
    limited.get('/mcp', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'get_stats' } }),
    })
  await ask()
  const answer = await ask()
  expect(answer.headers.get('content-type')).toContain('application/json')
  const { id, result } = (await answer.json()) as {
    id: number
    result: { isError: boolean; content: { text: string }[] }
  }
  expect([answer.status, id, result.isError, JSON.parse(result.content[0]?.text ?? '').error]).toEqual([
    200,
    7,
    true,
    'ERR_RATE_LIMIT',
  ])
  const metrics = await (await limited.get('/metrics')).text()
  expect(metrics).toContain('agent_directory_http_errors_total{code="ERR_RATE_LIMIT"} 1')
  await limited.stop()
})

test('a refused call costs at most twice what another refusal costs', async () => {
  const limits = { perMinute: 1, perDay: 1_000 }
  const limited = await startApi(database, {
    limiter: { limits, store: new MemoryStore(limits, Date.now), now: Date.now },
  })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const ask = (path: string, body: string) =>
    new Promise<void>((resolve, reject) => {
      const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
      const sent = request(limited.url + path, { agent, method: 'POST', headers }, (answer) => {
        answer.resume().once('end', resolve)
      })
      sent.once('error', reject).end(body)
    })
  /** Time of the processor that a request takes, its client's included: that of others does not count. */
  const cost = async (path: string, body: object) => {
    const before = process.cpuUsage()
    for (let n = 0; n < 200; n++) await ask(path, JSON.stringify(body))
    const { user, system } = process.cpuUsage(before)
    return user + system
  }
  const call = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'get_stats' } }
  await cost('/mcp', call)
  const claims: number[] = []
  const calls: number[] = []
  for (let round = 0; round < 5; round++) {
    claims.push(await cost('/api/claim', { method: 'eip191' }))
    calls.push(await cost('/mcp', call))
  }
  expect(Math.min(...calls) / Math.min(...claims)).toBeLessThan(2)
  agent.destroy()
  await limited.stop()
})
