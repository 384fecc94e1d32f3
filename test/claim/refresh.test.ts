import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { accountOf, funder } from '../../devnet/chain/chain.ts'
import { removeAppKey } from '../../devnet/chain/farcaster.ts'
import { failure } from '../support/api/api.ts'
import { type Claimant, type ClaimStage, freshClient, jfsClaim, post, startClaimStage } from '../support/api/claims.ts'
import { seedVerification } from '../support/seed.ts'

let stage: ClaimStage
let claimant: Claimant
beforeAll(async () => {
  stage = await startClaimStage()
})
afterAll(() => stage.stop())
beforeEach(async () => {
  claimant = await stage.claimant()
  stage.hub.faults.clear()
  await seedVerification(stage.database.pool, { fid: claimant.fid, address: claimant.address })
  expect((await post(stage.api, jfsClaim(stage, claimant))).status).toBe(200)
  await stage.database.pool.query('delete from source_state')
})

const refresh = (client = freshClient(), { fid }: { fid: number | string } = claimant) =>
  stage.api.get(`/api/agent/${fid}/refresh`, { method: 'POST', headers: { 'x-forwarded-for': client } })
const outcome = async () => {
  const answer = await refresh()
  expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store'])
  return answer.json()
}
const readNext = async () =>
  (await stage.database.pool.query('select source, subject from source_state order by source')).rows

test('what still holds is unchanged', async () => {
  const { fid } = claimant
  expect(await outcome()).toEqual({ ok: true, fid, outcome: 'unchanged', asked: ['hub', 'registry'] })
  expect(await readNext()).toEqual([])
})

test.each<[string, () => unknown]>([
  ['an address', () => stage.hub.state.addVerification(claimant.fid, accountOf('another').address)],
  ['a key', () => stage.chain.execute(funder, removeAppKey(BigInt(claimant.fid), claimant.appKey.publicKey))],
])('%s that changed has the account read next', async (_, change) => {
  await change()
  expect(await outcome()).toMatchObject({ outcome: 'changed' })
  expect(await readNext()).toEqual([
    { source: 'claim_checks', subject: `fid:${claimant.fid}` },
    { source: 'socialindex', subject: `fid:${claimant.fid}` },
  ])
})

test('what the hub leaves out and another one still has is unchanged, and the account is read next', async () => {
  const { pool } = stage.database
  const { fid } = claimant
  const address = accountOf('kept').address.toLowerCase()
  await seedVerification(pool, { fid, address })
  await pool.query(`update verified_address set observed_at = $2, message_hash = '\\x01' where fid = $1`, [
    fid,
    new Date(stage.clock.now - 3_600_000),
  ])
  await pool.query(
    `insert into verification_witness (fid, message_hash, url, has, disputed, checked_at)
     values ($1, '\\x01', 'https://other.example', true, false, now())`,
    [fid],
  )
  expect(await outcome()).toMatchObject({ outcome: 'unchanged' })
  expect(await readNext()).toHaveLength(2)
  await pool.query('delete from verification_witness')
  stage.clock.now += 60_000
  expect(await outcome()).toMatchObject({ outcome: 'changed' })
})

test('a first answer without any address changes nothing yet, the second one an hour later does', async () => {
  const { pool } = stage.database
  stage.hub.state.accounts.get(claimant.fid)!.verifications.clear()
  await pool.query('update verified_address set observed_at = $1', [new Date(stage.clock.now - 3_600_000)])
  expect(await outcome()).toMatchObject({ outcome: 'unchanged' })
  await pool.query('insert into emptied_account (fid, first_empty_at) values ($1, $2)', [
    claimant.fid,
    new Date(stage.clock.now),
  ])
  stage.clock.now += 3_600_000
  expect(await outcome()).toMatchObject({ outcome: 'changed' })
})

test('where claims do not lapse, a key that was removed changes nothing', async () => {
  await stage.chain.execute(funder, removeAppKey(BigInt(claimant.fid), claimant.appKey.publicKey))
  const api = await stage.another({ claimsLapse: false })
  const answer = await api.get(`/api/agent/${claimant.fid}/refresh`, {
    method: 'POST',
    headers: { 'x-forwarded-for': freshClient() },
  })
  expect(await answer.json()).toMatchObject({ outcome: 'unchanged' })
})

test('a claim that is suspended for another reason than its key is unchanged', async () => {
  await stage.database.pool.query(
    `insert into claim_event (fid, method, nonce, kind, at, evidence)
     select fid, method, nonce, 'suspended', $2, '{"reason": "disputed"}' from claim where fid = $1`,
    [claimant.fid, new Date(stage.clock.now)],
  )
  expect(await outcome()).toMatchObject({ outcome: 'unchanged' })
})

test('a fid is asked about once in a minute, by whomever, and a client ten times in ten', async () => {
  expect((await refresh()).status).toBe(200)
  expect(await failure(await refresh())).toMatchObject({
    status: 429,
    error: 'ERR_RATE_LIMITED',
    limits: { attempts: 1, windowSeconds: 60 },
  })
  const client = freshClient()
  for (let count = 0; count < 10; count++) {
    stage.clock.now += 60_000 / 2
    await refresh(client)
  }
  expect(await failure(await refresh(client))).toMatchObject({ limits: { attempts: 10, windowSeconds: 600 } })
  stage.clock.now += 600_000
  expect((await refresh(client)).status).toBe(200)
})

test('an account that took itself out is nobody here, though its claim stands', async () => {
  await stage.database.pool.query('insert into unlisted (fid, since) values ($1, now())', [claimant.fid])
  expect(await failure(await refresh())).toMatchObject({ status: 404, error: 'ERR_NOT_FOUND' })
  await stage.database.pool.query('delete from unlisted')
  expect((await refresh()).status).toBe(200)
})

test('an account that is nobody here is not asked about', async () => {
  expect((await refresh(freshClient(), { fid: 999_999 })).status).toBe(404)
  expect((await refresh(freshClient(), { fid: 'x' })).status).toBe(400)
})
