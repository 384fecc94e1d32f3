import { afterAll, beforeAll, expect, test } from 'vitest'
import { diagnosis, findingCatalogue, findingCodes } from '../../../api/schemas/documents/doctor.ts'
import { chains } from '../../../config/chains.ts'
import { agentDiagnosis } from '../../../db/queries/documents/doctor.ts'
import { type DevChain, startDevChain } from '../../../devnet/chain/chain.ts'
import { faultySellers, publishFaultySellers } from '../../../devnet/hosts/faulty-sellers.ts'
import { demandFor, paidEndpoint } from '../../../devnet/hosts/sellers.ts'
import { startWebHost, type WebHost } from '../../../devnet/hosts/web-host.ts'
import { createAgentHosts } from '../../../enrichment/agent-hosts.ts'
import { examine } from '../../../enrichment/doctor/examination.ts'
import { findingsOfDocument } from '../../../enrichment/specs/findings/document.ts'
import { createOnChain, type OnChain } from '../../../enrichment/specs/findings/on-chain.ts'
import { saleIn } from '../../../enrichment/specs/prices.ts'
import { createDoor } from '../../../net/door.ts'
import { parseEgressAllow } from '../../../net/egress.ts'
import { createProofWorld } from '../../../social/proof-world.ts'
import { mint, startAgentsJob, startHosts } from '../../derive/agents/job.ts'
import { startApi, type TestApi } from '../../support/api/api.ts'
import { testDatabase } from '../../support/database.ts'
import { createClock } from '../../support/enrichment-job.ts'
import { addressOf } from '../../support/seed.ts'

const database = testDatabase()
const clock = createClock('2026-06-01T00:00:00Z')
let api: TestApi
let chain: DevChain
let world: ReturnType<typeof createProofWorld>
let onChain: OnChain
let host: WebHost
let hosts: ReturnType<typeof createAgentHosts>
beforeAll(async () => {
  host = await startWebHost()
  host.pages.set('/.well-known/agent-registration.json', { body: { registrations: [] } })
  const egressAllow = parseEgressAllow(host.name)
  const politeness = { intervalMs: 0, maxWaiting: 100, maxWaitMs: 10_000 }
  const door = createDoor({ userAgent: 'doctor/1.0 (+https://agents.example)', egressAllow, politeness })
  hosts = createAgentHosts({ door, egressAllow, now: clock.now })
  api = await startApi(database)
  chain = await startDevChain('base')
  world = createProofWorld(withNode(chain))
  onChain = createOnChain({ nodeOf: world.nodeOf, slot: async () => {}, now: clock.now })
})
afterAll(async () => {
  hosts.host.stop()
  await Promise.all([api.stop(), host.stop(), world.close()])
  await chain.stop()
})

/** The chain table with a node for one chain. */
const withNode = ({ rpc }: DevChain) => ({ ...chains, base: { ...chains.base, rpc } })

test('the zoo has sixty sellers, each with a fault that has a code, or with none', () => {
  expect(faultySellers.length).toBeGreaterThanOrEqual(60)
  expect(new Set(faultySellers.map(({ name }) => name)).size).toBe(faultySellers.length)
  for (const { codes } of faultySellers) for (const code of codes) expect(findingCodes).toContain(code)
})

test('the host that the local world has for them lists each at an address of its own', async () => {
  publishFaultySellers(host)
  const listed = (await (await fetch(host.url)).json()) as { url: string; codes: string[] }[]
  expect(listed.map(({ codes }) => codes)).toEqual(faultySellers.map(({ codes }) => codes))
  expect(new Set(listed.map(({ url }) => url)).size).toBe(faultySellers.length)
  for (const { url, codes } of listed) {
    const { findings } = await examine(hosts, onChain, new URL(url))
    expect([url, [...new Set(findings.map(({ code }) => code))].sort()]).toEqual([url, [...new Set(codes)].sort()])
  }
})

test('what was found at an endpoint is told where its host’s list cannot be read', async () => {
  const path = '/.well-known/agent-registration.json'
  const list = host.pages.get(path)!
  host.pages.set('/paid', paidEndpoint({ url: `${host.url}/paid`, payTo: `0x${'0'.repeat(40)}` }))
  host.pages.set(path, { status: 302, headers: { location: 'ftp://agents.example/' }, body: '' })
  const { is, findings } = await examine(hosts, onChain, new URL(`${host.url}/paid`))
  host.pages.set(path, list)
  expect(is).toBe('paid endpoint')
  expect(findings.map(({ code }) => code)).toEqual(expect.arrayContaining(['pay_to_zero', 'unlisted']))
  expect(findings.find(({ code }) => code === 'unlisted')?.detail).toBe(`${path}: redirect_refused`)
})

test('where no node can be asked, a paid endpoint has a finding that says so, and no other of the chain', async () => {
  host.pages.set('/refused', paidEndpoint({ url: `${host.url}/refused`, payTo: chain.addresses.keeper }))
  const at = new URL(`${host.url}/refused`)
  const codes = async (asked: OnChain) => (await examine(hosts, asked, at)).findings.map(({ code }) => code)
  expect(await codes(onChain)).toEqual(['pay_to_stuck'])
  const without = createProofWorld(chains)
  const silent = createProofWorld(withNode({ ...chain, rpc: 'http://127.0.0.1:9' }))
  for (const { nodeOf } of [without, silent])
    expect(await codes(createOnChain({ nodeOf, slot: async () => {}, now: clock.now }))).toEqual(['chain_not_checked'])
})

const offersTo = (...payees: string[]) => payees.flatMap((payTo) => saleIn(demandFor({ url: host.url, payTo })).prices)

/** What asks the chain, and how many calls it has made. */
function countedOnChain() {
  let calls = 0
  const slot = async () => void calls++
  const ask = createOnChain({ nodeOf: world.nodeOf, slot, now: clock.now })
  const asked = (offers: Parameters<OnChain>[0], agent = 'somebody', site?: string) =>
    ask(offers, { agent, ...(site && { site }) })
  return { ask: asked, calls: () => calls }
}

test('a chain is asked once an hour for the same terms, at a block that is named', async () => {
  const { ask, calls } = countedOnChain()
  const demand = offersTo(addressOf('seller'))
  const first = await ask(demand)
  const { number, timestamp } = await chain.client.getBlock()
  const time = new Date(Number(timestamp) * 1_000).toISOString()
  expect(first).toEqual({ findings: [], blocks: [{ chain: 'base', number: Number(number), time }] })
  const asked = calls()
  await chain.client.mine({ blocks: 1 })
  expect(await ask(demand)).toEqual(first)
  expect(calls()).toBe(asked)
  clock.pass(3_600_001)
  expect((await ask(demand)).blocks).toMatchObject([{ number: Number(number) + 1 }])
  expect((await ask(offersTo(chain.addresses.keeper))).findings).toMatchObject([{ code: 'pay_to_stuck' }])
})

test('who names others to be paid each time has no more than a share of the node, and nobody else has less for it', async () => {
  const { ask, calls } = countedOnChain()
  const unread = [{ code: 'chain_not_checked', detail: 'base' }]
  const looks = []
  for (let at = 0; at < 40; at++) looks.push((await ask(offersTo(addressOf(`payee ${at}`)), 'crowd')).findings)
  expect(looks.slice(0, 16)).toEqual(Array(16).fill([]))
  expect(looks.slice(16)).toEqual(Array(24).fill(unread))
  const spent = calls()
  expect((await ask(offersTo(addressOf('payee 3')), 'crowd')).findings).toEqual([]) // is known
  expect(calls()).toBe(spent)
  expect((await ask(offersTo(addressOf('payee 39')), 'somebody else')).findings).toEqual([])
  clock.pass(3_600_001)
  expect((await ask(offersTo(addressOf('payee 20')), 'crowd')).findings).toEqual([])
})

test('many agents that name one site have together no more than the share of a site', async () => {
  const { ask } = countedOnChain()
  const answers: string[] = []
  for (let at = 0; at < 66; at++) {
    const { findings } = await ask(offersTo(addressOf(`payee ${at}`)), `agent ${at % 8}`, 'shop.xyz')
    answers.push(...findings.map(({ code }) => code))
  }
  expect(answers).toEqual(['chain_not_checked', 'chain_not_checked'])
  expect((await ask(offersTo(addressOf('payee 65')), 'agent 8', 'other.xyz')).findings).toEqual([])
})

test('of more ways to pay than are looked at, a finding says how many were not', async () => {
  const { ask } = countedOnChain()
  const payees = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => addressOf(name))
  expect((await ask(offersTo(...payees, payees[0]!))).findings).toEqual([
    { code: 'chain_not_checked', detail: '2 of 6 ways to pay' },
  ])
})

test('offers of a manifest are held against the chain as demands are, also while it stays as it was', async () => {
  const [own] = (await startHosts(1)) as [WebHost]
  const job = startAgentsJob({ database, clock, hosts: [own], overrides: withNode(chain) })
  const url = `${own.url}/.well-known/x402.json`
  const offer = (payTo: string, extra?: object) => demandFor({ url: `${own.url}/paid`, payTo, extra }).accepts
  const manifest = { x402Version: 2, items: [{ resource: '/a', accepts: offer(chain.addresses.keeper) }] }
  own.pages.set('/.well-known/x402.json', { body: manifest })
  const fid = 7
  await mint(database.pool, {
    id: fid,
    fid,
    uri: JSON.stringify({ name: 'm', services: [{ name: 'x402', endpoint: url }] }),
  })
  await job.join()
  await job.read('agent_uri')
  await job.join()
  const codes = async () => {
    await database.pool.query(`update source_state set due_at = $1 where source = 'spec_discovery'`, [clock.now()])
    await job.read('spec_discovery')
    const { endpoints, findings } = (await agentDiagnosis(database.pool, fid))! // the API keeps its answers a while
    const places = endpoints as ReturnType<typeof diagnosis.parse>['endpoints']
    const { as_of } = places.find((one) => one.url === url)!
    const own = findings.filter(({ endpoint, code }) => endpoint === url && /^(pay_to|asset|chain)_/.test(code))
    return [own.map(({ code }) => code), as_of.map((block) => block.chain)]
  }
  expect(await codes()).toEqual([['pay_to_stuck'], ['base']])
  clock.pass(3_600_001)
  expect(await codes()).toEqual([['pay_to_stuck'], ['base']])
  expect(own.requests.filter(({ headers }) => headers['if-none-match'] !== undefined)).toHaveLength(1)
  clock.pass(3_600_001)
  own.pages.set('/.well-known/x402.json', {
    body: { x402Version: 2, items: [{ resource: '/a', accepts: offer(addressOf('seller')) }] },
  })
  expect(await codes()).toEqual([[], ['base']])
  const { is, findings } = await examine(hosts, onChain, new URL(manifestOf(host, offer(chain.addresses.keeper))))
  expect([is, findings.map(({ code }) => code)]).toEqual(['x402', ['pay_to_stuck']])
})

/** Address of a manifest that a host serves from now on. */
function manifestOf({ pages, url }: WebHost, accepts: readonly object[]): string {
  pages.set('/manifest.json', { body: { x402Version: 2, items: [{ resource: '/a', accepts }] } })
  return `${url}/manifest.json`
}

test('a token that moves nothing at all, as some do for an amount of zero, is not said to refuse who is paid', async () => {
  // Reverts on transfer(address,uint256), and answers all else with a word of zeros.
  const bytecode = '0x60003560e01c63a9059cbb1460145760206000f35b60006000fd'
  const address: `0x${string}` = '0x00000000000000000000000000000000007e2000'
  await chain.client.setCode({ address, bytecode })
  const { prices } = saleIn(demandFor({ url: host.url, payTo: addressOf('seller'), asset: address }))
  expect((await onChain(prices, {})).findings).toEqual([])
})

test('a card that leads to nobody is a finding, now and in what is kept, until somebody answers', async () => {
  host.pages.set('/card.json', { body: { name: 'n', url: '/a2a', skills: [] } })
  const codes = async () =>
    (await examine(hosts, onChain, new URL(`${host.url}/card.json`))).findings.map(({ code }) => code)
  expect(await codes()).toContain('not_answering')
  const looked = { declared: true, httpStatus: 200, backReference: null, cardSignature: null }
  const kept = (kind: 'a2a' | 'x402', code: string) =>
    findingsOfDocument({ ...looked, kind, status: 'ok', answers: { code } })
  expect(kept('a2a', 'not_found')).toEqual([{ code: 'not_answering', detail: 'not_found' }])
  for (const code of ['ok', 'auth_required', 'payment_required', 'not_asked']) expect(kept('a2a', code)).toEqual([])
  expect(kept('x402', 'http_4xx')).toEqual([])
  host.pages.set('/a2a', { body: { jsonrpc: '2.0', id: 1, error: { code: -32001, message: 'Task not found' } } })
  expect(await codes()).not.toContain('not_answering')
})

const diagnosisOf = async (fid: number, query = '') =>
  diagnosis.parse(await (await api.get(`/api/agent/${fid}/doctor${query}`)).json())

test('what the last look at an agent’s endpoints found is answered with when it began, until it is mended', async () => {
  const [own] = (await startHosts(1)) as [WebHost]
  const job = startAgentsJob({ database, clock, hosts: [own], overrides: withNode(chain) })
  const { pool } = database
  const fid = 1
  const url = `${own.url}/paid`
  const zero = `0x${'0'.repeat(40)}`
  own.pages.set('/paid', paidEndpoint({ url, payTo: zero }))
  const services = [
    { name: 'x402', endpoint: url },
    { name: 'A2A', endpoint: `${own.url}/gone.json` },
  ]
  await mint(pool, { id: fid, fid, uri: JSON.stringify({ name: 'seller', services }) })
  await job.join()
  expect(await agentDiagnosis(pool, fid)).toMatchObject({ checked_at: null, findings: [], endpoints: [] })
  await job.read('agent_uri')
  await job.join()
  const look = async () => {
    await pool.query(`update source_state set due_at = $1 where source = 'spec_discovery'`, [clock.now()])
    await job.read('spec_discovery')
    return diagnosisOf(fid)
  }
  const since = clock.now().toISOString()
  const first = await look()
  expect(first).toMatchObject({ fid, checked_at: since, truncated: false })
  expect(first.endpoints.map((one) => [one.url, one.status])).toEqual([
    [`${own.url}/gone.json`, 'not_found'],
    [url, 'payment_required'],
  ])
  const found = (list: typeof first.findings) => list.map(({ code, endpoint }) => [code, endpoint])
  expect(found(first.findings)).toEqual([
    ['not_found', `${own.url}/gone.json`], // what blocks stands first
    ['pay_to_zero', url],
    ['plain_http', `${own.url}/gone.json`],
    ['unlisted', `${own.url}/gone.json`],
    ['plain_http', url],
    ['unlisted', url],
  ])
  expect(first.as_of).toBe(null)
  const head = Number(await chain.client.getBlockNumber())
  expect(first.endpoints.map(({ as_of }) => as_of.map(({ chain, block_number }) => [chain, block_number]))).toEqual([
    [],
    [['base', head]],
  ])
  expect(first.findings.filter(({ code }) => code !== 'plain_http').every((one) => one.since === since)).toBe(true)
  expect(await (await api.get(`/agent/${fid}`)).text()).toContain('the zero address')

  clock.pass(60_000)
  own.pages.set('/paid', paidEndpoint({ url, payTo: addressOf('seller') }))
  const { rows } = await pool.query(`select findings from agent_spec where fid = $1 and url = $2`, [fid, url])
  expect(rows).toMatchObject([
    {
      findings: [
        { code: 'pay_to_zero', since },
        { code: 'unlisted', since },
      ],
    },
  ])
  await look()
  const after = await pool.query(`select findings from agent_spec where fid = $1 and url = $2`, [fid, url])
  expect(after.rows).toEqual([{ findings: [{ code: 'unlisted', detail: null, since }] }])

  const now = await agentDiagnosis(pool, fid)
  expect(now?.findings.map(({ code }) => code)).not.toContain('pay_to_zero')
  const then = await diagnosisOf(fid, `?as_of=${since}`)
  expect(then).toMatchObject({ as_of: since, checked_at: since })
  expect(found(then.findings)).toEqual(found(first.findings).filter(([code]) => code !== 'plain_http'))
  expect(then.endpoints).toEqual(first.endpoints)
  const before = await diagnosisOf(fid, '?as_of=2026-05-31T00:00:00Z')
  expect(before).toMatchObject({ checked_at: null, findings: [], endpoints: [] })
  expect((await api.get(`/api/agent/${fid}/doctor?as_of=yesterday`)).status).toBe(400)
})

test('an FID that is no agent has no diagnosis, and each code is told one by one', async () => {
  expect((await api.get('/api/agent/999/doctor')).status).toBe(404)
  const { count, codes } = findingCatalogue.parse(await (await api.get('/api/doctor/codes')).json())
  expect(count).toBe(findingCodes.length)
  for (const { code, url } of codes) {
    expect(new URL(url).pathname).toBe(`/docs/doctor/${code}`)
    expect((await api.get(new URL(url).pathname)).status).toBe(200)
    expect(await (await api.get(`/api/doctor/codes/${code}`)).json()).toMatchObject({ code, url })
  }
  expect((await api.get('/api/doctor/codes/none')).status).toBe(404)
})
