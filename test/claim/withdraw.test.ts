import type { LocalAccount } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { deriveClaimed } from '../../api/claim/derive-claimed.ts'
import { changeLine } from '../../api/routes/log/changes.ts'
import { challengeAnswer } from '../../api/schemas/claims/claim.ts'
import { claimHistory } from '../../db/queries/claims/provable-claims.ts'
import { accountOf, funder } from '../../devnet/chain/chain.ts'
import { transferFid } from '../../devnet/chain/farcaster.ts'
import { isClaimHistory, type SealedClaimEvent } from '../../trust/claim-event.ts'
import { failure, type TestApi } from '../support/api/api.ts'
import {
  type Claimant,
  type ClaimStage,
  eip191Claim,
  freshNonce,
  jfsClaim,
  post,
  startClaimStage,
  withdrawalOf,
} from '../support/api/claims.ts'
import { rounds } from '../support/rounds.ts'
import { seedSent, seedVerification } from '../support/seed.ts'

type Action = 'claim' | 'withdraw' | 'unlist' | 'relist'

const path = '/.well-known/agent-directory.json'
let stage: ClaimStage
let claimant: Claimant
beforeAll(async () => {
  stage = await startClaimStage()
})
afterAll(() => stage.stop())
beforeEach(async () => {
  claimant = await stage.claimant()
  stage.clock.now += 601_000 // a new window of the limiter, and later than everything before
})

const send = (action: Action, body: unknown) => post(stage.api, body, { query: action === 'claim' ? '' : `/${action}` })
const byText = async (action: Action, options: Parameters<typeof eip191Claim>[2] = {}) =>
  send(action, await eip191Claim(stage, claimant, { action, ...options }))
const byCustody = (action: Action, { custody }: Claimant = claimant) =>
  byText(action, { signer: custody, address: custody.address })
const byKey = (action: Action) => send(action, jfsClaim(stage, claimant, { payload: { action } }))

/** Sends a JSON Farcaster Signature that an address signs, not an app key. */
const byAccount = async (action: Action, signer: LocalAccount, type: 'custody' | 'auth') =>
  send(action, await withdrawalOf(signer, type, claimant.fid, stage.clock.now))

async function byManifest(action: Action, change: object = {}) {
  const { fid, address } = claimant
  const { name: host } = stage.host
  stage.hub.state.setProfile(fid, { url: `https://${host}/about` })
  const own = action === 'claim' ? { addresses: [address] } : { withdrawn: true }
  stage.host.pages.set(path, { body: { service: 'agent-directory', host, fid, ...own, ...change } })
  return send(action, { method: 'well-known', fid, host, nonce: freshNonce() })
}

const history = async () => (await claimHistory(stage.database.pool, claimant.fid)) as SealedClaimEvent[]
const profile = () => stage.api.get(`/api/agent/${claimant.fid}`)

describe.each([
  ['the verified address', () => byText('withdraw'), 'withdrawn'],
  ['an app key', () => byKey('withdraw'), 'withdrawn'],
  ['a manifest', () => byManifest('withdraw'), 'withdrawn'],
  ['the custody address', () => byCustody('withdraw'), 'withdrawn_by_custody'],
  ['a token of the custody address', () => byAccount('withdraw', claimant.custody, 'custody'), 'withdrawn_by_custody'],
] as const)('withdrawn by %s', (_, withdraw, reason) => {
  test('all claims end at once, and only what is signed later claims again', async () => {
    const early = await eip191Claim(stage, claimant)
    expect((await byText('claim')).status).toBe(200)
    expect((await byKey('claim')).status).toBe(200)
    expect((await profile()).status).toBe(200)
    stage.clock.now += 60_000
    const answer = await withdraw()
    expect([answer.status, await answer.json()]).toEqual([
      200,
      {
        ok: true,
        fid: claimant.fid,
        withdrawn: [
          { method: 'eip191', nonce: expect.any(String) },
          { method: 'jfs', nonce: expect.any(String) },
        ],
        claimed: false,
      },
    ])
    expect((await profile()).status).toBe(404) // it was an agent by its claim alone
    const events = await history()
    expect(events.map(({ kind }) => kind)).toEqual(['claimed', 'claimed', 'ended', 'ended'])
    expect(events.at(-1)?.evidence).toMatchObject({ reason })
    expect(isClaimHistory(claimant.fid, events)).toBe(true)
    expect(await failure(await send('claim', early))).toMatchObject({ status: 400, error: 'ERR_SIG_EXPIRED' })
    stage.clock.now += 60_000
    const again = await byText('claim')
    expect(again.status).toBe(200)
    expect(((await again.json()) as { claimed_at: string }).claimed_at).toBe((await history()).at(-1)?.at)
    expect((await profile()).status).toBe(200)
  })
})

test('a withdrawal is good once, and is no claim; neither is a claim a withdrawal', async () => {
  await byText('claim')
  stage.clock.now += 1_000
  const body = await eip191Claim(stage, claimant, { action: 'withdraw' })
  expect(await failure(await send('claim', body))).toMatchObject({ error: 'ERR_SIG_INVALID' })
  const accepted = await (await send('withdraw', body)).json()
  const replay = await send('withdraw', body)
  expect([replay.status, await replay.json()]).toMatchObject([409, { replay: true, original: accepted }])
  const claim = await eip191Claim(stage, claimant)
  expect(await failure(await send('withdraw', claim))).toMatchObject({ error: 'ERR_SIG_INVALID' })
  expect(await failure(await send('withdraw', jfsClaim(stage, claimant)))).toMatchObject({
    error: 'ERR_JFS_PAYLOAD_INVALID',
  })
})

test('a nonce serves a claim and a withdrawal each', async () => {
  const nonce = freshNonce()
  expect((await byText('claim', { nonce })).status).toBe(200)
  stage.clock.now += 1_000
  expect((await byText('withdraw', { nonce })).status).toBe(200)
})

test('strangers withdraw nothing: another key, another account, the seller of an account', async () => {
  await byText('claim')
  const stranger = accountOf('a stranger')
  expect((await byText('withdraw', { signer: stranger })).status).toBe(400)
  expect((await byText('withdraw', { signer: stranger, address: stranger.address })).status).toBe(422)
  expect((await byAccount('withdraw', stranger, 'custody')).status).toBe(400)
  expect((await byAccount('withdraw', claimant.custody, 'auth')).status).toBe(400)
  const other = await stage.claimant()
  expect((await byCustody('withdraw', other)).status).toBe(422)
  await stage.chain.execute(funder, transferFid(BigInt(claimant.fid), accountOf(`buyer ${claimant.fid}`).address))
  expect((await byCustody('withdraw')).status).toBe(422)
  expect((await history()).map(({ kind }) => kind)).toEqual(['claimed'])
})

test('a manifest that withdraws does so once, however long it stays', async () => {
  await byManifest('claim')
  expect((await byManifest('withdraw')).status).toBe(200)
  stage.clock.now += 60_000
  expect(await failure(await byManifest('claim', { note: 'another text' }))).toMatchObject({
    error: 'ERR_PAYLOAD_INVALID',
    fields: [{ path: 'manifest.timestamp' }],
  })
  const timestamp = new Date(stage.clock.now).toISOString()
  expect((await byManifest('claim', { timestamp })).status).toBe(200)
  expect(await failure(await byManifest('withdraw'))).toMatchObject({ status: 409, replay: true })
})

test('a manifest that withdrew is known again, though its nonce and time hold no more', async () => {
  const { fid } = claimant
  const { name: host } = stage.host
  stage.hub.state.setProfile(fid, { url: `https://${host}/about` })
  const nonce = freshNonce()
  const timestamp = new Date(stage.clock.now).toISOString()
  const manifest = { service: 'agent-directory', host, fid, withdrawn: true, nonce, timestamp }
  stage.host.pages.set(path, { body: manifest })
  const withdraw = (using: string) => send('withdraw', { method: 'well-known', fid, host, nonce: using })
  const original = await (await withdraw(nonce)).json()
  expect(original).toMatchObject({ ok: true })
  stage.clock.now += 901_000
  expect(await failure(await withdraw(freshNonce()))).toMatchObject({ status: 409, replay: true, original, nonce })
})

test('nothing to withdraw is withdrawn all the same: what was signed before claims no more', async () => {
  const early = await eip191Claim(stage, claimant)
  stage.clock.now += 1_000
  expect(await (await byText('withdraw')).json()).toMatchObject({ withdrawn: [], claimed: false })
  expect(await failure(await send('claim', early))).toMatchObject({ error: 'ERR_SIG_EXPIRED' })
})

test('what others sign for an account uses up none of what its custody may do in a day', async () => {
  const nextMidnight = Math.ceil(stage.clock.now / 86_400_000) * 86_400_000
  stage.clock.now = nextMidnight + 601_000
  const statuses: number[] = []
  for (let actions = 0; actions < 21; actions++) statuses.push((await byKey('withdraw')).status)
  expect(statuses).toEqual([...Array(20).fill(200), 429])
  expect((await byCustody('withdraw')).status).toBe(200)
  expect((await byCustody('unlist')).status).toBe(200)
})

test('the answer to a claim, and its replay, have the status that the profile has', async () => {
  const { pool } = stage.database
  const { fid, address } = claimant
  await seedVerification(pool, { fid, address })
  await seedSent(pool, { chain: 'base', id: fid, owner: address })
  const body = await eip191Claim(stage, claimant)
  const answer = (await (await send('claim', body)).json()) as { agent_status: string }
  const { agent_status } = (await (await profile()).json()) as { agent_status: string }
  expect([answer.agent_status, agent_status]).toEqual(['active', 'active'])
  expect(await failure(await send('claim', body))).toMatchObject({ status: 409, original: answer })
})

test('an unlisted account is nowhere until it is listed again, and only its custody says so', async () => {
  const { pool } = stage.database
  await seedVerification(pool, { fid: claimant.fid, address: claimant.address })
  await seedSent(pool, { chain: 'base', id: claimant.fid, owner: claimant.address })
  await byText('claim')
  await pool.query(`insert into social_profile (fid, bio, updated_at) values ($1, 'a bio', now())`, [claimant.fid])
  expect((await byText('unlist')).status).toBe(422)
  expect((await byKey('unlist')).status).toBe(400)
  expect(await (await byCustody('unlist')).json()).toEqual({ ok: true, fid: claimant.fid, unlisted: true })
  expect((await profile()).status).toBe(404)
  const { rows } = await pool.query('select 1 from social_profile where fid = $1', [claimant.fid])
  expect(rows).toEqual([])
  const lines = (await (await stage.api.get('/data/changes.ndjson')).text()).trim().split('\n')
  const last = lines.map((line) => changeLine.parse(JSON.parse(line))).findLast(({ fid }) => fid === claimant.fid)
  expect(last).toMatchObject({ kind: 'delist' })
  const contract = async () => ({
    claims: (await pool.query('select * from directory.claims where fid = $1', [claimant.fid])).rows,
    events: (await pool.query('select * from directory.claim_events where fid = $1', [claimant.fid])).rows,
    addresses: (await pool.query('select * from directory.addresses where fid = $1', [claimant.fid])).rows,
    holdings: (await pool.query('select * from directory.holdings where fid = $1', [claimant.fid])).rows,
  })
  stage.clock.now += 901_000
  const hidden = await contract()
  const left = { signer: null, verified_addresses: null, host_link: null, proof: null }
  expect(hidden.claims).toMatchObject([{ method: 'eip191', state: 'live', end_reason: null, ...left }])
  expect(hidden.claims[0].proof_sha256).toMatch(/^0x[0-9a-f]{64}$/)
  expect(hidden.events).toMatchObject([{ kind: 'claimed', evidence: null, sha256: (await history())[0]?.sha256 }])
  expect(hidden.addresses).toEqual([])
  expect(hidden.holdings).toEqual([])
  expect(JSON.stringify(hidden)).not.toContain(claimant.address.slice(2))
  expect((await stage.api.get(`/api/agent/${claimant.fid}/proof`)).status).toBe(404)
  stage.clock.now += 1_000
  expect((await byText('claim')).status).toBe(200) // a lower rank does not undo it
  expect((await profile()).status).toBe(404)
  expect(await (await byCustody('relist')).json()).toEqual({ ok: true, fid: claimant.fid, unlisted: false })
  expect((await profile()).status).toBe(200)
  const {
    claims: [first],
    holdings,
  } = await contract()
  expect(holdings).toMatchObject([{ erc8004_id: String(claimant.fid), held_by: claimant.address }])
  expect(first).toMatchObject({ signer: claimant.address, verified_addresses: [claimant.address] })
})

describe('the challenge', () => {
  const challenge = async (query: string) => {
    const answer = await stage.api.get(`/api/claim/challenge?fid=${claimant.fid}&${query}`)
    return { status: answer.status, body: (await answer.json()) as object }
  }

  test('without method and action it is the text of a claim', async () => {
    const { body } = await challenge(`address=${claimant.address}`)
    expect(Object.keys(body)).toEqual(['fid', 'address', 'chain_id', 'nonce', 'timestamp', 'text'])
  })

  test.each(['claim', 'withdraw'] as const)('what it gives for each method is accepted: %s', async (action) => {
    const { fid } = claimant
    const text = challengeAnswer.parse((await challenge(`address=${claimant.address}&action=${action}`)).body)
    if (!('text' in text)) throw new Error('a text')
    const { address, chain_id, nonce, timestamp } = text
    const signature = await claimant.account.signMessage({ message: text.text })
    const body = { method: 'eip191', fid, address, chain_id, nonce, timestamp, signature }
    expect((await send(action, body)).status).toBe(200)
    const token = challengeAnswer.parse((await challenge(`method=jfs&action=${action}`)).body)
    if (!('payload' in token)) throw new Error('a token')
    expect((await send(action, jfsClaim(stage, claimant, { payload: token.payload }))).status).toBe(200)
    const page = challengeAnswer.parse(
      (await challenge(`method=well-known&action=${action}&host=${stage.host.name}`)).body,
    )
    if (!('manifest' in page)) throw new Error('a manifest')
    stage.hub.state.setProfile(fid, { url: `https://${page.host}/about` })
    const addresses = action === 'claim' && { addresses: [claimant.address] } // the index has not read them
    stage.host.pages.set(path, { body: { ...page.manifest, ...addresses } })
    expect((await send(action, { method: 'well-known', fid, host: page.host, nonce: page.nonce })).status).toBe(200)
    expect(page.expires_at).toBe(new Date(stage.clock.now + 900_000).toISOString())
  })

  test('its manifest names no address of an account that took itself out', async () => {
    const { pool } = stage.database
    await seedVerification(pool, { fid: claimant.fid, address: claimant.address })
    const named = async () => {
      const { body } = await challenge(`method=well-known&host=${stage.host.name}`)
      return (body as { manifest: { addresses: string[] } }).manifest.addresses
    }
    expect(await named()).toEqual([claimant.address])
    await byCustody('unlist')
    expect(await named()).toEqual([])
    await byCustody('relist')
    expect(await named()).toEqual([claimant.address])
  })

  test('what cannot be asked for is refused', async () => {
    const refused = { 'method=sms': 'ERR_METHOD_UNSUPPORTED', 'method=jfs&action=steal': 'ERR_PAYLOAD_INVALID' }
    for (const [query, error] of Object.entries(refused)) {
      expect((await challenge(query)).body).toMatchObject({ error })
    }
    expect((await challenge('method=well-known&host=a/b')).body).toMatchObject({ error: 'ERR_PAYLOAD_INVALID' })
    expect((await challenge('method=well-known&action=unlist&host=a.example')).status).toBe(400)
  })
})

/** Rounds of a hundred parallel claims and withdrawals. */
const races = rounds(1, 3)

test('parallel claims and withdrawals have one order, and every reader agrees on the result', {
  tags: ['rounds'],
  timeout: 1_200_000,
}, async () => {
  const apis = [stage.api, await stage.another()]
  for (let race = 0; race < races; race++) {
    stage.clock.now += 3_600_000
    const claimants = await Promise.all(Array.from({ length: 5 }, () => stage.claimant()))
    const requests = await Promise.all(
      claimants.flatMap((one) =>
        Array.from({ length: 20 }, async (_, index) => {
          const action = index % 2 === 0 ? ('claim' as const) : ('withdraw' as const)
          // A later one has a later time, so that some claims come after withdrawals that are signed before them.
          const timestamp = new Date(stage.clock.now + index * 1_000).toISOString()
          return { one, action, body: await eip191Claim(stage, one, { action, timestamp }) }
        }),
      ),
    )
    const answers = await Promise.all(
      requests.map(async ({ one, action, body }, index) => {
        const query = action === 'claim' ? '' : '/withdraw'
        const api = apis[index % 2] as TestApi
        return { fid: one.fid, action, nonce: body.nonce, ...(await sent(() => post(api, body, { query }))) }
      }),
    )
    const now = () => new Date(stage.clock.now)
    for (const { fid } of claimants) {
      // As the join does later for claims that could not get its lock in time.
      await deriveClaimed({ pool: stage.database.pool, fid, settlementOverloads: 'spec', now })
      const own = answers.filter((answer) => answer.fid === fid)
      await agreesOn(fid, own)
    }
  }
})

/**
 * Outcome of the request. A busy machine cannot answer all in time, nor read them: a request without an outcome is sent
 * again, as after any outage, and its answer's `original` tells the outcome if the first was accepted after all.
 */
async function sent(request: () => Promise<Response>): Promise<{ status: number; body: Said }> {
  for (let answer = await request(); ; answer = await request()) {
    if (answer.status === 500) continue
    const body = (await answer.json()) as Said
    if (body.fields?.some(({ path }) => path === 'request')) continue // the body did not arrive in time
    return body.original ? { status: 200, body: body.original } : { status: answer.status, body }
  }
}

interface Said {
  readonly original?: Said
  readonly error?: string
  readonly fields?: readonly { readonly path: string }[]
  readonly claimed_at?: string
  readonly withdrawn?: readonly { nonce: string }[]
}

async function agreesOn(
  fid: number,
  answers: readonly { action: string; nonce: string; status: number; body: Said }[],
): Promise<void> {
  const events = (await claimHistory(stage.database.pool, fid)) as SealedClaimEvent[]
  expect(isClaimHistory(fid, events)).toBe(true)
  const refused = answers.filter(({ status }) => status !== 200)
  expect(refused.filter(({ action, body }) => action !== 'claim' || body.error !== 'ERR_SIG_EXPIRED')).toEqual([])
  // Every answer agrees with the order of the events.
  const standing = new Map<string, string>()
  const told = { claims: new Map<string, string>(), withdrawn: new Map<string, string[]>() }
  for (const { kind, nonce, at, evidence } of events) {
    if (kind === 'claimed') {
      standing.set(nonce, at)
      told.claims.set(nonce, [...standing.values()][0] as string)
    } else {
      standing.delete(nonce)
      const by = (evidence as { nonce: string }).nonce
      told.withdrawn.set(by, [...(told.withdrawn.get(by) ?? []), nonce])
    }
  }
  for (const { action, nonce, status, body } of answers) {
    if (status !== 200) expect(told.claims.has(nonce)).toBe(false)
    else if (action === 'claim') expect(body.claimed_at).toBe(told.claims.get(nonce))
    else expect(body.withdrawn?.map((one) => one.nonce)).toEqual(told.withdrawn.get(nonce) ?? [])
  }
  const { rows } = await stage.database.pool.query(
    `select nonce from claim where fid = $1 and state <> 'ended' order by claimed_at`,
    [fid],
  )
  expect(rows.map(({ nonce }) => nonce)).toEqual([...standing.keys()])
  const shown = await stage.api.get(`/api/agent/${fid}`)
  expect(shown.status).toBe(standing.size > 0 ? 200 : 404)
  if (shown.status === 200) {
    expect(await shown.json()).toMatchObject({ claimed: true, claimed_at: [...standing.values()][0] })
  }
}
