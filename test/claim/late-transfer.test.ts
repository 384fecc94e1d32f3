import { keccak256, toBytes, toHex } from 'viem'
import { describe, expect, test } from 'vitest'
import { accountOf, funder } from '../../devnet/chain/chain.ts'
import { addAppKey } from '../../devnet/chain/farcaster.ts'
import { hour, minute } from '../../ops/time.ts'
import { claimChecks, manifestPath } from '../support/api/claim-checks.ts'
import { appKeyOf } from '../support/api/claims.ts'

const checks = claimChecks()
const { passing, looking, kinds, lastEvidence, byText, byKey, byManifest, transferred, finalized } = checks

describe('a transfer that is stored after a claim, of a block before it', () => {
  /** Stores the transfer of a second before now, as of the newest block there is. */
  async function transferredBefore({ at = checks.stage.clock.now - 1_000, isFinal = true } = {}) {
    const block = Number(await checks.stage.chain.client.getBlockNumber())
    await finalized(isFinal ? block : block - 1)
    await transferred('t', block, at)
    await checks.job.run()
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
    const { fid, address } = checks.claimant
    const { name: host } = checks.stage.host
    const other = accountOf(`other of ${fid}`).address.toLowerCase()
    checks.stage.hub.state.addVerification(fid, other, { privateKey: keccak256(toBytes(`other of ${fid}`)) })
    await byManifest()
    await transferredBefore()
    checks.stage.hub.state.removeVerification(fid, address)
    checks.stage.host.pages.set(manifestPath, { body: { service: 'agent-directory', host, fid, addresses: [other] } })
    await passing(minute)
    await looking(27 * hour)
    const problem = 'addresses that were verified before the account changed hands'
    expect(await lastEvidence()).toMatchObject({ reason: 'manifest_gone', looks: [{ detail: { host, problem } }] })
  })

  test('ends a claim whose address was verified since, by a key of the former owner', async () => {
    checks.stage.hub.state.addVerification(checks.claimant.fid, checks.claimant.address, {
      privateKey: checks.claimant.privateKey,
    })
    await byText()
    await transferredBefore({ at: checks.stage.clock.now - minute })
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
    const transferBlock = Number(await checks.stage.chain.client.getBlockNumber())
    const transferAt = checks.stage.clock.now
    checks.stage.clock.now += minute
    const appKey = appKeyOf(`new key of ${checks.claimant.fid}`)
    await checks.stage.chain.execute(funder, addAppKey(BigInt(checks.claimant.fid), appKey.publicKey))
    const signer = { publicKey: appKey.publicKey, privateKey: toHex(appKey.secret) }
    const { fid, address, privateKey } = checks.claimant
    checks.stage.hub.state.addVerification(fid, address, { privateKey, appKey: signer })
    checks.claimant = { ...checks.claimant, appKey }
    await byText()
    await byKey()
    await finalized(transferBlock)
    await transferred('t', transferBlock, transferAt)
    await checks.job.run()
    await looking(27 * hour)
    expect(await kinds()).toEqual(['claimed', 'claimed'])
  })
})
