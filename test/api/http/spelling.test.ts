import { generateKeyPairSync } from 'node:crypto'
import { connect } from 'node:net'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { spellJson } from '../../../api/http/content.ts'
import { paceOf } from '../../../export/served/pace.ts'
import { serveRound } from '../../../export/served/round.ts'
import { startApi } from '../../support/api/api.ts'
import { type Claimant, type ClaimStage, eip191Claim, post, startClaimStage } from '../../support/api/claims.ts'
import { expectSpelled } from '../../support/api/spelling.ts'
import { exportFolder, proofTerms } from '../../support/exports.ts'
import { seedAgent } from '../../support/seed.ts'

let stage: ClaimStage
let claimant: Claimant
beforeAll(async () => {
  stage = await startClaimStage()
  claimant = await stage.claimant()
  await seedAgent(stage.database.pool, { fid: claimant.fid, claimMethod: 'eip191' })
})
afterAll(() => stage.stop())

test.each([
  ['{"fid" : 1099, "list" : [1, 2, \n {"a": null}]}', '{"fid":1099,"list":[1,2,{"a":null}]}\n'],
  ['{"id" : 115792089237316195423570985008687907853269984665640564039457, "usd" : 1.500000, "e": 1e3}', null],
  [JSON.stringify({ text: ' a : b, "c" : [1, 2]\\ \n\t', '" : ': '\\"', '\\': '\\\\', '': ', ' }), null],
  ['"é : “ü”, 𝒇 : "', null],
  ['{"a" : 1}\n{"b": "\\n"}\n', '{"a":1}\n{"b":"\\n"}\n'],
  ['[ ]', '[]\n'],
  [' null \r\n', 'null\n'],
  ['', ''],
])('%s is written without spaces, and with its digits and characters', (text, wanted) => {
  const spelled = spellJson(text).toString()
  expect(spelled).toBe(wanted ?? `${text.replaceAll(/("(?:[^"\\]|\\.)*")|\s/g, '$1')}\n`)
  expect(spellJson(spelled).toString()).toBe(spelled)
})

test('a GET, a refusal and a description have one spelling', async () => {
  const { fid } = claimant
  const found = [`/api/agent/${fid}`, '/api/discovery', '/api/stats', `/api/agent/${fid}/explain`]
  const described = ['/openapi.json', '/mcp/server-card', '/.well-known/ai-catalog.json', `/badge/${fid}.json`]
  for (const path of [...found, '/data/agents.json', ...described, '/api/agent/0', '/api/nothing']) {
    const answer = await stage.api.get(path)
    expect([path, answer.headers.get('content-type')]).toEqual([path, expect.stringContaining('json')])
    expectSpelled(await answer.text())
  }
  const problem = await stage.api.get('/api/agent/0', { headers: { accept: 'application/problem+json' } })
  expectSpelled(await problem.text())
})

test('what is sent has the length that is said, in every encoding', async () => {
  const decoded = { identity: (body: Buffer) => body, gzip: gunzipSync, br: brotliDecompressSync }
  for (const [encoding, decode] of Object.entries(decoded)) {
    const answer = await raw(
      `GET /api/agent/${claimant.fid} HTTP/1.1\r\nHost: api\r\nAccept-Encoding: ${encoding}\r\nConnection: close\r\n\r\n`,
    )
    expect(Number(/^content-length: (\d+)$/im.exec(answer.headers)?.[1])).toBe(answer.body.length)
    expectSpelled(decode(answer.body).toString())
  }
})

test('answers to a POST, refused or not, have the same spelling', async () => {
  const { fid, address } = claimant
  const claim = await eip191Claim(stage, claimant)
  for (const body of [claim, {}]) expectSpelled(await (await post(stage.api, body)).text())
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  expectSpelled(await (await stage.api.get('/api/claim', { method: 'POST', headers: form })).text())
  expectSpelled(await (await stage.api.get(`/api/claim/challenge?fid=${fid}&address=${address}`)).text())
  expectSpelled(await (await stage.api.get(`/api/agent/${fid}/refresh`, { method: 'POST' })).text())
})

test('so have answers of MCP, whichever revision is spoken', async () => {
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'get_stats' } }
  const newest = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'get_stats' }
  for (const [headers, body] of [
    [{}, JSON.stringify(call)],
    [newest, JSON.stringify(call)],
    [{}, '['],
    [{}, '[]'],
  ] as const) {
    const answer = await stage.api.get('/mcp', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
      body,
    })
    expectSpelled(await answer.text())
  }
})

test('so have the files of an export, the keys of answers, and what is signed with them', async () => {
  const { database } = stage
  const folder = await exportFolder()
  const baseUrl = 'https://api.agents.example'
  await serveRound({
    pool: database.pool,
    folder,
    pace: paceOf(10_000_000),
    installation: { registries: {}, baseUrl },
    terms: proofTerms(baseUrl),
    now: () => new Date(stage.clock.now),
    tell: () => {},
  })
  const { privateKey } = generateKeyPairSync('ed25519')
  const api = await startApi(database, { exportDir: folder, answerKeys: [privateKey] })
  onTestFinished(() => api.stop())
  const files = ['/exports/manifest.json', '/exports/datapackage.json']
  for (const path of [...files, '/.well-known/jwks.json', `/api/agent/${claimant.fid}?signed=1`]) {
    const answer = await api.get(path)
    expect([path, answer.status, answer.headers.get('content-type')]).toEqual([
      path,
      200,
      expect.stringContaining('js'),
    ])
    expectSpelled(await answer.text())
  }
})

test('so has what is no HTTP', async () => {
  expectSpelled((await raw('GET /api/stats HTTP/9\r\n\r\n')).body.toString())
})

/** Sends bytes as they are and reads until the server closes. */
function raw(text: string): Promise<{ headers: string; body: Buffer }> {
  const { hostname, port } = new URL(stage.api.url)
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = []
    const socket = connect(Number(port), hostname, () => socket.write(text))
    socket.on('data', (part) => parts.push(part))
    socket.on('error', reject)
    socket.on('close', () => {
      const answer = Buffer.concat(parts)
      const end = answer.indexOf('\r\n\r\n')
      resolve({ headers: answer.subarray(0, end).toString(), body: answer.subarray(end + 4) })
    })
  })
}
