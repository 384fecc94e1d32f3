import { toHex } from 'viem'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { inTransaction } from '../../db/pool.ts'
import { insertClaim, lockClaims } from '../../db/queries/claims/claims.ts'
import { claimHistory } from '../../db/queries/claims/provable-claims.ts'
import { accountOf, type DevChain, funder, startDevChain } from '../../devnet/chain/chain.ts'
import { addAppKey, recoverFid, registerFid, transferFid } from '../../devnet/chain/farcaster.ts'
import { startHub } from '../../devnet/hub/server.ts'
import { HubState } from '../../devnet/hub/state.ts'
import { appKeyOf } from '../../devnet/world/keys.ts'
import { minute } from '../../ops/time.ts'
import { failure } from '../support/api/api.ts'
import { appKeyOf as claimKeyOf, eip191Claim, jfsClaim, post, startClaimStage } from '../support/api/claims.ts'
import { forkHere } from '../support/chain/branches.ts'
import { type ChainIndex, cleanTables, indexChain, untilSame } from '../support/chain/index-chain.ts'
import { createClock, startJob } from '../support/enrichment-job.ts'

const [first, second, third, fourth, other] = ['first', 'second', 'third', 'fourth', 'other'].map((name) =>
  accountOf(`custody ${name}`),
)
const finality = 20

let chain: DevChain
let index: ChainIndex
beforeAll(async () => {
  chain = await startDevChain('optimism', {})
  index = await indexChain(chain, { finality })
})
afterAll(async () => {
  await index?.close()
  await chain?.stop()
})

const custody = async () => {
  const { rows } = await index.database.pool.query(
    `select fid::int, encode("from", 'hex') as "from", encode("to", 'hex') as "to", kind from fid_custody
      order by block_number, log_index`,
  )
  return rows
}
const hexOf = (account: { address: string } | undefined) => account?.address.slice(2).toLowerCase()

test('a FID that is given away, and one that is recovered, each change their custody', async () => {
  await chain.execute(funder, registerFid(7n, first!.address))
  await chain.execute(funder, registerFid(8n, other!.address))
  expect(await custody()).toEqual([])
  await chain.execute(funder, transferFid(7n, second!.address))
  await chain.execute(funder, recoverFid(7n, third!.address))
  await index.untilHead()
  expect(await custody()).toEqual([
    { fid: 7, from: hexOf(first), to: hexOf(second), kind: 't' },
    { fid: 7, from: hexOf(second), to: hexOf(third), kind: 'r' },
  ])
})

test('what was verified and added before a recovery carries no claim, and what came after it does', async () => {
  const stage = await startClaimStage({ on: { chain, database: index.database } })
  onTestFinished(() => stage.stop())
  /** Later than whatever is on the chain, whose blocks are a second apart at least. */
  const afterHead = async () => {
    const { timestamp } = await chain.client.getBlock()
    stage.clock.now = Math.max(stage.clock.now, (Number(timestamp) + 60) * 1_000)
  }
  const claimant = await stage.claimant()
  const { fid, address, privateKey } = claimant
  expect((await post(stage.api, jfsClaim(stage, claimant))).status).toBe(200)
  await afterHead()
  await chain.client.setNextBlockTimestamp({ timestamp: BigInt(Math.ceil(stage.clock.now / 1_000)) })
  await chain.execute(funder, recoverFid(BigInt(fid), fourth!.address))
  await index.untilHead()
  expect((await custody()).at(-1)).toEqual({ fid, from: hexOf(claimant.custody), to: hexOf(fourth), kind: 'r' })
  await afterHead()
  expect(await failure(await post(stage.api, await eip191Claim(stage, claimant)))).toMatchObject({
    status: 422,
    error: 'ERR_ADDRESS_NOT_VERIFIED',
    detail: expect.stringContaining('was verified before the fid was last transferred'),
  })
  expect(await failure(await post(stage.api, jfsClaim(stage, claimant)))).toMatchObject({
    status: 422,
    error: 'ERR_JFS_KEY_INACTIVE',
    detail: expect.stringContaining('transferred'),
  })
  const appKey = claimKeyOf('after the recovery')
  await chain.execute(funder, addAppKey(BigInt(fid), appKey.publicKey))
  await afterHead()
  const signer = { publicKey: appKey.publicKey, privateKey: toHex(appKey.secret) }
  stage.hub.state.addVerification(fid, address, { privateKey, appKey: signer })
  expect((await post(stage.api, await eip191Claim(stage, claimant))).status).toBe(200)
  expect((await post(stage.api, jfsClaim(stage, { ...claimant, appKey }))).status).toBe(200)
})

test('a change of custody is undone with its block', async () => {
  const before = await custody()
  const fork = await forkHere(chain)
  await fork.mine([[{ from: funder, call: transferFid(8n, first!.address) }]])
  await index.untilHead()
  expect(await custody()).toHaveLength(before.length + 1)
  await fork.mine([[], [], []])
  await untilSame(index, chain, await cleanTables(chain, { finality }))
  expect(await custody()).toEqual(before)
})

test('a claim that a change of custody suspends comes back with the block that is undone, and ends with one that is final', async () => {
  const fid = 9
  const { publicKey } = appKeyOf('custody', 'app')
  await chain.client.setAutomine(true)
  await chain.execute(funder, registerFid(BigInt(fid), first!.address))
  await chain.execute(funder, addAppKey(BigInt(fid), publicKey))
  await index.untilHead()
  const { timestamp } = await chain.client.getBlock()
  const clock = createClock(new Date(Number(timestamp) * 1_000).toISOString())
  const hub = await startHub(new HubState(clock.now))
  const job = await startJob({ ...index, clock, env: { HUB_URL: hub.url, RPC_OPTIMISM: chain.rpc } })
  onTestFinished(async () => {
    await job.close()
    await hub.stop()
  })
  const { pool } = index.database
  const kinds = async () => {
    clock.pass(2 * minute)
    await job.run()
    return (await claimHistory(pool, fid)).map(({ kind }) => kind)
  }
  await inTransaction(pool, async (db) => {
    await lockClaims(db, fid)
    const none = { signedAt: null, hostLink: null, manifestSha256: null, verifiedAddresses: [] }
    const times = { receivedAt: clock.now(), claimedAt: clock.now() }
    const key = { fid, method: 'jfs', nonce: 'custody1', signer: publicKey }
    await insertClaim(db, { ...key, ...none, ...times, proof: {}, proofSha256: Buffer.alloc(32), evidence: '{}' })
  })
  expect(await kinds()).toEqual(['claimed'])

  const fork = await forkHere(chain)
  const sold = [{ from: funder, call: transferFid(BigInt(fid), second!.address) }]
  await fork.mine([sold])
  await index.untilHead()
  expect(await kinds()).toEqual(['claimed', 'suspended'])
  await fork.mine([[], [], []])
  await untilSame(index, chain, await cleanTables(chain, { finality }))
  expect(await kinds()).toEqual(['claimed', 'suspended', 'resumed'])

  await fork.mine([[], [], [], sold, ...Array.from({ length: finality + 1 }, () => [])])
  await index.untilHead()
  await expect.poll(kinds).toContain('ended')
  expect((await claimHistory(pool, fid)).at(-1)?.evidence).toMatchObject({
    reason: 'fid_transferred',
    detail: { chain: chain.name, block_number: Number((await chain.client.getBlockNumber()) - BigInt(finality + 1)) },
  })
})
