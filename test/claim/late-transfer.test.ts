import { keccak256, toBytes, toHex } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { claimHistory } from '../../db/queries/read/claim-proof.ts'
import { accountOf, funder } from '../../devnet/chain/chain.ts'
import { addAppKey } from '../../devnet/chain/farcaster.ts'
import { hour, minute } from '../../ops/time.ts'
import type { SealedClaimEvent } from '../../trust/claim-event.ts'
import {
  appKeyOf,
  type Claimant,
  type ClaimStage,
  eip191Claim,
  freshNonce,
  jfsClaim,
  post,
  startClaimStage,
} from '../support/api/claims.ts'
import { type EnrichmentJob, startJob } from '../support/enrichment-job.ts'
import { insert } from '../support/seed.ts'

const path = '/.well-known/agent-directory.json'
let stage: ClaimStage
let job: EnrichmentJob
let claimant: Claimant
const jobOf = (env: Record<string, string> = {}) =>
  startJob({
    database: stage.database,
    clock: {
      now: () => new Date(stage.clock.now),
      pass(ms) {
        stage.clock.now += ms
        return new Date(stage.clock.now)
      },
    },
    env: { HUB_URL: stage.hub.url, RPC_OPTIMISM: stage.chain.rpc, EGRESS_ALLOW: stage.host.name, ...env },
  })
beforeAll(async () => {
  stage = await startClaimStage()
  job = await jobOf()
})
afterAll(async () => {
  await job.close()
  await stage.stop()
})
beforeEach(async () => {
  // Accounts of earlier tests are not read again.
  stage.hub.state.accounts.clear()
  await stage.database.pool.query(`delete from source_state where subject like 'fid:%'`)
  claimant = await stage.claimant()
  stage.hub.faults.clear()
  stage.host.pages.clear()
  stage.host.faults.clear()
  await passing(11 * minute)
})

async function passing(ms: number) {
  stage.clock.now += ms
  await job.run()
}

/** Passes of the claim checks alone after `ms`: nothing else changes in these tests. */
async function looking(ms: number) {
  stage.clock.now += ms
  while ((await job.pass('claim_checks')).length > 0);
  await job.join()
}

const history = async () => (await claimHistory(stage.database.pool, claimant.fid)) as SealedClaimEvent[]
const kinds = async () => (await history()).map(({ kind }) => kind)
const lastEvidence = async () => (await history()).at(-1)?.evidence
async function claimed(body: unknown) {
  expect((await post(stage.api, body)).status).toBe(200)
  await job.run()
}
const byText = async () => claimed(await eip191Claim(stage, claimant))
const byKey = async () => claimed(jfsClaim(stage, claimant))
async function byManifest() {
  const { fid, address } = claimant
  const { name: host } = stage.host
  stage.hub.state.setProfile(fid, { url: `https://${host}/about` })
  stage.host.pages.set(path, { body: { service: 'agent-directory', host, fid, addresses: [address] } })
  await claimed({ method: 'well-known', fid, host, nonce: freshNonce() })
}

/** Stores a transfer of the account as the processor would. */
async function transferred(block: number, at: number) {
  await insert(stage.database.pool, 'fid_custody', {
    id: `optimism-${block}-${claimant.fid}`,
    chain: 'optimism',
    fid: claimant.fid,
    kind: 't',
    from: Buffer.alloc(20, 1),
    to: Buffer.alloc(20, 2),
    block_number: block,
    log_index: 3,
    block_timestamp: new Date(at),
    tx_hash: Buffer.alloc(32, 7),
  })
}
const finalized = (block: number) =>
  stage.database.pool.query(
    `insert into chain_state (chain, chain_id, indexed_block, finalized_block, head_block, updated_at)
     values ('optimism', 10, $1, $1, $1, now()) on conflict (chain) do update set finalized_block = $1`,
    [block],
  )

describe('a transfer that is stored after a claim, of a block before it', () => {
  /** Stores the transfer of a second before now, as of the newest block there is. */
  async function transferredBefore({ at = stage.clock.now - 1_000, isFinal = true } = {}) {
    const block = Number(await stage.chain.client.getBlockNumber())
    await finalized(isFinal ? block : block - 1)
    await transferred(block, at)
    await job.run()
    return block
  }

  test.each([
    ['an address', byText],
    ['an app key', byKey],
  ])('ends the claim of the former owner at once: %s', async (_, claim) => {
    await claim()
    const block_number = await transferredBefore()
    expect(await kinds()).toEqual(['claimed', 'ended'])
    expect(await lastEvidence()).toMatchObject({ reason: 'fid_transferred', detail: { block_number } })
  })

  test('ends the claim of the former owner at the next look: a manifest', async () => {
    await byManifest()
    await transferredBefore()
    await looking(27 * hour)
    expect(await kinds()).toEqual(['claimed', 'ended'])
    expect(await lastEvidence()).toMatchObject({ reason: 'fid_transferred' })
  })

  test('leaves a manifest no address of before it, whichever it names since', async () => {
    const { fid, address } = claimant
    const { name: host } = stage.host
    const other = accountOf(`other of ${fid}`).address.toLowerCase()
    stage.hub.state.addVerification(fid, other, { privateKey: keccak256(toBytes(`other of ${fid}`)) })
    await byManifest()
    await transferredBefore()
    stage.hub.state.removeVerification(fid, address)
    stage.host.pages.set(path, { body: { service: 'agent-directory', host, fid, addresses: [other] } })
    await passing(minute)
    await looking(27 * hour)
    const problem = 'addresses that were verified before the account changed hands'
    expect(await lastEvidence()).toMatchObject({ reason: 'manifest_gone', looks: [{ detail: { host, problem } }] })
  })

  test('ends a claim whose address was verified since, by a key of the former owner', async () => {
    stage.hub.state.addVerification(claimant.fid, claimant.address, { privateKey: claimant.privateKey })
    await byText()
    await transferredBefore({ at: stage.clock.now - minute })
    expect(await kinds()).toEqual(['claimed', 'ended'])
  })

  test('suspends the claim until its block is final', async () => {
    await byText()
    const block = await transferredBefore({ isFinal: false })
    expect(await kinds()).toEqual(['claimed', 'suspended'])
    await finalized(block)
    await passing(2 * minute)
    expect(await kinds()).toEqual(['claimed', 'suspended', 'ended'])
  })

  test('leaves the claims of the new owner alone', async () => {
    const transferBlock = Number(await stage.chain.client.getBlockNumber())
    const transferAt = stage.clock.now
    stage.clock.now += minute
    const appKey = appKeyOf(`new key of ${claimant.fid}`)
    await stage.chain.execute(funder, addAppKey(BigInt(claimant.fid), appKey.publicKey))
    const signer = { publicKey: appKey.publicKey, privateKey: toHex(appKey.secret) }
    const { fid, address, privateKey } = claimant
    stage.hub.state.addVerification(fid, address, { privateKey, appKey: signer })
    claimant = { ...claimant, appKey }
    await byText()
    await byKey()
    await finalized(transferBlock)
    await transferred(transferBlock, transferAt)
    await job.run()
    await looking(27 * hour)
    expect(await kinds()).toEqual(['claimed', 'claimed'])
  })
})
