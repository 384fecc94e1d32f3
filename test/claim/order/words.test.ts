import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Claimant, type ClaimStage, eip191Claim, post, startClaimStage } from '../../support/api/claims.ts'

type Action = 'claim' | 'withdraw' | 'unlist' | 'relist'

let stage: ClaimStage
let claimant: Claimant
beforeAll(async () => {
  stage = await startClaimStage()
})
afterAll(() => stage.stop())
beforeEach(async () => {
  claimant = await stage.claimant()
  stage.clock.now += 601_000
})

const second = 1_000
/** The body of an action signed now, or so many seconds later by its own word. */
const signed = (action: Action, seconds = 0) => {
  const byCustody = action === 'unlist' || action === 'relist'
  const timestamp = new Date(stage.clock.now + seconds * second).toISOString()
  const { custody } = claimant
  return eip191Claim(stage, claimant, {
    action,
    timestamp,
    ...(byCustody && { signer: custody, address: custody.address }),
  })
}
async function send(action: Action, body: unknown) {
  const answer = await post(stage.api, body, { query: action === 'claim' ? '' : `/${action}` })
  expect(answer.status).toBe(200)
  return answer.json()
}
const say = async (action: Action, seconds = 0) => send(action, await signed(action, seconds))
const shown = async () => (await stage.api.get(`/api/agent/${claimant.fid}`)).status

test('a relisting that was signed before the unlisting does nothing, one signed after it does', async () => {
  await say('claim')
  const early = await signed('relist')
  stage.clock.now += second
  await say('unlist')
  stage.clock.now += second
  expect(await send('relist', early)).toEqual({ ok: true, fid: claimant.fid, unlisted: true })
  expect(await shown()).toBe(404)
  expect(await say('relist')).toMatchObject({ unlisted: false })
  expect(await shown()).toBe(200)
})

test('an unlisting that was signed before the relisting does nothing', async () => {
  await say('claim')
  await say('unlist')
  stage.clock.now += second
  const early = await signed('unlist')
  stage.clock.now += second
  await say('relist')
  expect(await send('unlist', early)).toEqual({ ok: true, fid: claimant.fid, unlisted: false })
  expect(await shown()).toBe(200)
})

test('a withdrawal ends the claims that were signed up to it, not those signed later', async () => {
  const { nonce } = (await say('claim')) as { nonce: string }
  stage.clock.now += second
  const early = await signed('withdraw')
  stage.clock.now += second
  const later = (await say('claim')) as { nonce: string }
  const withdrawn = [{ method: 'eip191', nonce }]
  expect(await send('withdraw', early)).toEqual({ ok: true, fid: claimant.fid, withdrawn, claimed: true })
  expect(await shown()).toBe(200)
  stage.clock.now += second
  expect(await say('withdraw')).toMatchObject({ withdrawn: [{ nonce: later.nonce }], claimed: false })
  expect(await shown()).toBe(404)
})

test('a word counts as signed when it came if it names a later time: nobody outbids the next one', async () => {
  await say('claim', 600)
  stage.clock.now += second
  expect(await say('withdraw')).toMatchObject({ withdrawn: [{ method: 'eip191' }], claimed: false })
  await say('unlist', 600)
  stage.clock.now += second
  expect(await say('relist')).toMatchObject({ unlisted: false })
})
