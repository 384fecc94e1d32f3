import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { chains } from '../../../config/chains.ts'
import { parseForm } from '../../../enrichment/agent-uri/form.ts'
import { toListedRegistration } from '../../../enrichment/agent-uri/listed-registration.ts'
import { toRegistrationFile } from '../../../enrichment/agent-uri/registration-file.ts'
import { registryOf } from '../../../enrichment/networks.ts'
import { referenceIn } from '../../../enrichment/specs/back-reference.ts'
import { fixture, readFixture } from '../../support/fixture.ts'

const registry = chains.base.registry.address
const onBase = (agentId: string) => ({ registry: registryOf(chains.base), agentId })
const service = (name: string, endpoint: string, declared?: object) => ({
  name,
  endpoint,
  version: null,
  ...(declared && { declared }),
})

test.each([
  [
    'reg__01-serviceType',
    {
      services: [service('MCP', 'https://shop.test/mcp'), service('ENS', 'bot.eth')],
      registrations: [{ registry: registryOf(chains.ethereum), agentId: '22605' }],
    },
  ],
  ['reg__02-bare-registry-chainId', { registrations: [onBase('1492')] }],
  [
    'reg__04-flat-endpoints',
    {
      services: [
        service('MCP', 'https://shop.test/mcp', { tools: ['a', 'b'] }),
        service('A2A', 'https://shop.test/.well-known/agent-card.json', { skills: ['s'] }),
      ],
    },
  ],
  [
    'reg__05-oasf-skills',
    {
      services: [
        service('MCP', 'https://shop.test/mcp', { tools: ['data_analysis'] }),
        {
          ...service('OASF', 'https://github.com/agntcy/oasf/', {
            skills: ['natural_language_processing/summarization'],
            domains: ['finance_and_business/finance'],
          }),
          version: 'v0.8.0',
        },
      ],
    },
  ],
  ['reg__07-wrapped', { name: 'Wrapped', services: [service('web', 'https://shop.test')] }],
  ['reg__09-active-string', { active: true, x402Support: true, image: 'https://shop.test/a.png' }],
  ['reg__10-token-entries', { registrations: [onBase('57008')] }],
  [
    'reg__11-kind-url',
    {
      services: [service('api', 'https://shop.test'), service('mcp', 'https://shop.test/mcp')],
      supportedTrust: ['reputation'],
      registrations: [onBase('1')],
    },
  ],
])('the registration file %s is read as it means', (name, file) => {
  expect(toRegistrationFile(fixture(`documents/${name}.json`))).toMatchObject(file)
})

test('files of the same kinds are read, however they are spelt', () => {
  const read = (value: unknown) => toRegistrationFile(value)
  expect(read({ data: { agent_name: 1, name: 'In', active: 'FALSE' }, registrations: [] })).toMatchObject({
    name: 'In',
    active: false,
  })
  expect(read({ name: 'x', mcp_endpoint: 'https://a.test/mcp', webEndpoint: 'https://a.test' })?.services).toEqual([
    service('MCP', 'https://a.test/mcp'),
    service('web', 'https://a.test'),
  ])
  const mcp = { name: 'MCP', endpoint: 'https://a.test/mcp' }
  expect(read({ services: [mcp], mcpTools: [{ name: 'add' }], mcpPrompts: 'a, b' })?.services).toEqual([
    service('MCP', 'https://a.test/mcp', { tools: ['add'], prompts: ['a', 'b'] }),
  ])
  expect(read({ name: 'x', images: [{ url: 'https://a.test/i.png' }] })?.image).toBe('https://a.test/i.png')
  expect(read({ name: 'x', trustModels: [{ model: 'tee' }, { type: 'zk' }, 'reputation'] })?.supportedTrust).toEqual([
    'tee',
    'zk',
    'reputation',
  ])
})

test('lists with more entries than are kept are marked', () => {
  const skills = Array.from({ length: 51 }, (_, index) => `s${index}`)
  const [oasf] = toRegistrationFile({ services: [{ name: 'OASF', skills }] })?.services ?? []
  expect(oasf?.declared).toEqual({ skills: skills.slice(0, 50), truncated: true })
})

test.each([
  [`eip155:8453:${registry}:17`, '17'],
  [`eip155:8453/erc721:${registry}/17`, '17'],
  [{ agentRegistry: `eip155:8453:${registry.toUpperCase().replace('X', 'x')}`, agentId: '#17' }, '17'],
  [{ agentRegistry: registry, agentId: '8453:17' }, '17'],
  [{ agent_registry: registry, agent_id: 17, network: 'base-mainnet' }, '17'],
  [{ agentId: `eip155:8453:${registry}:0` }, '0'],
  [{ agentRegistry: `eip155:8453/erc721:${registry}`, tokenId: '0017' }, '17'],
])('an entry of registrations is read: %j', (entry, agentId) => {
  expect(toListedRegistration(entry)).toEqual(onBase(agentId))
})

test.each([
  [{ agentRegistry: registry, agentId: 17 }],
  [{ agentRegistry: `eip155:1:${registry}`, agentId: '8453:17' }],
  [{ agentRegistry: `eip155:1:${registry}`, agentId: 17, chainId: 8453 }],
  [{ agentRegistry: registry, agentId: 17, chainId: 'somewhere' }],
  [{ agentRegistry: `eip155:8453:${registry}`, agentId: '{agentId}' }],
  [{ agentRegistry: `eip155:8453:${registry}`, agentId: -1 }],
  [{ agentId: '8453:17' }],
  ['17'],
  [null],
])('what has no clear meaning is missing, and contradicts nobody: %j', (entry) => {
  const holdings = { held: [onBase('18')], isCut: false, registries: new Set([registryOf(chains.base)]) }
  expect(toListedRegistration(entry)).toBeUndefined()
  expect(referenceIn({ registrations: [entry] }, holdings)).toBe('missing')
})

test('a number behind its chain is that of the agent, and of no other', () => {
  const listed = fixture('documents/reg__13-agentId-spelt-otherwise.json')
  const of = (agentId: string) =>
    referenceIn(listed, { held: [onBase(agentId)], isCut: false, registries: new Set([registryOf(chains.base)]) })
  expect([of('57008'), of('8453')]).toEqual(['confirmed', 'contradicted'])
})

const told = (uri: string) => {
  const form = parseForm(uri)
  return form.kind === 'inline' ? JSON.parse(Buffer.from(form.bytes).toString()) : form.kind
}

test.each([
  ['uri__01-base64-percent-encoded', { name: 'Ünï ✓>?', description: '~~~???>>>' }],
  ['uri__02-encoding-gzip', { name: 'Ünï ✓>?', description: '~~~???>>>' }],
  ['uri__04-gzip-no-parameter', { name: 'Ünï ✓>?', description: '~~~???>>>' }],
  ['uri__05-hash-in-plain', { name: 'Agent #306' }],
  ['uri__06-bare-base64', { name: 'Ünï ✓>?', description: '~~~???>>>' }],
  ['uri__08-latin1', { name: 'Café' }],
  ['uri__11-plus-as-space', { name: 'My+Agent' }],
])('the document in %s is read', (file, content) => {
  expect(told(readFixture(`documents/${file}.txt`))).toEqual(content)
})

test('data URIs are read however their packing, alphabet and charset are marked', () => {
  const packed = gzipSync('{"name":"Ada"}').toString('base64')
  for (const head of [
    'application/gzip;base64',
    'application/json;content-encoding=gzip;base64',
    ';enc="x-gzip";base64',
  ])
    expect(told(`data:${head},${encodeURIComponent(packed)}`)).toEqual({ name: 'Ada' })
  expect(told(packed)).toEqual({ name: 'Ada' })
  expect(told('data:application/json;charset=windows-1252,%7B"name":"Caf%E9"%7D')).toEqual({ name: 'Café' })
  expect(told('data:application/json;charset=nobodys,{"name":"x"}')).toEqual({ name: 'x' })
  expect(told(`data:;base64,${gzipSync('x'.repeat(300_000)).toString('base64')}`)).toBe('nothing')
})

test('a query behind an identifier does not change the content', () => {
  expect(parseForm(readFixture('documents/uri__09-ipfs-query.txt')).kind).toBe('ipfs')
})
