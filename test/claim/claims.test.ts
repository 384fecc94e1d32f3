import { createSiweMessage } from 'viem/siwe'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { profile } from '../../api/schemas/agents/profile.ts'
import { claimAnswer, textChallenge } from '../../api/schemas/claims/claim.ts'
import { inTransaction } from '../../db/pool.ts'
import { lockJoin } from '../../db/queries/agents/lock.ts'
import { addSubjects } from '../../db/queries/sources/source-state.ts'
import { failure } from '../support/api/api.ts'
import {
  appKeyOf,
  baseUrl,
  type ClaimStage,
  eip191Claim,
  freshClient,
  jfsClaim,
  post,
  startClaimStage,
} from '../support/api/claims.ts'
import { chainRows } from '../support/chain/rows.ts'

let stage: ClaimStage
beforeAll(async () => {
  stage = await startClaimStage()
})
afterAll(() => stage.stop())

const nonceOf = async (fid: number) =>
  (await stage.database.pool.query('select nonce from claim where fid = $1 order by claimed_at', [fid])).rows.map(
    ({ nonce }) => nonce as string,
  )

test('a signature of a verified address claims its fid, and the answer says what was stored', async () => {
  const claimant = await stage.claimant()
  const body = await eip191Claim(stage, claimant)
  const response = await post(stage.api, body)
  expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-store'])
  expect(claimAnswer.parse(await response.json())).toEqual({
    ok: true,
    fid: claimant.fid,
    method: 'eip191',
    claimed: true,
    claimed_at: new Date(stage.clock.now).toISOString(),
    nonce: body.nonce,
    verified_addresses: [claimant.address],
    agent_status: 'claimed-only',
    profile_url: `https://agents.example/agent/${claimant.fid}`,
  })
  const { rows } = await stage.database.pool.query('select * from claim where fid = $1', [claimant.fid])
  expect(rows).toEqual([
    expect.objectContaining({
      method: 'eip191',
      nonce: body.nonce,
      signer: claimant.address,
      host_link: null,
      verified_addresses: [claimant.address],
      signed_at: new Date(body.timestamp),
      received_at: new Date(stage.clock.now),
    }),
  ])
  expect(rows[0].proof).toMatchObject({ signature: body.signature, address: body.address })
  expect(JSON.stringify(rows)).not.toMatch(/2001:db8|127\.0\.0\.1/) // never an IP
})

test('what became of claims is counted, by method; of dry runs it is not', async () => {
  const counts = async () => {
    const text = await (await stage.api.get('/metrics')).text()
    return (outcome: string) =>
      Number(
        new RegExp(`^agent_directory_claim_total\\{method="eip191",outcome="${outcome}"\\} (\\d+)$`, 'm').exec(
          text,
        )?.[1] ?? 0,
      )
  }
  const before = await counts()
  const body = await eip191Claim(stage, await stage.claimant())
  expect((await post(stage.api, body, { query: '?dry_run=true' })).status).toBe(200)
  expect((await post(stage.api, body)).status).toBe(200)
  expect(
    (await post(stage.api, { ...(await eip191Claim(stage, await stage.claimant())), signature: body.signature }))
      .status,
  ).toBeGreaterThanOrEqual(400)
  const after = await counts()
  expect(after('accepted') - before('accepted')).toBe(1)
  expect(after('ERR_SIG_INVALID') - before('ERR_SIG_INVALID')).toBe(1)
})

test('a token of an active app key claims its fid, in both of its forms', async () => {
  const claimant = await stage.claimant()
  const first = await post(stage.api, jfsClaim(stage, claimant))
  expect([first.status, claimAnswer.parse(await first.json()).method]).toEqual([200, 'jfs'])
  const body = jfsClaim(stage, claimant)
  const [header, payload, signature] = body.jfs.split('.')
  const second = await post(stage.api, { ...body, jfs: { header, payload, signature } })
  expect([second.status, await second.json()]).toEqual([200, expect.objectContaining({ fid: claimant.fid })])
})

test('the fid may stand in the header, in the body, or in both', async () => {
  const claimant = await stage.claimant()
  const withoutFid = async () => ({ ...(await eip191Claim(stage, claimant)), fid: undefined })
  const header = { 'x-fid': String(claimant.fid) }
  expect((await post(stage.api, await withoutFid(), { headers: header })).status).toBe(200)
  expect((await post(stage.api, await eip191Claim(stage, claimant), { headers: header })).status).toBe(200)
})

test('the challenge is the text the claim signs, with a nonce of its own, and nothing is stored for it', async () => {
  const claimant = await stage.claimant()
  const path = `/api/claim/challenge?fid=${claimant.fid}&address=${claimant.address}`
  const response = await stage.api.get(path)
  expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-store'])
  const { text, nonce, timestamp } = textChallenge.parse(await response.json())
  const another = textChallenge.parse(await (await stage.api.get(path)).json())
  expect(another.nonce).not.toBe(nonce)
  const signature = await claimant.account.signMessage({ message: text })
  const body = { method: 'eip191', fid: claimant.fid, address: claimant.address, nonce, timestamp, signature }
  expect((await post(stage.api, body)).status).toBe(200)
})

test('the text is Sign-In with Ethereum to the byte, as another implementation writes it', async () => {
  const claimant = await stage.claimant()
  const path = `/api/claim/challenge?fid=${claimant.fid}&address=${claimant.address}&chain_id=8453`
  const { text, nonce, timestamp } = textChallenge.parse(await (await stage.api.get(path)).json())
  expect(text).toBe(
    createSiweMessage({
      domain: 'agents.example',
      address: claimant.account.address,
      statement: `Claim FID ${claimant.fid} on agent-directory.`,
      uri: `${baseUrl}/api/claim`,
      version: '1',
      chainId: 8453,
      nonce,
      issuedAt: new Date(timestamp),
      resources: [`farcaster://fid/${claimant.fid}`],
    }),
  )
})

test.for([
  ['fid=0&address=0x0000000000000000000000000000000000000001', 'ERR_FID_INVALID'],
  ['address=0x0000000000000000000000000000000000000001', 'ERR_FID_INVALID'],
  ['fid=1&address=0x01', 'ERR_ADDRESS_MALFORMED'],
  ['fid=1', 'ERR_ADDRESS_MALFORMED'],
])('a challenge for %s is refused with %s', async ([query, error]) => {
  expect(await failure(await stage.api.get(`/api/claim/challenge?${query}`))).toMatchObject({ status: 400, error })
})

test('a second claim keeps the time of the first, and the newest method is named', async () => {
  const claimant = await stage.claimant()
  const first = claimAnswer.parse(await (await post(stage.api, await eip191Claim(stage, claimant))).json())
  stage.clock.now += 60_000
  const second = claimAnswer.parse(await (await post(stage.api, jfsClaim(stage, claimant))).json())
  expect(second.claimed_at).toBe(first.claimed_at)
  const shown = profile.parse(await (await stage.api.get(`/api/agent/${claimant.fid}`)).json())
  expect([shown.claimed_at, shown.claim_method]).toEqual([first.claimed_at, 'jfs'])
})

test('profile, discovery, bulk, feed and stats show a claim in the next answer, although they were just asked', async () => {
  const claimant = await stage.claimant()
  const paths = ['/api/discovery?claimed=claimed&limit=100', '/data/agents.json', '/feed.atom', '/api/stats']
  const before = await Promise.all(paths.map(async (path) => (await stage.api.get(path)).text()))
  expect((await stage.api.get(`/api/agent/${claimant.fid}`)).status).toBe(404)
  await post(stage.api, await eip191Claim(stage, claimant))
  const after = await Promise.all(paths.map(async (path) => (await stage.api.get(path)).text()))
  expect((await stage.api.get(`/api/agent/${claimant.fid}`)).status).toBe(200)
  const itsRow = new RegExp(`("fid":|/)${claimant.fid}\\b`) // hashes have its digits by chance
  for (const index of [0, 1, 2]) {
    expect(before[index]).not.toMatch(itsRow)
    expect(after[index]).toMatch(itsRow)
  }
  const claimed = (text = '') => JSON.parse(text).claimed_count as number
  expect(claimed(after[3])).toBe(claimed(before[3]) + 1)
})

test('a claim leaves in memory what it does not touch', async () => {
  const other = await stage.claimant()
  await post(stage.api, await eip191Claim(stage, other))
  const claimant = await stage.claimant()
  const untouched = [`/api/agent/${other.fid}`, `/api/agent/${other.fid}/settlements`]
  const touched = [`/api/agent/${claimant.fid}`, '/api/discovery', '/data/agents.json']
  for (const path of [...untouched, ...touched]) await stage.api.get(path)
  await post(stage.api, await eip191Claim(stage, claimant))
  // Only answers from the cache have an Age header.
  for (const path of untouched) expect([path, (await stage.api.get(path)).headers.has('age')]).toEqual([path, true])
  for (const path of touched) expect([path, (await stage.api.get(path)).headers.has('age')]).toEqual([path, false])
})

test('a claim of an agent that holds a token leaves it active', async () => {
  const claimant = await stage.claimant()
  const rows = chainRows(stage.database.pool)
  const token = { chain: 'base', id: 7_000 } as const
  await rows.transfer(token, null, claimant.address, new Date('2026-01-02T00:00:00Z'))
  const verified = [claimant.fid, Buffer.from(claimant.address.slice(2), 'hex')]
  await stage.database.pool.query(`insert into verified_address values ($1, $2, '2026-01-01')`, verified)
  await post(stage.api, await eip191Claim(stage, claimant)) // derived with the claim
  const again = claimAnswer.parse(await (await post(stage.api, await eip191Claim(stage, claimant))).json())
  expect(again.agent_status).toBe('active')
  const shown = profile.parse(await (await stage.api.get(`/api/agent/${claimant.fid}`)).json())
  expect([shown.agent_status, shown.claimed, shown.chains]).toEqual(['active', true, ['Base']])
})

test('an agent that its claim lists is listed whole: settlements counted, edges and documents asked for', async () => {
  const claimant = await stage.claimant()
  const { pool } = stage.database
  const chain = chainRows(pool)
  const at = new Date(stage.clock.now - 86_400_000)
  await chain.settle('base', claimant.address, at)
  await chain.transfer({ chain: 'base', id: 70 }, null, claimant.address, at)
  await addSubjects(pool, 'agent_uri', ['token:base:70'], { priority: 0, dueAt: at })
  const verified = [claimant.fid, Buffer.from(claimant.address.slice(2), 'hex')]
  await pool.query(`insert into verified_address values ($1, $2, '2026-01-01')`, verified)
  await pool.query('delete from due')
  expect((await post(stage.api, await eip191Claim(stage, claimant))).status).toBe(200)

  const { rows } = await pool.query('select settlements_all from agent where fid = $1', [claimant.fid])
  expect(rows).toEqual([{ settlements_all: 1 }])
  const asked = `select source, priority from source_state
                  where subject in ('fid:' || $1::bigint, 'token:base:70') order by source`
  expect((await pool.query(asked, [claimant.fid])).rows).toEqual([
    { source: 'agent_uri', priority: 2 },
    { source: 'claim_checks', priority: 0 },
    { source: 'socialindex', priority: 2 },
    { source: 'spec_discovery', priority: 2 },
  ])
  const edges = await pool.query(`select from due where kind = 'neighbours' and key = $1`, [claimant.fid])
  expect(edges.rowCount).toBe(1)
})

test('a claim is accepted while the join is busy, and waits in its queue', async () => {
  const claimant = await stage.claimant()
  await inTransaction(stage.database.pool, async (db) => {
    await lockJoin(db)
    expect((await post(stage.api, await eip191Claim(stage, claimant))).status).toBe(200)
  })
  const { rows } = await stage.database.pool.query(`select 1 from due where kind = 'agents' and key = $1`, [
    claimant.fid,
  ])
  expect(rows).toHaveLength(1)
})

test('a dry run makes every check, stores nothing, and leaves the nonce free', async () => {
  const claimant = await stage.claimant()
  const body = await eip191Claim(stage, claimant)
  const dry = await post(stage.api, body, { query: '?dry_run=true' })
  expect([dry.status, claimAnswer.parse(await dry.json())]).toEqual([
    200,
    expect.objectContaining({
      dry_run: true,
      claimed: false,
      claimed_at: null,
      verified_addresses: [claimant.address],
    }),
  ])
  expect(await nonceOf(claimant.fid)).toEqual([])
  const stranger = appKeyOf('stranger')
  const refused = await post(stage.api, jfsClaim(stage, { ...claimant, appKey: stranger }), { query: '?dry_run=true' })
  expect(await failure(refused)).toMatchObject({ status: 422, error: 'ERR_JFS_KEY_INACTIVE', key: stranger.publicKey })
  expect((await post(stage.api, body)).status).toBe(200)
})

test('of a repeated dry_run the first counts', async () => {
  const claimant = await stage.claimant()
  const body = await eip191Claim(stage, claimant)
  for (const query of ['?dry_run=true&dry_run=true', '?dry_run=true&dry_run=false']) {
    const dry = await post(stage.api, body, { query })
    expect([query, dry.status, await dry.json()]).toMatchObject([query, 200, { dry_run: true, claimed: false }])
  }
  expect(await nonceOf(claimant.fid)).toEqual([])
  const stored = await post(stage.api, body, { query: '?dry_run=false&dry_run=true' })
  expect([stored.status, await stored.json()]).toMatchObject([200, { claimed: true }])
})

test('from a browser the answer is for the site and for localhost alone', async () => {
  const claimant = await stage.claimant()
  const origins = ['https://agents.example', 'http://localhost:5173', 'https://elsewhere.example']
  const granted = []
  for (const origin of origins) {
    const response = await post(stage.api, await eip191Claim(stage, claimant), { headers: { origin } })
    granted.push(response.headers.get('access-control-allow-origin'))
  }
  expect(granted).toEqual(['https://agents.example', 'http://localhost:5173', null])
})

test('any other method finds nothing at the path, and learns what is allowed', async () => {
  const response = await stage.api.get('/api/claim', { headers: { 'x-forwarded-for': freshClient() } })
  expect([response.status, response.headers.get('allow')]).toEqual([404, 'POST, OPTIONS'])
})
