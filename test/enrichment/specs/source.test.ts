import { generateKeyPairSync, sign } from 'node:crypto'
import { expect, test } from 'vitest'
import { chains } from '../../../config/chains.ts'
import type { Page, WebHost } from '../../../devnet/hosts/web-host.ts'
import { canonicalJson, type Json } from '../../../trust/canonical-json.ts'
import { mint, profileOf, publish, setUri, specsOf, startAgentsJob, startHosts } from '../../derive/agents/job.ts'
import { testDatabase } from '../../support/database.ts'
import { createClock } from '../../support/enrichment-job.ts'
import { addressOf, insert, seedSent } from '../../support/seed.ts'

const source = 'spec_discovery'
const hour = 3_600_000

const database = testDatabase()

let nextFid = 1
const newFid = () => nextFid++
const clock = createClock('2026-06-01T00:00:00Z')
type Shown = { kind: string; last_check_status: string }
const statuses = ({ documents }: { documents: Shown[] }) =>
  documents.map(({ kind, last_check_status }) => `${kind} ${last_check_status}`)

test('an agent’s documents are found where it says and where they usually lie, and its profile shows them', async () => {
  const [host] = (await startHosts(1)) as [WebHost]
  const job = startAgentsJob({ database, clock, hosts: [host] })
  const fid = newFid()
  await publish(database.pool, host, fid, { x402: true })
  await job.join()
  expect(await specsOf(database.pool, fid)).toMatchObject({
    spec_check_status: 'unchecked',
    last_check_at: null,
    documents: [],
  })
  await job.read('agent_uri')
  await job.join()
  expect(await job.read(source)).toContain('ok')
  await job.join()

  const at = clock.now().toISOString()
  const shown = await specsOf(database.pool, fid)
  expect(shown).toMatchObject({
    spec_check_status: 'found',
    last_alive_at: at,
    last_check_at: at,
    last_check_status: 'ok',
    last_seen_at: at,
    last_spec_discovery_at: at,
  })
  expect(statuses(shown)).toEqual(['a2a ok', 'mcp auth_required', 'openapi ok', 'x402 ok'])
  expect(shown.documents[0]).toEqual({
    kind: 'a2a',
    url: `${host.url}/.well-known/agent-card.json`,
    version: '1.0.0',
    title: `agent ${fid}`,
    skills: ['Answer questions', 'Quote a price'],
    tools: [],
    path_count: null,
    domain_verified: true,
    card_signature: 'none',
    content_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    first_seen_at: at,
    last_alive_at: at,
    last_check_at: at,
    last_check_status: 'ok',
    http_status: 200,
    latency_ms: expect.any(Number),
    consecutive_failures: 0,
    uptime_7d: null,
    uptime_30d: null,
    protocol_version: null,
    tool_hashes: [],
    tools_changed_at: null,
    back_reference: 'confirmed',
    details: {
      interfaces: [{ url: `${host.url}/a2a`, name: null, binding: 'JSONRPC', version: '0.3.0' }],
      skills: [
        { name: 'Answer questions', id: 'answer', tags: ['text'] },
        { name: 'Quote a price', id: 'quote', tags: ['x402'] },
      ],
    },
    resources: [],
    truncated: {},
    readable: true,
    answers: { code: 'ok', since: at, latency_ms: expect.any(Number) },
  })
  expect(shown.documents[2]).toMatchObject({ title: `agent ${fid} API`, path_count: 2 })
  expect((await database.pool.query('select from agent where fid = $1 and has_spec', [fid])).rowCount).toBe(1)
})

test('registrations that strangers sent name no documents, and crowd out none of the agent’s own', async () => {
  const { pool } = database
  const [own, ...others] = await startHosts(5)
  const job = startAgentsJob({ database, clock, hosts: [own as WebHost, ...others] })
  const fid = newFid()
  await publish(pool, own as WebHost, fid, { services: ['A2A'] })
  // More than are looked at, on a chain that comes before the agent's, each with hosts of the stranger.
  const services = others.map(({ url }) => ({ name: 'A2A', endpoint: `${url}/.well-known/agent-card.json` }))
  for (const { pages } of others)
    pages.set('/.well-known/agent-card.json', own?.pages.get('/.well-known/agent-card.json') as Page)
  for (let n = 0; n < 101; n++) {
    const id = 10_000 * fid + n
    await seedSent(pool, { chain: 'arbitrum', id, owner: addressOf(`wallet of ${fid}`), uri: '' })
    const document = { uri_status: 'ok', services: JSON.stringify(services), updated_at: clock.now() }
    await insert(pool, 'registration_document', { chain: 'arbitrum', agent_id: id, ...document })
  }
  await job.join()
  await job.read('agent_uri')
  await job.join()
  await job.read(source)
  await job.join()
  const { documents, truncated } = await specsOf(pool, fid)
  expect(truncated).toEqual({ registrations: 101 })
  expect(new Set(documents.map(({ url }: { url: string }) => new URL(url).host))).toEqual(new Set([own?.name]))
  expect(documents).toContainEqual(expect.objectContaining({ kind: 'a2a', back_reference: 'confirmed' }))
})

test('an unchanged document is asked for by its tag, and looking again changes no agent', async () => {
  const { pool } = database
  const [host] = (await startHosts(1)) as [WebHost]
  const job = startAgentsJob({ database, clock, hosts: [host] })
  const fid = newFid()
  await publish(database.pool, host, fid)
  for (const _ of [1, 2]) {
    await job.join()
    await job.read('agent_uri')
    await job.read(source)
  }
  await job.join()
  const changes = () => pool.query('select count(*) from agent_change where fid = $1', [fid])
  const before = (await changes()).rows
  const { documents } = await specsOf(database.pool, fid)

  const at = clock.pass(7 * hour).toISOString()
  await job.read(source)
  await job.join()
  const again = await specsOf(database.pool, fid)
  expect(again).toMatchObject({ last_alive_at: at, last_seen_at: at })
  expect(again.documents[0]).toMatchObject({ http_status: 304, content_sha256: documents[0].content_sha256 })
  expect((await changes()).rows).toEqual(before)
})

test('a host belongs to an agent only when it lists the agent’s own token', async () => {
  const [host] = (await startHosts(1)) as [WebHost]
  const job = startAgentsJob({ database, clock, hosts: [host] })
  const owner = newFid()
  const guest = newFid()
  await publish(database.pool, host, owner)
  const services = [{ name: 'A2A', endpoint: `${host.url}/.well-known/agent-card.json` }]
  await mint(database.pool, { id: guest, fid: guest, uri: JSON.stringify({ name: 'guest', services }) })
  await job.join()
  await job.read('agent_uri')
  await job.join()
  await job.read(source)
  expect((await specsOf(database.pool, owner)).documents[0].domain_verified).toBe(true)
  expect((await specsOf(database.pool, guest)).documents[0].domain_verified).toBe(false)
})

test('a registry at another address than the table’s is proven at that address', async () => {
  const [host] = (await startHosts(1)) as [WebHost]
  const { base } = chains
  const registry = { address: addressOf('another registry'), fromBlock: 0 }
  const fid = newFid()
  await publish(database.pool, host, fid)
  for (const [overrides, proven] of [
    [{ base: { ...base, registry } }, false],
    [{}, true],
  ] as const) {
    const job = startAgentsJob({ database, clock, hosts: [host], overrides })
    await job.join()
    await job.read('agent_uri')
    await job.join()
    clock.pass(7 * hour)
    await job.read(source)
    expect((await specsOf(database.pool, fid)).documents[0].domain_verified).toBe(proven)
  }
})

test('new services are looked at as soon as they are known; what is no longer named is dropped', async () => {
  const { pool } = database
  const [first, second] = (await startHosts(2)) as [WebHost, WebHost]
  const job = startAgentsJob({ database, clock, hosts: [first, second] })
  const fid = newFid()
  await publish(database.pool, first, fid)
  const settle = async () => {
    for (const _ of [1, 2]) {
      await job.join()
      await job.read('agent_uri')
      await job.read(source)
    }
    await job.join()
  }
  await settle()
  second.pages.set('/card.json', { body: { name: 'moved', url: second.url, skills: [] } })
  const uri = JSON.stringify({ name: 'moved', services: [{ name: 'a2a', endpoint: `${second.url}/card.json` }] })
  await pool.query('update registration set agent_uri = $2 where agent_id = $1', [fid, uri])
  await settle()
  expect((await specsOf(database.pool, fid)).documents.map(({ url }: { url: string }) => url)).toEqual([
    `${second.url}/card.json`,
  ])
})

test('an agent without services, one whose hosts have nothing, and one whose documents are none are told apart', async () => {
  const [empty, wrong] = (await startHosts(2)) as [WebHost, WebHost]
  const job = startAgentsJob({ database, clock, hosts: [empty, wrong] })
  const cases = {
    not_found: [[], [{ name: 'web', endpoint: empty.url }]],
    invalid: [[{ name: 'A2A', endpoint: `${wrong.url}/card.json` }]],
    unreachable: [[{ name: 'MCP', endpoint: 'https://127.0.0.1/mcp' }]],
  }
  wrong.pages.set('/card.json', { body: '<!doctype html><title>Welcome</title>' })
  const fids: [number, string][] = []
  for (const [status, all] of Object.entries(cases)) {
    for (const services of all) {
      const fid = newFid()
      fids.push([fid, status])
      await mint(database.pool, { id: fid, fid, uri: JSON.stringify({ name: 'x', services }) })
    }
  }
  await job.join()
  await job.read('agent_uri')
  await job.join()
  await job.read(source)
  await job.join()
  for (const [fid, status] of fids)
    expect([fid, (await specsOf(database.pool, fid)).spec_check_status]).toEqual([fid, status])
  expect(statuses(await specsOf(database.pool, fids[2]![0]))).toEqual(['a2a not_json'])
  expect(statuses(await specsOf(database.pool, fids[3]![0]))).toEqual(['mcp blocked'])
})

test('an agent that leaves the index leaves no document behind', async () => {
  const { pool } = database
  const [host] = (await startHosts(1)) as [WebHost]
  const job = startAgentsJob({ database, clock, hosts: [host] })
  const fid = newFid()
  await publish(database.pool, host, fid)
  await job.join()
  await job.read('agent_uri')
  await job.join()
  await job.read(source)
  await pool.query('delete from registration_transfer where agent_id = $1', [fid])
  await job.join()
  const { rows } = await pool.query(
    `select (select count(*) from agent_spec where fid = $1) as documents,
            (select count(*) from agent_spec_check where fid = $1) as checks,
            (select count(*) from source_state where source = $2 and subject = 'fid:' || $1) as subjects`,
    [fid, source],
  )
  expect(rows).toEqual([{ documents: 0, checks: 0, subjects: 0 }])
  expect(await profileOf(pool, fid)).toBeUndefined()
})

test('an agent one of whose hosts asks to wait for no time is looked at again after an hour', async () => {
  const { pool } = database
  const [well, refusing] = (await startHosts(2)) as [WebHost, WebHost]
  const job = startAgentsJob({ database, clock, hosts: [well, refusing] })
  const fid = newFid()
  await publish(pool, well, fid)
  const services = [well, refusing].map(({ url }) => ({ name: 'A2A', endpoint: `${url}/.well-known/agent-card.json` }))
  await setUri(pool, fid, JSON.stringify({ name: 'x', services }))
  refusing.faults.add({ kind: 'rate-limited', retryAfter: 0 }, { times: Number.POSITIVE_INFINITY })
  await job.join()
  await job.read('agent_uri')
  await job.join()
  await job.read(source)
  expect(refusing.requests).toHaveLength(1)
  const { rows } = await pool.query('select due_at from source_state where source = $1 and subject = $2', [
    source,
    `fid:${fid}`,
  ])
  expect(rows).toEqual([{ due_at: new Date(clock.now().getTime() + hour) }])
})

test('a card that is signed by a key of its own host is shown as such, and a changed one too', async () => {
  const [host] = (await startHosts(1)) as [WebHost]
  const job = startAgentsJob({ database, clock, hosts: [host] })
  const fid = newFid()
  await publish(database.pool, host, fid)
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const path = '/.well-known/agent-card.json'
  const { body: card } = host.pages.get(path) as Page & { body: Json & object }
  const jku = `${host.url}/.well-known/jwks.json`
  const head = Buffer.from(JSON.stringify({ alg: 'EdDSA', kid: 'k', jku })).toString('base64url')
  const payload = Buffer.from(canonicalJson(card)).toString('base64url')
  const signature = sign(null, Buffer.from(`${head}.${payload}`), privateKey).toString('base64url')
  const signed = (body: object) =>
    host.pages.set(path, { body: { ...body, signatures: [{ protected: head, signature }] } })
  const keys = { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k' }] }
  host.pages.set('/.well-known/jwks.json', { body: keys })
  const shown = async () => {
    await job.read(source)
    await job.join()
    const { documents } = await specsOf(database.pool, fid)
    return documents.find(({ kind }: Shown) => kind === 'a2a').card_signature
  }
  signed(card)
  await job.join()
  await job.read('agent_uri')
  await job.join()
  expect(await shown()).toBe('valid')
  signed({ ...card, name: 'somebody else' })
  clock.pass(7 * hour)
  expect(await shown()).toBe('invalid')
})

test('what documents and demands for payment ask for is kept until they ask for something else', async () => {
  const { pool } = database
  const [host] = (await startHosts(1)) as [WebHost]
  const job = startAgentsJob({ database, clock, hosts: [host] })
  const fid = newFid()
  await publish(pool, host, fid, { x402: true })
  const endpoint = `${host.url}/pay`
  await setUri(pool, fid, JSON.stringify({ name: 'x', services: [{ name: 'x402', endpoint }] }))
  const [token] = chains.base.tokens
  const way = {
    scheme: 'exact',
    network: 'eip155:8453',
    amount: '2500',
    asset: token!.address,
    payTo: addressOf('till'),
  }
  const demand = (accepts: object[]) => ({ x402Version: 2, resource: { url: endpoint }, accepts })
  const header = (accepts: object[]) => Buffer.from(JSON.stringify(demand(accepts))).toString('base64')
  const ask = async () => {
    clock.pass(7 * hour)
    await job.join()
    await job.read('agent_uri')
    await job.join()
    await job.read(source)
    const { rows } = await pool.query(
      `select kind, url, resource, chain, amount, pay_to, min_amount_usd, max_amount_usd
         from directory.prices where fid = $1 order by kind, url, place`,
      [fid],
    )
    return rows.map((row) => Object.values(row))
  }
  const answer = ['openapi', `${host.url}/openapi.json`, 'GET /answer', null, null, null, '0.010000', '0.010000']
  const pay = ['x402', endpoint, endpoint, 'base', '2500', addressOf('till'), '0.002500', '0.002500']
  host.pages.set('/pay', { status: 402, headers: { 'payment-required': header([way]) }, body: {} })
  expect(await ask()).toEqual([answer, pay])
  // The first version has it in the body; a header that says nothing does not hide it.
  const cheaper = { ...way, amount: undefined, maxAmountRequired: '1000' }
  host.pages.set('/pay', { status: 402, headers: { 'payment-required': '%%' }, body: demand([cheaper]) })
  const cheap = ['x402', endpoint, endpoint, 'base', '1000', addressOf('till'), '0.001000', '0.001000']
  expect(await ask()).toEqual([answer, cheap])
  // Who fails asks for what it asked for; who wants to be paid without saying how asks for nothing that is known.
  host.pages.set('/pay', { status: 500, body: '' })
  expect(await ask()).toEqual([answer, cheap])
  host.pages.set('/pay', { status: 402, body: 'pay me' })
  expect(await ask()).toEqual([answer])
  const { documents } = await specsOf(pool, fid)
  expect(statuses({ documents })).toContain('x402 payment_required')
  const paid = host.requests.filter(({ headers }) => 'payment-signature' in headers || 'x-payment' in headers)
  expect(paid).toEqual([])
})

test('what a host and a registration file list is checked against who holds it now', async () => {
  const { pool } = database
  const [host] = (await startHosts(1)) as [WebHost]
  const job = startAgentsJob({ database, clock, hosts: [host] })
  const owner = newFid()
  const copycat = newFid()
  await publish(pool, host, owner, { services: ['A2A'] })
  const agentRegistry = `eip155:${chains.base.id}:${chains.base.registry.address}`
  const listing = (...ids: unknown[]) => ids.map((agentId) => ({ agentId, agentRegistry }))
  const services = [{ name: 'A2A', endpoint: `${host.url}/.well-known/agent-card.json` }]
  const uriListing = (...ids: unknown[]) => JSON.stringify({ name: 'x', services, registrations: listing(...ids) })
  await setUri(pool, owner, uriListing(owner))
  // The file of somebody else, which says so itself.
  await mint(pool, { id: copycat, fid: copycat, uri: uriListing(owner) })
  const shown = async () => {
    for (const _ of [1, 2]) {
      clock.pass(7 * hour)
      await job.join()
      await job.read('agent_uri')
      await job.read(source)
    }
    const [own, others] = await Promise.all([owner, copycat].map((fid) => specsOf(pool, fid)))
    const { back_reference, domain_verified } = own.documents[0]
    return [back_reference, domain_verified, others.documents[0].back_reference]
  }
  expect(await shown()).toEqual(['confirmed', true, 'contradicted'])

  // The host lists both; the copycat's file still lists the other alone.
  const path = '/.well-known/agent-registration.json'
  host.pages.set(path, { body: { registrations: listing(owner, String(copycat)) } })
  expect(await shown()).toEqual(['confirmed', true, 'contradicted'])
  await setUri(pool, copycat, uriListing(owner, copycat))
  expect(await shown()).toEqual(['confirmed', true, 'confirmed'])
  await setUri(pool, copycat, uriListing(...Array.from({ length: 60 }, (_, n) => 90_000 + n)))
  expect(await shown()).toEqual(['confirmed', true, 'confirmed'])
  expect((await profileOf(pool, copycat)).erc8004_records[0].truncated).toEqual({ registrations: 60 }) // which contradicts nobody

  // A host that lists another takes the proof away; one that fails says nothing, one without a list nothing for it.
  host.pages.set(path, { body: { registrations: listing(copycat) } })
  expect(await shown()).toEqual(['contradicted', false, 'confirmed'])
  host.pages.set(path, { status: 500, body: '' })
  expect(await shown()).toEqual(['contradicted', false, 'confirmed'])
  host.pages.delete(path)
  expect(await shown()).toEqual(['missing', false, 'missing'])
})
