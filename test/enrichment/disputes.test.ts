import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { sources } from '../../config/sources.ts'
import { agentAddresses } from '../../db/queries/addresses/addresses.ts'
import { claimHistory } from '../../db/queries/claims/provable-claims.ts'
import { startHubGrpc } from '../../devnet/hub/grpc.ts'
import { type Message, type MessageSigner, makeMessage } from '../../devnet/hub/messages.ts'
import { type Hub, startHub } from '../../devnet/hub/server.ts'
import { HubState } from '../../devnet/hub/state.ts'
import { appKeyOf } from '../../devnet/world/keys.ts'
import { hour, minute } from '../../ops/time.ts'
import type { ClaimProof } from '../../trust/proof/proof.ts'
import { failure } from '../support/api/api.ts'
import { startStageJob } from '../support/api/claim-checks.ts'
import {
  type Claimant,
  type ClaimStage,
  eip191Claim,
  freshNonce,
  jfsClaim,
  post,
  startClaimStage,
} from '../support/api/claims.ts'
import type { EnrichmentJob } from '../support/enrichment-job.ts'

// Two hubs that disagree about a verification, whichever of them lacks it, and the claims that rest on it.

const path = '/.well-known/agent-directory.json'
let stage: ClaimStage
let other: Hub
/** gRPC servers of both hubs, the source of removals; only the last tests have any. */
let grpc: Record<'followed' | 'other', Awaited<ReturnType<typeof startHubGrpc>>>
let job: EnrichmentJob
let claimant: Claimant
beforeAll(async () => {
  stage = await startClaimStage()
})
afterAll(() => stage.stop())
beforeEach(async () => {
  stage.hub.state.accounts.clear()
  await stage.database.pool.query(`delete from source_state where subject like 'fid:%'`)
  other = await startHub(new HubState(() => new Date(stage.clock.now)))
  grpc = { followed: await startHubGrpc(stage.hub.state), other: await startHubGrpc(other.state) }
  job = await startStageJob(stage, {
    env: { HUB_URL: `${stage.hub.url},${other.url}`, HUB_GRPC: `${grpc.followed.url},${grpc.other.url}` },
    perAgent: [sources.witnesses.name],
  })
  claimant = await stage.claimant()
  other.state.accounts.set(claimant.fid, structuredClone(account(stage.hub)))
  await passing(11 * minute)
})
afterEach(async () => {
  await job.close()
  for (const one of Object.values(grpc)) one.stop()
  await other.stop()
})

const account = (hub: Hub) => hub.state.accounts.get(claimant.fid)!
const hostOf = (hub: Hub) => new URL(hub.url).host

async function passing(ms: number) {
  stage.clock.now += ms
  await job.run()
}
/** Removes the account's verifications from a hub without an event; returns the function that puts them back. */
function drop(hub: Hub) {
  const kept = [...account(hub).verifications]
  account(hub).verifications.clear()
  return () => {
    for (const [key, message] of kept) account(hub).verifications.set(key, message)
  }
}
/** Makes the account due at both hubs and reads it, a minute later. */
async function readAgain() {
  stage.clock.now += minute
  const due = `update source_state set due_at = $1 where subject = $2 and source = any ($3)`
  const names = [sources.fids.name, sources.witnesses.name]
  await stage.database.pool.query(due, [new Date(stage.clock.now), `fid:${claimant.fid}`, names])
  await job.run()
}

async function claimed(body: unknown) {
  expect((await post(stage.api, body)).status).toBe(200)
  await job.run()
}
const byText = async () => claimed(await eip191Claim(stage, claimant))
async function byManifest() {
  const { fid, address } = claimant
  const { name: host } = stage.host
  stage.hub.state.setProfile(fid, { url: `https://${host}/about` })
  // The other hub has the same message: a profile that it lacks would be disputed as well.
  other.state.accounts.set(fid, structuredClone(account(stage.hub)))
  // Some tools write checksummed addresses (EIP-55).
  const addresses = [claimant.account.address]
  expect(addresses).not.toEqual([address])
  stage.host.pages.set(path, { body: { service: 'agent-directory', host, fid, addresses } })
  await claimed({ method: 'well-known', fid, host, nonce: freshNonce() })
}
const history = () => claimHistory(stage.database.pool, claimant.fid)
const kinds = async () => (await history()).map(({ kind }) => kind)
const lastEvidence = async () => (await history()).at(-1)?.evidence
const shown = async () => {
  const [address] = (await agentAddresses(stage.database.pool, claimant.fid)) ?? []
  return address && { disputed: address.disputed, witnesses: address.witnesses.map(({ hub, has }) => ({ hub, has })) }
}

describe.each([
  ['eip191', byText],
  ['well-known', byManifest],
])('a claim by %s', (_, claim) => {
  test('is suspended while the other hub lacks its verification, and resumes when it has it again', async () => {
    await claim()
    const undo = drop(other)
    await readAgain()
    expect(await kinds()).toEqual(['claimed'])
    await passing(10 * minute)
    expect(await kinds()).toEqual(['claimed', 'suspended'])
    expect(await lastEvidence()).toMatchObject({
      reason: 'disputed',
      looks: [
        {
          detail: {
            address: claimant.address,
            message: expect.stringMatching(/^0x[0-9a-f]{40}$/),
            hubs: [
              { hub: hostOf(stage.hub), has: true },
              { hub: hostOf(other), has: false },
            ],
          },
        },
      ],
    })
    await passing(30 * minute)
    expect(await kinds()).toEqual(['claimed', 'suspended'])
    undo()
    await passing(10 * minute)
    expect(await kinds()).toEqual(['claimed', 'suspended', 'resumed'])
  })

  test('is suspended while the followed hub lacks what the other one has, and resumes when it has it again', async () => {
    await claim()
    const undo = drop(stage.hub)
    await readAgain()
    await passing(80 * minute) // an answer that empties a set is asked for twice
    await passing(10 * minute)
    expect(await kinds()).toEqual(['claimed', 'suspended'])
    expect(await lastEvidence()).toMatchObject({
      reason: 'disputed',
      looks: [
        {
          detail: {
            hubs: expect.arrayContaining([
              { hub: hostOf(stage.hub), has: false },
              { hub: hostOf(other), has: true },
            ]),
          },
        },
      ],
    })
    await passing(24 * hour)
    expect(await kinds()).toEqual(['claimed', 'suspended'])
    undo()
    await passing(10 * minute)
    expect(await kinds()).toEqual(['claimed', 'suspended', 'resumed'])
  })
})

describe('a verification that the followed hub leaves out', () => {
  beforeEach(byText)
  async function leftOut() {
    const undo = drop(stage.hub)
    await readAgain()
    await passing(80 * minute)
    await passing(10 * minute)
    return undo
  }

  test('is kept and shown as disputed, both hubs named, as long as another one has it', async () => {
    await leftOut()
    const seen = await shown()
    expect(seen?.disputed).toBe(true)
    expect(seen?.witnesses).toHaveLength(2)
    expect(seen?.witnesses).toContainEqual({ hub: hostOf(stage.hub), has: false })
    expect(seen?.witnesses).toContainEqual({ hub: hostOf(other), has: true })
    expect(await stage.api.get(`/api/agent/${claimant.fid}`).then((answer) => answer.json())).toMatchObject({
      claimed: true,
      claim_state: 'suspended',
      verified_addresses: [claimant.address],
    })
  })

  test('is in the proof with what each hub has, and how each one stood', async () => {
    await leftOut()
    const proof = async () => {
      stage.clock.now += minute // readers may keep an answer for so long
      return (await stage.api.get(`/api/agent/${claimant.fid}/proof`)).json() as Promise<ClaimProof>
    }
    const [hash] = (await proof()).address_proofs.map(({ message }) => message?.hash)
    const followed = { operator: hostOf(stage.hub), witness: false, standing: 'believed', has: [], lacks: [hash] }
    const wordOf = async (hub: Hub) => (await proof()).sources.find(({ operator }) => operator === hostOf(hub))
    expect(await wordOf(stage.hub)).toMatchObject(followed)
    expect(await wordOf(other)).toMatchObject({ witness: true, standing: 'believed', has: [hash], lacks: [] })
    Object.assign(other.state.told, { delaySeconds: 900 })
    await readAgain()
    expect(await wordOf(other)).toMatchObject({ standing: 'its newest block is 900 s old', has: [], lacks: [] })
  })

  test('ends when the other one does not have it either', async () => {
    await leftOut()
    drop(other)
    await readAgain()
    await passing(10 * minute)
    expect(await shown()).toBeUndefined()
  })

  test('ends when the other one is behind: what it said before counts no more', async () => {
    await leftOut()
    Object.assign(other.state.told, { delaySeconds: 900 })
    await readAgain()
    await passing(10 * minute)
    expect(await shown()).toBeUndefined()
  })

  test('goes on when the followed hub alone says that the network let it go, and ends so when the other one did too', async () => {
    const { fid, address } = claimant
    stage.hub.state.removeVerification(fid, address, 'prune')
    await passing(minute)
    expect(await shown()).toMatchObject({ disputed: false })
    await passing(80 * minute)
    await passing(10 * minute)
    expect(await shown()).toMatchObject({ disputed: true })
    expect(await lastEvidence()).toMatchObject({ reason: 'disputed' })
    other.state.removeVerification(fid, address, 'prune')
    await readAgain()
    await passing(10 * minute)
    expect(await shown()).toBeUndefined()
    for (let days = 0; days < 4; days++) await passing(24 * hour)
    expect((await kinds()).slice(0, 1)).toEqual(['claimed'])
    expect(await kinds()).not.toContain('ended') // nobody has taken it back
    expect(await lastEvidence()).toMatchObject({
      reason: 'verification_removed',
      looks: [{ detail: { address, pruned: true } }],
    })
  })

  test('ends by a signed removal whatever the other one still has', async () => {
    const undo = await leftOut()
    undo()
    stage.hub.state.removeVerification(claimant.fid, claimant.address)
    await passing(minute)
    expect(await shown()).toBeUndefined()
    expect((await kinds()).at(-1)).toBe('ended')
  })
})

test.for([
  ['before its removal', false],
  ['in the second of its removal', true],
] as const)(
  'a verification signed %s that both hubs show again does not count, and carries no claim',
  async ([, isThen]) => {
    await byText()
    await claimed(jfsClaim(stage, claimant))
    const { fid, address, privateKey } = claimant
    const { verifications, shard } = account(stage.hub)
    await passing(minute)
    if (isThen) stage.hub.state.addVerification(fid, address, { privateKey })
    const [[key, message]] = [...verifications] as [[string, Message]]
    stage.hub.state.removeVerification(fid, address)
    await passing(minute)
    verifications.set(key, message)
    stage.hub.state.shards
      .get(shard)!
      .append(stage.clock.now, [
        { type: 'HUB_EVENT_TYPE_MERGE_MESSAGE', mergeMessageBody: { message, deletedMessages: [] } },
      ])
    await passing(minute)
    await readAgain()
    expect(await shown()).toBeUndefined()
    const again = await failure(await post(stage.api, await eip191Claim(stage, claimant)))
    expect(again).toMatchObject({ error: 'ERR_ADDRESS_NOT_VERIFIED', detail: expect.stringContaining('taken its') })
    stage.hub.state.addVerification(fid, address, { privateKey })
    await claimed(await eip191Claim(stage, claimant))
    await passing(minute)
    expect(await shown()).toBeDefined()
  },
)

describe('a removal that hubs tell by gRPC alone', () => {
  beforeEach(byText)

  /** Gives a hub the account's removal message, signed by `signer`, without an event of it. */
  function keep(hub: Hub, { signer = account(hub).signer, at = stage.clock.now, bend = (one: Message) => one } = {}) {
    const { fid, address } = claimant
    const verificationRemoveBody = { address, protocol: 'PROTOCOL_ETHEREUM' }
    const body = { verificationRemoveBody }
    const message = makeMessage('MESSAGE_TYPE_VERIFICATION_REMOVE', { fid, signer, unixMs: at }, body)
    account(hub).removals.set(message.hash, bend(message))
    return message
  }
  const lackingRound = async () => {
    await readAgain()
    await passing(10 * minute)
  }
  const endedBy = (removal: Message) => ({
    reason: 'verification_removed',
    detail: { address: claimant.address, removal: removal.hash },
  })

  test('ends what the followed hub leaves out and the other one still has', async () => {
    drop(stage.hub)
    stage.clock.now += minute
    const removal = keep(stage.hub)
    await readAgain()
    await passing(80 * minute)
    await passing(10 * minute)
    expect(await shown()).toBeUndefined()
    expect((await kinds()).at(-1)).toBe('ended')
    expect(await lastEvidence()).toMatchObject(endedBy(removal))
  })

  test('ends what the followed hub still shows, for good', async () => {
    drop(other)
    stage.clock.now += minute
    const removal = keep(other)
    await lackingRound()
    expect(await shown()).toBeUndefined()
    expect(await kinds()).toEqual(['claimed', 'ended'])
    expect(await lastEvidence()).toMatchObject(endedBy(removal))
    await lackingRound()
    expect(await shown()).toBeUndefined()
  })

  test("changes nothing when it is forged, older than the verification, or of a key that is not the account's", async () => {
    drop(other)
    stage.clock.now += minute
    const stranger: MessageSigner = appKeyOf('disputes', 'stranger')
    const flipped = (text: string) => Buffer.from(text, 'base64').map((byte, at) => (at === 9 ? byte ^ 1 : byte))
    keep(other, { signer: stranger })
    keep(other, { at: stage.clock.now + 1_000, bend: (one) => ({ ...one, signer: stranger.publicKey }) })
    keep(other, {
      at: stage.clock.now + 2_000,
      bend: (one) => ({ ...one, signature: Buffer.from(flipped(one.signature)).toString('base64') }),
    })
    keep(other, { at: stage.clock.now - 24 * hour })
    keep(other, {
      at: stage.clock.now + 3_000,
      bend: (one) => ({ ...one, data: { ...one.data, fid: claimant.fid + 1 } }),
    })
    expect(account(other).removals.size).toBe(5)
    await lackingRound()
    expect(grpc.other.asked).toContain(claimant.fid)
    expect(await kinds()).toEqual(['claimed', 'suspended'])
    expect(await shown()).toMatchObject({ disputed: true })
    await passing(24 * hour)
    expect(await kinds()).toEqual(['claimed', 'suspended'])
  })

  test('is not there when nobody answers: the hubs disagree as before', async () => {
    keep(other)
    for (const one of Object.values(grpc)) one.stop()
    drop(other)
    await lackingRound()
    expect(await kinds()).toEqual(['claimed', 'suspended'])
    expect(await shown()).toMatchObject({ disputed: true })
  })

  test('is not asked for while both hubs have the same', async () => {
    const before = grpc.other.asked.length
    await lackingRound()
    expect(grpc.other.asked.length).toBe(before)
  })
})
