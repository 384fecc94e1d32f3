import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { claimLimits } from '../../../config/limits.claims.ts'
import { failure } from '../../support/api/api.ts'
import {
  type Claimant,
  type ClaimStage,
  eip191Claim,
  freshNonce,
  post,
  startClaimStage,
} from '../../support/api/claims.ts'

// Claims by hosts that nothing links to the account, where the operator asks for no link.

const path = '/.well-known/agent-directory.json'
let stage: ClaimStage
let claimant: Claimant
beforeAll(async () => {
  stage = await startClaimStage()
})
afterAll(() => stage.stop())
beforeEach(async () => {
  claimant = await stage.claimant()
  stage.host.pages.clear()
  stage.host.faults.clear()
  stage.clock.now += 601_000 // a new window of the limiter: the host is always the same
})

const linkOf = async (fid: number) =>
  (await stage.database.pool.query('select host_link, signer, proof from claim where fid = $1', [fid])).rows

test('CLAIM_WELL_KNOWN_HOST_LINK=off takes any host, and the claim says that no link was asked for', async () => {
  const api = await stage.another({ hostLinkRequired: false })
  const { fid, address } = claimant
  const { name: host } = stage.host
  stage.host.pages.set(path, { body: { service: 'agent-directory', host, fid, addresses: [address] } })
  const response = await post(api, { method: 'well-known', fid, host, nonce: freshNonce() })
  expect(response.status).toBe(200)
  expect(await linkOf(fid)).toMatchObject([{ host_link: null }])
})

test('CLAIM_WELL_KNOWN_HOST_LINK=off lets a host without a link withdraw what it claimed, and nothing else', async () => {
  const api = await stage.another({ hostLinkRequired: false })
  const { fid, address } = claimant
  const { name: host } = stage.host
  const withdraw = () => {
    stage.host.pages.set(path, { body: { service: 'agent-directory', host, fid, withdrawn: true } })
    return post(api, { method: 'well-known', fid, host, nonce: freshNonce() }, { query: '/withdraw' })
  }
  expect((await post(api, await eip191Claim(stage, claimant))).status).toBe(200)
  expect(await failure(await withdraw())).toMatchObject({ error: 'ERR_FID_MISMATCH', expected_fid: fid })
  stage.host.pages.set(path, { body: { service: 'agent-directory', host, fid, addresses: [address] } })
  const nonce = freshNonce()
  expect((await post(api, { method: 'well-known', fid, host, nonce })).status).toBe(200)
  const withdrawn = await withdraw()
  expect([withdrawn.status, await withdrawn.json()]).toEqual([
    200,
    { ok: true, fid, withdrawn: [{ method: 'well-known', nonce }], claimed: true },
  ])
})

test('CLAIM_WELL_KNOWN_HOST_LINK=off: a host without a link that withdraws keeps only itself from claiming and withdrawing', async () => {
  const api = await stage.another({ hostLinkRequired: false })
  const { fid, address } = claimant
  const { name: host } = stage.host
  const byHost = (action: 'claim' | 'withdraw', said: object) => {
    stage.host.pages.set(path, { body: { service: 'agent-directory', host, fid, ...said } })
    return post(
      api,
      { method: 'well-known', fid, host, nonce: freshNonce() },
      { query: action === 'claim' ? '' : '/withdraw' },
    )
  }
  const early = await eip191Claim(stage, claimant)
  stage.clock.now += 60_000
  expect((await byHost('claim', { addresses: [address] })).status).toBe(200)
  expect((await byHost('withdraw', { withdrawn: true })).status).toBe(200)
  // As often as the account itself may in a day.
  await stage.database.pool.query(
    `insert into claim_action
     select (json_populate_record(a, json_build_object('nonce', a.nonce || n, 'manifest_sha256', null))).*
       from claim_action a cross join generate_series(2, $2::int) n where a.fid = $1`,
    [fid, claimLimits.acceptedPerDay],
  )
  expect(await failure(await byHost('claim', { addresses: [address], withdrawn: false }))).toMatchObject({
    error: 'ERR_PAYLOAD_INVALID',
    fields: [{ path: 'manifest.timestamp' }],
  })
  expect((await post(api, early)).status).toBe(200)
  stage.clock.now += 60_000
  const timestamp = new Date(stage.clock.now).toISOString()
  expect((await byHost('claim', { addresses: [address], timestamp })).status).toBe(200)
  expect(await failure(await byHost('withdraw', { withdrawn: true, timestamp }))).toMatchObject({
    error: 'ERR_RATE_LIMITED',
  })
  const withdrawal = await eip191Claim(stage, claimant, { action: 'withdraw' })
  expect((await post(api, withdrawal, { query: '/withdraw' })).status).toBe(200)
})

test('CLAIM_WELL_KNOWN_HOST_LINK=off: claims by hosts without a link use up the day of nobody but themselves', async () => {
  const api = await stage.another({ hostLinkRequired: false })
  const { fid, address } = claimant
  const { name: host } = stage.host
  const byHost = () => {
    const body = { service: 'agent-directory', host, fid, addresses: [address], times: ++times }
    stage.host.pages.set(path, { body })
    return post(api, { method: 'well-known', fid, host, nonce: freshNonce() })
  }
  let times = 0
  const { pool } = stage.database
  expect((await byHost()).status).toBe(200)
  const copies = (of: string) =>
    pool.query(
      `insert into claim
       select (json_populate_record(c, json_build_object('nonce', md5(c.nonce || n || $3), 'signer', $3::text, 'manifest_sha256', null))).*
         from claim c cross join generate_series(2, $2::int) n where c.fid = $1 and c.signer = $4`,
      [fid, claimLimits.acceptedPerDay, of, host],
    )
  await copies('stranger.example')
  expect((await byHost()).status).toBe(200)
  await copies(host)
  expect(await failure(await byHost())).toMatchObject({ error: 'ERR_RATE_LIMITED' })
  expect((await post(api, await eip191Claim(stage, claimant))).status).toBe(200)
})

test('CLAIM_WELL_KNOWN_HOST_LINK=off: a claim that ended as its host without a link stopped saying it keeps nobody else from claiming', async () => {
  const api = await stage.another({ hostLinkRequired: false })
  const { fid, address } = claimant
  const { name: host } = stage.host
  const early = await eip191Claim(stage, claimant)
  stage.clock.now += 60_000
  const byHost = (said: object) => {
    stage.host.pages.set(path, { body: { service: 'agent-directory', host, fid, addresses: [address], ...said } })
    return post(api, { method: 'well-known', fid, host, nonce: freshNonce() })
  }
  expect((await byHost({})).status).toBe(200)
  await stage.database.pool.query(
    `update claim set state = 'ended', ended_at = $2, end_reason = 'manifest_gone' where fid = $1`,
    [fid, new Date(stage.clock.now)],
  )
  expect(await failure(await byHost({ again: true }))).toMatchObject({
    error: 'ERR_PAYLOAD_INVALID',
    fields: [{ path: 'manifest.timestamp' }],
  })
  expect((await post(api, early)).status).toBe(200)
})
