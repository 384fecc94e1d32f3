import { expect, test } from 'vitest'
import { toRegistrationFile } from '../../../enrichment/agent-uri/registration-file.ts'
import { candidatesOf } from '../../../enrichment/specs/candidates.ts'
import { fixture } from '../../support/fixture.ts'

const secured = (url: URL) => url
const placesOf = (
  services: readonly (readonly [name: string | null, endpoint: string])[],
  profileUrl: string | null = null,
) =>
  candidatesOf({
    services: services.map(([name, endpoint]) => ({ name, endpoint, version: null, contradicted: false })),
    profileUrl,
    secured,
  })
const declaredOf = (...services: readonly (readonly [string | null, string])[]) =>
  placesOf(services)
    .groups.flat()
    .filter(({ declared }) => declared)
    .map(({ kind, url, session }) => `${kind}${session ? ' by initialize' : ''} ${url.href}`)

test('an endpoint is looked at for what its name, or its path, says it is', () => {
  expect(declaredOf(['A2A', 'https://a.shop.xyz/.well-known/agent-card.json'])).toEqual([
    'a2a https://a.shop.xyz/.well-known/agent-card.json',
  ])
  expect(declaredOf(['a2a', 'https://a.shop.xyz/a2a/'])).toEqual([
    'a2a https://a.shop.xyz/a2a/.well-known/agent-card.json',
    'a2a https://a.shop.xyz/a2a/',
  ])
  expect(declaredOf(['MCP', 'https://a.shop.xyz/mcp'])).toEqual(['mcp by initialize https://a.shop.xyz/mcp'])
  expect(declaredOf(['mcp', 'https://a.shop.xyz/mcp.json'])).toEqual(['mcp https://a.shop.xyz/mcp.json'])
  expect(declaredOf([null, 'https://a.shop.xyz/openapi.json'])).toEqual(['openapi https://a.shop.xyz/openapi.json'])
  expect(declaredOf(['x402', 'https://a.shop.xyz/pay'])).toEqual(['x402 https://a.shop.xyz/pay'])
  expect(declaredOf(['web', 'https://a.shop.xyz/'], ['email', 'mailto:a@shop.xyz'], ['ENS', 'ada.eth'])).toEqual([
    'web https://a.shop.xyz/',
  ])
  for (const name of ['Website', 'web app', 'Web-UI', 'homepage', 'site'])
    expect(declaredOf([name, 'https://a.shop.xyz/#top'])).toEqual(['web https://a.shop.xyz/'])
  for (const name of ['web3', 'webhook', 'agentWallet', 'sitemap'])
    expect(declaredOf([name, 'https://a.shop.xyz/'])).toEqual([])
})

test('where an MCP endpoint does not answer, the card next to it is looked at, which nobody has promised', () => {
  const [group = []] = placesOf([['MCP', 'https://a.shop.xyz/mcp/?key=1']]).groups
  expect(group.map(({ url, session, declared }) => [url.href, session, declared])).toEqual([
    ['https://a.shop.xyz/mcp/?key=1', true, true],
    ['https://a.shop.xyz/mcp/server-card', false, false],
  ])
})

test('the usual places are looked at on the agent’s own hosts, each address once', () => {
  const { groups, origins } = placesOf(
    [['A2A', 'https://a.shop.xyz/.well-known/agent-card.json']],
    'https://ada.blog/me',
  )
  expect(origins.map(({ href }) => href)).toEqual(['https://a.shop.xyz/', 'https://ada.blog/'])
  const places = groups.flat().map(({ kind, url }) => `${kind} ${url.href}`)
  expect(new Set(places).size).toBe(places.length)
  expect(places).toEqual(
    expect.arrayContaining([
      'a2a https://a.shop.xyz/.well-known/agent.json',
      'openapi https://ada.blog/openapi.json',
      'x402 https://ada.blog/.well-known/x402.json',
      'mcp https://a.shop.xyz/.well-known/mcp/server-card.json',
      'mcp https://a.shop.xyz/.well-known/ai-catalog.json',
    ]),
  )
})

test('a page on somebody’s platform brings no places at the platform’s root', () => {
  expect(placesOf([['web', 'https://github.com/ada/agent']], 'https://x.com/ada')).toMatchObject({
    groups: [],
    origins: [],
  })
  expect(placesOf([['web', 'https://ada.vercel.app/']]).origins.map(({ host }) => host)).toEqual(['ada.vercel.app'])
})

test('templates, credentials and other schemes are no places, and no more than twenty hosts are named', () => {
  const services = ['https://a.shop.xyz/{agentId}', 'https://u:p@a.shop.xyz/', 'ftp://a.shop.xyz/', 'not a url']
  expect(placesOf(services.map((endpoint) => ['web', endpoint] as const)).groups).toEqual([])
  const many = Array.from({ length: 21 }, (_, index) => ['web', `https://a${index}.shop.xyz/`] as const)
  expect(placesOf(many).origins).toHaveLength(20)
  expect(placesOf(many).truncated).toEqual({ hosts: 21, places: 21 })
  expect(placesOf(many.slice(1)).truncated).toEqual({})
  const paid = Array.from({ length: 61 }, (_, index) => ['x402', `https://a.shop.xyz/${index}`] as const)
  expect(placesOf(paid).truncated).toEqual({ places: 61 })
  expect(placesOf([...paid.slice(1), ['x402', 'https://a.shop.xyz/1']]).truncated).toEqual({})
})

test('the services of all recorded registration files can be looked at', () => {
  const { documents }: { documents: { registration: unknown }[] } = fixture('chain/erc8004-registration-files.json.gz')
  const counts: Record<string, number> = {}
  for (const { registration } of documents) {
    const services = toRegistrationFile(registration)?.services ?? []
    const named = services.map((service) => ({ ...service, contradicted: false }))
    for (const [first] of candidatesOf({ services: named, profileUrl: null, secured }).groups) {
      if (first?.declared) counts[first.kind] = (counts[first.kind] ?? 0) + 1
    }
  }
  expect(counts).toEqual({ a2a: 66, mcp: 64, openapi: 1, web: 78, x402: 17 })
})

test('a place is contradicted when every file that names it lists other agents', () => {
  const url = 'https://a.shop.xyz/mcp'
  const service = (contradicted: boolean) => ({ name: 'MCP', endpoint: url, version: null, contradicted })
  const of = (...services: ReturnType<typeof service>[]) =>
    candidatesOf({ services, profileUrl: null, secured })
      .groups.flat()
      .filter((one) => one.contradicted)
      .map((one) => one.url.href)
  expect(of(service(true))).toEqual([url, `${url}/server-card`])
  expect(of(service(true), service(false))).toEqual([])
  expect(of(service(false), service(true))).toEqual([])
})
