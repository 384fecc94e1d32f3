import type { LocalAccount } from 'viem'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { accountOf } from '../../devnet/chain/chain.ts'
import { failure } from '../support/api/api.ts'
import {
  addAuthAddress,
  associationOf,
  type Claimant,
  type ClaimStage,
  freshNonce,
  post,
  startClaimStage,
} from '../support/api/claims.ts'
import { type ChainRows, chainRows } from '../support/chain/rows.ts'
import { insert, seedAgent, seedHolding, seedRegistration } from '../support/seed.ts'

const path = '/.well-known/agent-directory.json'
let stage: ClaimStage
let claimant: Claimant
let rows: ChainRows
beforeAll(async () => {
  stage = await startClaimStage()
  rows = chainRows(stage.database.pool)
})
afterAll(() => stage.stop())
beforeEach(async () => {
  claimant = await stage.claimant()
  stage.host.pages.clear()
  stage.host.faults.clear()
  stage.clock.now += 601_000 // a new window of the limiter: the host is always the same
})

/** Sends a claim by a manifest that is right but for `change`; `linked`: the account's profile names the host. */
async function claim(change: object = {}, { linked = true, nonce = freshNonce() } = {}) {
  const { fid, address } = claimant
  const { name: host } = stage.host
  if (linked) stage.hub.state.setProfile(fid, { url: `https://${host}/about` })
  const manifest = { service: 'agent-directory', host, fid, addresses: [address], ...change }
  stage.host.pages.set(path, { body: manifest })
  return submit(nonce)
}
const submit = (nonce = freshNonce()) =>
  post(stage.api, { method: 'well-known', fid: claimant.fid, host: stage.host.name, nonce })

const linkOf = async (fid: number) =>
  (await stage.database.pool.query('select host_link, signer, proof from claim where fid = $1', [fid])).rows

/** An account association of the claimant's account with the host. */
const associate = (
  signer: LocalAccount,
  type: 'custody' | 'auth',
  change: Partial<Parameters<typeof associationOf>[2]> = {},
) => associationOf(signer, type, { fid: claimant.fid, domain: stage.host.name, ...change })

test('a manifest on a host that the profile names claims the fid, and the claim keeps the link', async () => {
  const response = await claim()
  expect([response.status, await response.json()]).toEqual([
    200,
    expect.objectContaining({ method: 'well-known', verified_addresses: [claimant.address] }),
  ])
  expect(await linkOf(claimant.fid)).toEqual([
    expect.objectContaining({ host_link: 'profile_url', signer: stage.host.name }),
  ])
})

test('a manifest that was accepted is the same claim under every other nonce, until it changes', async () => {
  const accepted = await claim()
  const original = (await accepted.json()) as { nonce: string }
  expect(accepted.status).toBe(200)
  const nonce = freshNonce()
  for (const query of ['', '?dry_run=true']) {
    const body = { method: 'well-known', fid: claimant.fid, host: stage.host.name, nonce }
    expect(await failure(await post(stage.api, body, { query }))).toEqual({
      status: 409,
      error: 'ERR_NONCE_USED',
      detail: expect.any(String),
      replay: true,
      original,
      fid: claimant.fid,
      method: 'well-known',
      nonce: original.nonce,
    })
  }
  expect(await linkOf(claimant.fid)).toHaveLength(1)
  expect((await claim({ note: 'changed' })).status).toBe(200)
  const [one, two] = await Promise.all([claim({ note: 'twice at once' }), claim({ note: 'twice at once' })])
  expect([one.status, two.status].sort()).toEqual([200, 409])
})

test('a manifest that was accepted is the same claim, though its nonce, time, addresses and link hold no more', async () => {
  const nonce = freshNonce()
  const timestamp = new Date(stage.clock.now).toISOString()
  const accepted = await claim({ nonce, timestamp }, { nonce })
  const original = await accepted.json()
  expect(accepted.status).toBe(200)
  const again = async () => failure(await submit())
  const same = { status: 409, error: 'ERR_NONCE_USED', replay: true, original, nonce }
  expect(await again()).toMatchObject(same)
  stage.clock.now += 901_000
  expect(await again()).toMatchObject(same)
  stage.hub.state.setProfile(claimant.fid, { url: 'https://elsewhere.example' })
  stage.hub.state.removeVerification(claimant.fid, claimant.address)
  expect(await again()).toMatchObject(same)
})

test.for<[string, object]>([
  ['no addresses', { addresses: [] }],
  ['no list', { addresses: undefined }],
  ['26 addresses', { addresses: Array.from({ length: 26 }, (_, n) => accountOf(`many ${n}`).address) }],
  ['a malformed address', { addresses: ['0x01'] }],
  ['another service', { service: 'elsewhere' }],
  ['another host', { host: 'elsewhere.example' }],
  ['another nonce', { nonce: 'anothernonce' }],
  ['a malformed time', { timestamp: 'yesterday' }],
])('ERR_PAYLOAD_INVALID: a manifest with %s', async ([_, change]) => {
  expect(await failure(await claim(change))).toMatchObject({ status: 400, error: 'ERR_PAYLOAD_INVALID' })
})

test('ERR_PAYLOAD_INVALID: an address twice, in two spellings', async () => {
  const addresses = [claimant.address, claimant.account.address]
  expect(await failure(await claim({ addresses }))).toMatchObject({ error: 'ERR_PAYLOAD_INVALID' })
})

test.for(['https://a.example', 'a.example/path', 'user@a.example', '', 'a.example:443', 'ａ.example', 5, null])(
  'ERR_PAYLOAD_INVALID: host %j',
  async (host) => {
    const refused = await post(stage.api, { method: 'well-known', fid: claimant.fid, host, nonce: freshNonce() })
    expect(await failure(refused)).toMatchObject({ error: 'ERR_PAYLOAD_INVALID', fields: [{ path: 'host' }] })
  },
)

test.for<[unknown, number | null]>([
  [1, 1],
  ['1', null],
  [undefined, null],
])('ERR_FID_MISMATCH: the manifest is for fid %j', async ([fid, actual]) => {
  expect(await failure(await claim({ fid }))).toMatchObject({
    status: 422,
    error: 'ERR_FID_MISMATCH',
    expected_fid: claimant.fid,
    actual_fid: actual,
  })
})

test('ERR_MANIFEST_ADDRESS_UNVERIFIED names those that are not verified; one is enough to refuse', async () => {
  const strangers = [accountOf('a'), accountOf('b')].map(({ address }) => address.toLowerCase()).sort()
  const refused = await failure(await claim({ addresses: [claimant.address, ...strangers] }))
  expect(refused).toEqual({
    status: 422,
    error: 'ERR_MANIFEST_ADDRESS_UNVERIFIED',
    detail: expect.any(String),
    fid: claimant.fid,
    unverified: strangers,
  })
})

test('ERR_SIG_EXPIRED: a manifest with a time outside of the window', async () => {
  const timestamp = new Date(stage.clock.now - 901_000).toISOString()
  expect(await failure(await claim({ timestamp }))).toMatchObject({ error: 'ERR_SIG_EXPIRED', timestamp })
})

test.for<[string, () => void]>([
  ['404', () => stage.host.pages.delete(path)],
  ['500', () => stage.host.pages.set(path, { status: 500, body: {} })],
  ['a redirect', () => stage.host.pages.set(path, { status: 302, headers: { location: '/elsewhere' }, body: '' })],
  ['a web page', () => stage.host.pages.set(path, { body: '<!doctype html>' })],
  ['too much', () => stage.host.pages.set(path, { body: `"${'x'.repeat(70_000)}"` })],
])('ERR_MANIFEST_FETCH_FAILED: the host answers %s', async ([_, spoil]) => {
  const nonce = freshNonce()
  stage.hub.state.setProfile(claimant.fid, { url: `https://${stage.host.name}` })
  spoil()
  const { name: host } = stage.host
  const refused = await failure(await submit(nonce))
  expect(refused).toMatchObject({ status: 422, error: 'ERR_MANIFEST_FETCH_FAILED', host })
})

test('ERR_MANIFEST_FETCH_FAILED says the same of a private address, a closed port and a name that is nobody’s', async () => {
  const hosts = ['127.0.0.1:9', '169.254.169.254', 'localhost', 'nobody.invalid']
  const details = []
  for (const host of hosts) {
    const refused = await post(stage.api, { method: 'well-known', fid: claimant.fid, host, nonce: freshNonce() })
    const { status, error, detail } = await failure(refused)
    details.push([status, error, detail?.replace(host, '')])
  }
  expect(new Set(details.map((one) => JSON.stringify(one))).size).toBe(1)
  expect(details[0]?.slice(0, 2)).toEqual([422, 'ERR_MANIFEST_FETCH_FAILED'])
})

test('ERR_FID_MISMATCH: a stranger’s host with a perfect manifest of somebody else’s public addresses', async () => {
  const refused = await failure(await claim({}, { linked: false }))
  expect(refused).toMatchObject({
    status: 422,
    error: 'ERR_FID_MISMATCH',
    expected_fid: claimant.fid,
    actual_fid: null,
    detail: expect.stringContaining('must be linked'),
  })
})

test('an account association by the custody address links the host, in the encodings of today and before', async () => {
  const accountAssociation = await associate(claimant.custody, 'custody')
  expect((await claim({ accountAssociation }, { linked: false })).status).toBe(200)
  const legacy = await associate(claimant.custody, 'custody', { legacy: true })
  expect((await claim({ accountAssociation: legacy }, { linked: false })).status).toBe(200)
  expect(await linkOf(claimant.fid)).toMatchObject([{ host_link: 'account_association' }, {}])
})

test('an auth address that the registry knows links the host; one it does not know does not', async () => {
  const auth = accountOf(`auth ${claimant.fid}`)
  const accountAssociation = await associate(auth, 'auth')
  expect((await claim({ accountAssociation }, { linked: false })).status).toBe(422)
  await addAuthAddress(stage, claimant.fid, auth.address)
  expect((await claim({ accountAssociation }, { linked: false })).status).toBe(200)
})

test('the association may stand in the host’s own farcaster.json', async () => {
  const accountAssociation = await associate(claimant.custody, 'custody')
  stage.host.pages.set('/.well-known/farcaster.json', { body: { accountAssociation, miniapp: {} } })
  expect((await claim({}, { linked: false })).status).toBe(200)
  expect(await linkOf(claimant.fid)).toMatchObject([{ host_link: 'farcaster_manifest' }])
})

test.for<[string, () => Promise<object>]>([
  ['of another domain', () => associate(claimant.custody, 'custody', { domain: 'elsewhere.example' })],
  ['of another fid', () => associate(claimant.custody, 'custody', { fid: 1 })],
  ['by a stranger', () => associate(accountOf('stranger'), 'custody')],
  ['by a verified address', () => associate(claimant.account, 'custody')],
  ['with another signature', async () => ({ ...(await associate(claimant.custody, 'custody')), signature: 'AAAA' })],
  ['that is empty', async () => ({ header: '', payload: '', signature: '' })],
])('an association %s links nothing', async ([_, make]) => {
  const refused = await claim({ accountAssociation: await make() }, { linked: false })
  expect(await failure(refused)).toMatchObject({ status: 422, error: 'ERR_FID_MISMATCH' })
})

test('the agentURI of a registration that a verified address holds links its host', async () => {
  const token = { chain: 'base', id: claimant.fid } as const
  await rows.transfer(token, null, claimant.address, new Date('2026-01-01T00:00:00Z'))
  await rows.setUri(token, `http://${stage.host.name}/agent.json`, new Date('2026-01-02T00:00:00Z'))
  expect((await claim({}, { linked: false })).status).toBe(200)
  expect(await linkOf(claimant.fid)).toMatchObject([{ host_link: 'registration' }])
})

test('a token that a stranger sent links his host only after the holder has changed something about it', async () => {
  const token = { chain: 'base', id: claimant.fid } as const
  const stranger = accountOf('stranger').address
  const uri = `http://${stage.host.name}/agent.json`
  await rows.transfer(token, null, stranger, new Date('2026-01-01T00:00:00Z'))
  await rows.setUri(token, uri, new Date('2026-01-02T00:00:00Z'))
  await rows.transfer(token, stranger, claimant.address, new Date('2026-01-03T00:00:00Z'))
  await stage.database.pool.query('update registration set agent_uri = $1 where agent_id = $2', [uri, claimant.fid])
  expect((await claim({}, { linked: false })).status).toBe(422)
  await rows.setUri(token, uri, new Date('2026-01-04T00:00:00Z'))
  expect((await claim({}, { linked: false })).status).toBe(200)
})

test.for([true, 'yes', 1])(
  'ERR_PAYLOAD_INVALID: a manifest that takes a claim back makes none: %j',
  async (withdrawn) => {
    expect(await failure(await claim({ withdrawn }))).toMatchObject({
      status: 400,
      error: 'ERR_PAYLOAD_INVALID',
      fields: [{ path: 'manifest.withdrawn' }],
    })
  },
)

test('a replay is answered without asking the host again', async () => {
  const nonce = freshNonce()
  const first = await claim({}, { nonce })
  expect(first.status).toBe(200)
  const asked = stage.host.requests.length
  expect(await failure(await submit(nonce))).toMatchObject({ status: 409, error: 'ERR_NONCE_USED', replay: true })
  expect(stage.host.requests).toHaveLength(asked)
})

test('the host of the account’s profile is looked at before anything is signed, whether an agent is listed or not', async () => {
  const { fid, address } = claimant
  const { name: host } = stage.host
  const page = async () => (await stage.api.get(`/claim?fid=${fid}`)).text()
  expect(await page()).toContain('Neither the profile nor a registration names a host, as far as we know.')
  const profile = { fid, profile_url: `https://${host}/about`, updated_at: new Date(stage.clock.now) }
  await insert(stage.database.pool, 'social_profile', profile)
  const line = (manifest: string) => `<bdi>${host}</bdi> <span class="sub">linked by the account’s profile; ${manifest}`
  expect(await page()).toContain(line('no file can be read there yet'))
  const manifest = { service: 'agent-directory', host, fid, addresses: [address], nonce: freshNonce() }
  stage.host.pages.set(path, { body: manifest })
  stage.hub.state.setProfile(fid, { url: profile.profile_url })
  stage.clock.now += 61_000 // past the minute for which the look at the host is cached
  expect(await page()).toContain(line('its file is there and holds: this works now'))
  await stage.database.pool.query("update social_profile set profile_url = 'javascript:alert(1)' where fid = $1", [fid])
  expect(await page()).not.toContain('javascript:')
})

test('the page of a claim says how the file of a named host stands before anything is signed', async () => {
  const { fid, address } = claimant
  const { name: host } = stage.host
  const { pool } = stage.database
  await seedAgent(pool, { fid, addresses: [address] })
  await seedRegistration(pool, { chain: 'base', id: fid, owner: address, uri: `https://${host}/agent.json` })
  const hold = () => seedHolding(pool, { fid, chain: 'base', id: fid, by: address })
  await hold()
  const works = async () => {
    stage.clock.now += 61_000 // past the minute for which the look at the host is cached
    const page = await (await stage.api.get(`/claim?fid=${fid}`)).text()
    const list = page.slice(
      page.indexOf('A file on a host') - 60,
      page.indexOf('</section>', page.indexOf('A file on a host')),
    )
    return list.replaceAll(/\s+/g, ' ')
  }
  expect(await works()).toContain('linked by a registration; no file can be read there yet')
  const manifest = { service: 'agent-directory', host, fid, addresses: [address], nonce: freshNonce() }
  stage.host.pages.set(path, { body: { ...manifest, fid: fid + 1 } })
  expect(await works()).toContain(`its file is there and does not do: the manifest must be for fid ${fid}`)
  stage.host.pages.set(path, { body: manifest })
  const ready = await works()
  expect(ready).toContain('its file is there and holds: this works now')
  expect(ready).toContain('<li class="done">')
  // Reloading the page asks the host no more often than claims may, and uses up none of their attempts.
  const asked = () => stage.host.requests.filter((request) => request.path === path).length
  for (let n = 0; n < 3; n++) await works()
  const before = asked()
  expect(await works()).toContain('could not be seen just now')
  expect(asked()).toBe(before)
  expect((await submit(manifest.nonce)).status).toBe(200)
  stage.clock.now += 601_000
  await hold() // the claim derived the holdings again
  expect(await works()).toContain('does not do: it was accepted before; a new claim needs a changed one')
})
