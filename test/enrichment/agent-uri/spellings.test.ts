import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { parseForm } from '../../../enrichment/agent-uri/form.ts'
import { toListedRegistration } from '../../../enrichment/agent-uri/listed-registration.ts'
import { toRegistrationFile } from '../../../enrichment/agent-uri/registration-file.ts'

// Registration files as the world writes them, besides those in test/fixtures/documents: one row for each spelling.

const json = '{"name":"Ünï +/?"}'
const bytes = Buffer.from(json)
const base64 = (packed: Uint8Array) => Buffer.from(packed).toString('base64')

test.each<[string, string]>([
  ['json;encoding=brotli;base64', base64(brotliCompressSync(bytes))],
  ['json;compression=zlib;base64', base64(deflateSync(bytes))],
  ['json;base64', base64(deflateSync(bytes))],
  ['json;encoding=deflate;base64', base64(deflateRawSync(bytes))],
  ['json;enc=gzip', base64(gzipSync(bytes))],
  ['json', base64(bytes)],
  ['gzip;base64', base64(gzipSync(bytes))],
  ['json;encoding=utf-8', json],
  ['json;encoding="UTF8";base64', base64(bytes)],
  ['json;encoding=base64', base64(bytes)],
  ['json;enc=identity', base64(gzipSync(bytes))],
])('a data: URI that is marked application/%s is read', (type, text) => {
  const form = parseForm(`data:application/${type},${text}`)
  expect(form.kind === 'inline' && Buffer.from(form.bytes).toString()).toBe(json)
})

test('a document that is percent-encoded as a whole is read', () => {
  const form = parseForm(encodeURIComponent(json))
  expect(form.kind === 'inline' && Buffer.from(form.bytes).toString()).toBe(json)
})

const mcp = { name: 'MCP', endpoint: 'https://a.test/mcp', version: null }

test.each<[object, object]>([
  [{ services: [{ name: 'MCP', endpoint: { url: mcp.endpoint } }] }, { services: [mcp] }],
  [{ services: [{ label: 'MCP', href: mcp.endpoint }] }, { services: [mcp] }],
  [{ services: [{ serviceName: 'MCP', serviceUrl: mcp.endpoint }] }, { services: [mcp] }],
  [{ mcp_url: mcp.endpoint }, { services: [mcp] }],
  [
    { mcp: mcp.endpoint, x402: true },
    { services: [mcp], x402Support: true },
  ],
  [{ services: { MCP: [mcp.endpoint] } }, { services: [mcp] }],
  [{ properties: { name: 'n', services: [mcp] } }, { services: [mcp] }],
  [{ active: 1 }, { active: true }],
  [{ active: 'False' }, { active: false }],
  [{ supportsX402: 'true' }, { x402Support: true }],
  [{ image: { uri: 'ipfs://x' } }, { image: 'ipfs://x' }],
  [{ avatar: 'https://a.test/a.png' }, { image: 'https://a.test/a.png' }],
  [{ supportedTrust: { reputation: true, tee: false } }, { supportedTrust: ['reputation'] }],
  [{ supported_trust: 'reputation, tee' }, { supportedTrust: ['reputation', 'tee'] }],
])('a file with %j means what it says', (members, meant) => {
  const file = 'properties' in members ? members : { name: 'n', ...members }
  expect(toRegistrationFile(file)).toMatchObject({ name: 'n', ...meant })
})

const registry = '0x8004a169fb4a3325136eb29fa0ceb6d2e539a432'
const on = `eip155:8453:${registry}`

test.each<[unknown]>([
  [{ agentId: 'base:22', agentRegistry: registry }],
  [{ agentId: '8453#22', agentRegistry: registry }],
  [{ agentId: 'agent-22', agentRegistry: on }],
  [{ agentId: 'ERC8004-22', agentRegistry: on }],
  [{ agentId: 22, agentRegistry: registry, chain: { id: 8453, name: 'Base' } }],
  [{ agentId: 22, caip10: on }],
  [{ did: `did:erc8004:8453:${registry}:22` }],
  [`${on}#22`],
])('%j names registration 22 on Base', (entry) => {
  expect(toListedRegistration(entry)).toEqual({ registry: on, agentId: '22' })
})

test.each<[unknown]>([
  [{ agentId: 22, agentRegistry: registry }],
  [{ agentId: 22, agentRegistry: on, chainId: 1 }],
  [{ agentId: '22n', agentRegistry: on }],
  [{ agentId: 'agent', agentRegistry: on }],
  [{ agentId: 'solana:22', agentRegistry: registry }],
])('%j names none that is certain', (entry) => {
  expect(toListedRegistration(entry)).toBeUndefined()
})

test('registrations may be one, or a map of them by their chains', () => {
  const listed = (members: object) => toRegistrationFile({ name: 'n', ...members })?.registrations
  const meant = [{ registry: on, agentId: '22' }]
  expect(listed({ registrations: { agentId: 22, agentRegistry: on } })).toEqual(meant)
  expect(listed({ registration: { agentId: 22, agentRegistry: on } })).toEqual(meant)
  expect(listed({ registrations: { base: { agentId: 22, agentRegistry: registry } } })).toEqual(meant)
  expect(listed({ registrations: { base: 'soon' } })).toBeNull()
  expect(listed({})).toBeNull()
})
