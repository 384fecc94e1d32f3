import { type Hex, keccak256, type LocalAccount, toBytes, toHex } from 'viem'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { accountOf, funder } from '../../devnet/chain/chain.ts'
import { addAppKey, transferFid } from '../../devnet/chain/farcaster.ts'
import { startLimitedNode } from '../processors/backfill/limited-node.ts'
import { failure } from '../support/api/api.ts'
import {
  addAuthAddress,
  appKeyOf,
  associationOf,
  buyerOf,
  type Claimant,
  type ClaimStage,
  eip191Claim,
  freshNonce,
  jfsClaim,
  post,
  startClaimStage,
  transferAccount,
  withdrawalOf,
} from '../support/api/claims.ts'
import { type ChainRows, chainRows } from '../support/chain/rows.ts'

const path = '/.well-known/agent-directory.json'
let stage: ClaimStage
/** Of an account that was given away; `seller` is who had it, with all that he had. */
let seller: Claimant
let buyer: Claimant
let rows: ChainRows
beforeAll(async () => {
  stage = await startClaimStage()
  rows = chainRows(stage.database.pool)
})
afterAll(() => stage.stop())

beforeEach(async () => {
  stage.host.pages.clear()
  stage.clock.now += 601_000 // a new window of the limiter: the host is always the same
  seller = await stage.claimant()
  await addAuthAddress(stage, seller.fid, sellersAuth().address)
  await transferAccount(stage, seller.fid)
  const appKey = appKeyOf(`new key of ${seller.fid}`)
  await stage.chain.execute(funder, addAppKey(BigInt(seller.fid), appKey.publicKey))
  const wallet = `new wallet of ${seller.fid}`
  const account = accountOf(wallet)
  const address = account.address.toLowerCase() as Hex
  const privateKey = keccak256(toBytes(wallet))
  buyer = { ...seller, account, address, privateKey, custody: buyerOf(seller.fid), appKey }
  const signer = { publicKey: appKey.publicKey, privateKey: toHex(appKey.secret) }
  stage.hub.state.addVerification(buyer.fid, address, { privateKey, at: new Date(Date.now() + 60_000), appKey: signer })
})

const sellersAuth = () => accountOf(`auth address before the sale of ${seller.fid}`)
const association = (...[signer, type]: [LocalAccount, 'custody' | 'auth']) =>
  associationOf(signer, type, { fid: seller.fid, domain: stage.host.name })

/** Serves a manifest on the host and sends it, to claim for the buyer's address or to withdraw. */
function send(action: 'claim' | 'withdraw', change: object = {}) {
  const { fid, address } = buyer
  const { name: host } = stage.host
  const own = action === 'claim' ? { addresses: [address] } : { withdrawn: true }
  stage.host.pages.set(path, { body: { service: 'agent-directory', host, fid, ...own, ...change } })
  const query = action === 'claim' ? '' : `/${action}`
  return post(stage.api, { method: 'well-known', fid, host, nonce: freshNonce() }, { query })
}

const notLinked = { status: 422, error: 'ERR_FID_MISMATCH' }

/** What the former owner left behind that names a host of his. */
const left: readonly [string, () => Promise<object>][] = [
  [
    'the profile',
    async () => {
      stage.hub.state.setProfile(seller.fid, { url: `https://${stage.host.name}` })
      return {}
    },
  ],
  [
    'a registration that his address holds',
    async () => {
      const token = { chain: 'base', id: seller.fid } as const
      await rows.transfer(token, null, seller.address, new Date('2026-01-01T00:00:00Z'))
      await rows.setUri(token, `http://${stage.host.name}/agent.json`, new Date('2026-01-02T00:00:00Z'))
      return {}
    },
  ],
  ['an auth address', async () => ({ accountAssociation: await association(sellersAuth(), 'auth') })],
]

test.for(left)(
  'after a transfer %s of the former owner links no host: it claims nothing and withdraws nothing',
  async ([_, leave]) => {
    const more = await leave()
    expect(await failure(await send('claim', more))).toMatchObject(notLinked)
    expect((await post(stage.api, await eip191Claim(stage, buyer))).status).toBe(200)
    stage.clock.now += 60_000
    expect(await failure(await send('withdraw', more))).toMatchObject(notLinked)
  },
)

test('an auth address of before a transfer withdraws nothing, one that was added since does', async () => {
  const withdraw = async (signer: LocalAccount) =>
    post(stage.api, await withdrawalOf(signer, 'auth', buyer.fid, stage.clock.now), { query: '/withdraw' })
  expect((await post(stage.api, await eip191Claim(stage, buyer))).status).toBe(200)
  stage.clock.now += 60_000
  expect(await failure(await withdraw(sellersAuth()))).toMatchObject({
    error: 'ERR_SIG_INVALID',
    detail: expect.stringContaining('transferred'),
  })
  const auth = accountOf(`auth address since the sale of ${buyer.fid}`)
  await addAuthAddress(stage, buyer.fid, auth.address)
  expect((await withdraw(auth)).status).toBe(200)
})

test('after a transfer the custody address, a new auth address and a registration of the new owner link a host', async () => {
  expect((await send('claim', { accountAssociation: await association(buyer.custody, 'custody') })).status).toBe(200)
  const auth = accountOf(`new auth address of ${buyer.fid}`)
  await addAuthAddress(stage, buyer.fid, auth.address)
  expect((await send('claim', { accountAssociation: await association(auth, 'auth') })).status).toBe(200)
  const token = { chain: 'base', id: 1_000 + buyer.fid } as const
  await rows.transfer(token, null, buyer.address, new Date('2026-01-01T00:00:00Z'))
  await rows.setUri(token, `http://${stage.host.name}/agent.json`, new Date('2026-01-02T00:00:00Z'))
  expect((await send('claim', { note: 'by its registration' })).status).toBe(200)
})

/** Sells the account of a new claimant on the chain, above the newest indexed block. */
async function soldUnindexed() {
  const { pool } = stage.database
  const sold = await stage.claimant()
  await addAuthAddress(stage, sold.fid, sellersAuth().address)
  const indexed = Number(await stage.chain.client.getBlockNumber())
  await pool.query(
    `insert into chain_state (chain, chain_id, indexed_block, finalized_block, head_block, updated_at)
     values ('optimism', 10, $1, $1, $1, now()) on conflict (chain) do update set indexed_block = $1`,
    [indexed],
  )
  onTestFinished(() => pool.query('delete from chain_state').then(() => {}))
  await stage.chain.execute(funder, transferFid(BigInt(sold.fid), buyerOf(sold.fid).address))
  return sold
}

/** A node that refuses to search logs, as many do where blocks are many. */
async function apiWithoutLogs() {
  const node = await startLimitedNode(stage.chain.rpc)
  onTestFinished(() => node.close())
  const error = { code: -32614, message: 'limited to a 1000 blocks range' }
  node.limits = { alter: ({ method, id }, reply) => (method === 'eth_getLogs' ? { id, error } : reply) }
  return stage.another({ rpc: node.url })
}

test.for(['searches logs', 'searches none'])(
  'a sale that is not indexed yet counts from its block on, at a node that %s',
  async (kind) => {
    const sold = await soldUnindexed()
    const { fid } = sold
    const api = kind === 'searches logs' ? stage.api : await apiWithoutLogs()
    expect(await failure(await post(api, await eip191Claim(stage, sold)))).toMatchObject({
      error: 'ERR_ADDRESS_NOT_VERIFIED',
      detail: expect.stringContaining('transferred'),
    })
    expect(await failure(await post(api, jfsClaim(stage, sold)))).toMatchObject({ error: 'ERR_JFS_KEY_INACTIVE' })
    const { name: host } = stage.host
    const manifest = { service: 'agent-directory', host, fid, addresses: [sold.address] }
    const accountAssociation = await associationOf(buyerOf(fid), 'custody', { fid, domain: host })
    stage.host.pages.set(path, { body: { ...manifest, accountAssociation } })
    const byHost = await post(api, { method: 'well-known', fid, host, nonce: freshNonce() })
    expect(await failure(byHost)).toMatchObject({ error: 'ERR_MANIFEST_ADDRESS_UNVERIFIED' })
    const withdrawal = await withdrawalOf(sellersAuth(), 'auth', fid, stage.clock.now)
    expect((await post(api, withdrawal, { query: '/withdraw' })).status).toBe(400)
  },
)

test('who bought an account claims it before the sale is indexed', async () => {
  const { fid, privateKey, ...sold } = await soldUnindexed()
  const appKey = appKeyOf(`newest key of ${fid}`)
  await stage.chain.execute(funder, addAppKey(BigInt(fid), appKey.publicKey))
  const signer = { publicKey: appKey.publicKey, privateKey: toHex(appKey.secret) }
  stage.clock.now = Math.max(stage.clock.now, Date.now() + 120_000)
  stage.hub.state.addVerification(fid, sold.address, { privateKey, at: new Date(stage.clock.now), appKey: signer })
  const owner = { ...sold, fid, privateKey, appKey }
  expect((await post(stage.api, await eip191Claim(stage, owner))).status).toBe(200)
  expect((await post(stage.api, jfsClaim(stage, owner))).status).toBe(200)
})

test('behind a node that searches few blocks the state at the transfer tells the new key from the old one', async () => {
  const api = await apiWithoutLogs()
  expect(await failure(await post(api, jfsClaim(stage, seller)))).toMatchObject({ error: 'ERR_JFS_KEY_INACTIVE' })
  expect((await post(api, jfsClaim(stage, buyer))).status).toBe(200)
  expect((await post(api, await eip191Claim(stage, buyer))).status).toBe(200)
})
