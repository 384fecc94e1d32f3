import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createGallery, createPictureDoor } from '../../api/pages/pictures/gallery.ts'
import { chains } from '../../config/chains.ts'
import { type AgentHosts, startAgentHosts } from '../../devnet/hosts/agent-hosts.ts'
import { startWebHost } from '../../devnet/hosts/web-host.ts'
import { planWorld, type World } from '../../devnet/world/plan.ts'
import { parseCid } from '../../enrichment/agent-uri/cid.ts'
import { toRegistrationFile } from '../../enrichment/agent-uri/registration-file.ts'
import { registryOf } from '../../enrichment/networks.ts'
import { referenceIn } from '../../enrichment/specs/back-reference.ts'
import { readContent } from '../../enrichment/specs/kinds.ts'
import { parseEgressAllow } from '../../net/egress.ts'

let hosts: AgentHosts
let world: World
beforeAll(async () => {
  hosts = await startAgentHosts()
  world = planWorld('hosts', hosts.hostOf)
  hosts.publish(world)
})
afterAll(() => hosts.stop())

const json = async (url: string) => (await fetch(url)).json()

test('what an agent publishes is what the directory looks for, and its host lists its tokens', async () => {
  const [person] = world.people.agents as [World['people']['agents'][number]]
  const host = hosts.hostOf(person, 0) as string
  expect(readContent.a2a(await json(`${host}/.well-known/agent-card.json`))?.skills).toHaveLength(2)
  expect(readContent.openapi(await json(`${host}/openapi.json`))?.pathCount).toBe(2)
  expect(readContent.x402(await json(`${host}/.well-known/x402`))?.pathCount).toBe(2)
  const registration = await json(`${host}/.well-known/agent-registration.json`)
  expect(toRegistrationFile(registration)?.services).toHaveLength(3)
  const registry = registryOf(chains.celo)
  const referenceTo = (agentId: string) =>
    referenceIn(registration, { held: [{ registry, agentId }], isCut: false, registries: new Set([registry]) })
  expect([referenceTo('0'), referenceTo('999')]).toEqual(['confirmed', 'contradicted'])
  expect((await fetch(`${host}/mcp`, { method: 'POST', body: '{"method":"initialize"}' })).status).toBe(401)
})

test('an agent that sells nothing answers initialize with who it is', async () => {
  const person = world.people.agents[1] as World['people']['agents'][number]
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: {} })
  const answer = await fetch(`${hosts.hostOf(person, 1)}/mcp`, { method: 'POST', body })
  const { result } = (await answer.json()) as { result: { serverInfo: { name: string } } }
  expect(result.serverInfo.name).toMatch(/\w/)
})

test('every agentURI on IPFS names content that the gateway has and that hashes to it', async () => {
  const uris = world.past.flatMap(({ deed }) => ('uri' in deed && deed.uri?.startsWith('ipfs://') ? [deed.uri] : []))
  expect(uris.length).toBeGreaterThan(0)
  for (const uri of uris) {
    const cid = uri.slice('ipfs://'.length)
    const body = Buffer.from(await (await fetch(`${hosts.gateway.url}/ipfs/${cid}`)).arrayBuffer())
    expect(createHash('sha256').update(body).digest()).toEqual(Buffer.from(parseCid(cid)!.multihash.digest))
    expect(toRegistrationFile(JSON.parse(body.toString()))).toBeDefined()
  }
})

test('pictures of profiles that a host has come through the guarded door', async () => {
  const names = { serviceName: 'agent-directory', siteUrl: 'https://agents.example' }
  const door = createPictureDoor(names, parseEgressAllow(hosts.names.join(',')))
  onTestFinished(() => door.close())
  const gallery = createGallery(door, Date.now)
  const shown = world.people.agents.flatMap(({ profile }) => profile.pfp ?? [])
  const answers: Awaited<ReturnType<typeof gallery>>[] = []
  for (const url of shown) answers.push(await gallery(url))
  const pictures = answers.map((answer) => (answer === 'unasked' ? undefined : answer))
  const types = pictures.map((picture) => picture?.type)
  expect(types.filter((type) => type === 'image/png').length).toBeGreaterThan(shown.length / 2)
  const distinct = new Set(pictures.flatMap((picture) => picture?.text.toString('base64') ?? []))
  expect(distinct.size).toBe(types.filter((type) => type !== undefined).length)
})

test('a host names the version of a page and spares who has it', async () => {
  const host = await startWebHost()
  onTestFinished(host.stop)
  host.pages.set('/a.json', { body: { a: 1 } })
  const etag = (await fetch(`${host.url}/a.json`)).headers.get('etag') as string
  const headers = { 'if-none-match': etag }
  expect((await fetch(`${host.url}/a.json`, { headers })).status).toBe(304)
  host.pages.set('/a.json', { body: { a: 2 } })
  expect((await fetch(`${host.url}/a.json`, { headers })).status).toBe(200)
  expect((await fetch(`${host.url}/b.json`)).status).toBe(404)
})

test('a person makes a host fail for a while and well again', async () => {
  const host = await startWebHost()
  onTestFinished(host.stop)
  host.pages.set('/a.json', { body: { a: 1 } })
  const order = async (given: unknown) =>
    (await fetch(`${host.url}/control`, { method: 'POST', body: JSON.stringify(given) })).status
  expect(await order({ do: 'fault', fault: { kind: 'rate-limited', retryAfter: 5 }, times: 1 })).toBe(200)
  const limited = await fetch(`${host.url}/a.json`)
  expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '5'])
  expect((await fetch(`${host.url}/a.json`)).status).toBe(200)
  expect(await order({ do: 'fault', fault: { kind: 'cut' }, times: 9 })).toBe(200)
  await expect(fetch(`${host.url}/a.json`)).rejects.toThrow()
  expect(await order({ do: 'clear-faults' })).toBe(200)
  expect((await fetch(`${host.url}/a.json`)).status).toBe(200)
  expect(await order({ do: 'fault', fault: { kind: 'sulk' } })).toBe(400)
})
