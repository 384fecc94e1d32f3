import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { claimProof } from '../../api/schemas/proof.ts'
import { sources } from '../../sources.ts'
import { checkOffline } from '../../trust/proof/checks.ts'
import type { ClaimProof } from '../../trust/proof/proof.ts'
import {
  type Claimant,
  type ClaimStage,
  eip191Claim,
  freshNonce,
  jfsClaim,
  post,
  startClaimStage,
} from '../support/api/claims.ts'
import { type EnrichmentJob, startJob } from '../support/enrichment-job.ts'
import { runMain } from '../support/mains.ts'

// What the service publishes about claims of every method holds before the command that strangers check it with.

let stage: ClaimStage
let job: EnrichmentJob
beforeAll(async () => {
  stage = await startClaimStage()
  job = await startJob({
    database: stage.database,
    clock: {
      now: () => new Date(stage.clock.now),
      pass(ms) {
        stage.clock.now += ms
        return new Date(stage.clock.now)
      },
    },
    env: { HUB_URL: stage.hub.url, RPC_OPTIMISM: stage.chain.rpc, EGRESS_ALLOW: stage.host.name },
    perAgent: [sources.proofs.name],
  })
})
afterAll(async () => {
  await job.close()
  await stage.stop()
})

const proofOf = async ({ fid }: Claimant) => {
  const answer = await stage.api.get(`/api/agent/${fid}/proof`)
  return { status: answer.status, body: (await answer.json()) as ClaimProof }
}

/** The proof of a claim once it is public. */
async function published(claimant: Claimant, body: unknown): Promise<ClaimProof> {
  expect((await post(stage.api, body)).status).toBe(200)
  await job.run()
  expect((await proofOf(claimant)).status).toBe(404) // it could be sent elsewhere while its time is taken
  stage.clock.now += 901_000
  const { status, body: proof } = await proofOf(claimant)
  expect(status).toBe(200)
  claimProof.parse(proof)
  return proof
}

const failed = async (proof: ClaimProof) => (await checkOffline(proof)).filter(({ outcome }) => outcome !== 'held')

test('the proof of a signed text holds, and the command says so', async () => {
  const claimant = await stage.claimant()
  const proof = await published(claimant, await eip191Claim(stage, claimant))
  expect(proof).toMatchObject({ state: 'live', ended: null, method: 'eip191', custody: null })
  expect(proof.keys).toMatchObject([{ key: claimant.appKey.publicKey, state: 1, chain_id: 10 }])
  expect(await failed(proof)).toEqual([])
  const folder = await mkdtemp(join(tmpdir(), 'agent-directory-proof-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = join(folder, 'proof.json')
  await writeFile(file, JSON.stringify(proof))
  const args = [file, '--rpc-10', stage.chain.rpc, '--hub', stage.hub.url]
  expect(await runMain('trust/proof/main.ts', args)).toMatchObject({ code: 0 })
})

test('the proof of a token holds', async () => {
  const claimant = await stage.claimant()
  expect(await failed(await published(claimant, jfsClaim(stage, claimant)))).toEqual([])
})

test('the proof of a manifest holds, with its very bytes', async () => {
  const claimant = await stage.claimant()
  const { fid, address } = claimant
  const { name: host } = stage.host
  stage.hub.state.setProfile(fid, { url: `https://${host}/about` })
  const manifest = { service: 'agent-directory', host, fid, addresses: [address] }
  stage.host.pages.set('/.well-known/agent-directory.json', { body: manifest })
  const proof = await published(claimant, { method: 'well-known', fid, host, nonce: freshNonce() })
  expect(await failed(proof)).toEqual([])
})

test('of several claims the newest that stands is shown, and of an ended one how it ended', async () => {
  const claimant = await stage.claimant()
  await published(claimant, await eip191Claim(stage, claimant))
  await post(stage.api, jfsClaim(stage, claimant))
  expect((await proofOf(claimant)).body.method).toBe('eip191') // the newer one is not public yet
  stage.clock.now += 901_000
  const both = (await proofOf(claimant)).body
  expect(both).toMatchObject({ method: 'jfs', state: 'live' })
  expect(both.history).toHaveLength(2)
  const withdrawal = await eip191Claim(stage, claimant, { action: 'withdraw' })
  expect((await post(stage.api, withdrawal, { query: '/withdraw' })).status).toBe(200)
  stage.clock.now += 31_000 // readers may keep an answer for so long
  const ended = (await proofOf(claimant)).body
  expect(ended).toMatchObject({ state: 'ended', ended: { reason: 'withdrawn' }, method: 'jfs' })
  expect(await failed(ended)).toEqual([])
})

test('there is none of an account that nobody claimed', async () => {
  expect((await proofOf(await stage.claimant())).status).toBe(404)
})
