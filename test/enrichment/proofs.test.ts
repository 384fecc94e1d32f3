import { type Hex, padHex, serializeErc6492Signature } from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { agentAddresses } from '../../db/queries/addresses/addresses.ts'
import { accountOf, type DevChain, funder, startDevChain } from '../../devnet/chain/chain.ts'
import { addAppKey, registerFid, removeAppKey, transferFid } from '../../devnet/chain/farcaster.ts'
import { walletOf as contractOf, createWallet } from '../../devnet/chain/wallets.ts'
import type { Message } from '../../devnet/hub/messages.ts'
import { blockHashOf, verificationDigest } from '../../devnet/hub/verifications.ts'
import { appKeyOf, walletOf } from '../../devnet/world/keys.ts'
import { day } from '../../ops/time.ts'
import { type Scene, startScene } from '../support/chain/scene.ts'
import { insert } from '../support/seed.ts'
import { keyAddMessage, keyRemoveMessage } from '../trust/key-adds.ts'

// Verdicts of the chains on app keys and on signatures by contract wallets are stored with the messages.

let chain: DevChain
let scene: Scene
let lastFid = 700
beforeAll(async () => {
  chain = await startDevChain('optimism')
})
afterAll(() => chain.stop())
beforeEach(async () => {
  scene = await startScene({ rpc: chain.rpc })
})
afterEach(() => scene.stop())

/** An account whose verified address holds a registration; its app key is in the registry if `registered`. */
async function holder({ registered = true, owner }: { registered?: boolean; owner?: Hex } = {}) {
  const fid = ++lastFid
  const appKey = appKeyOf('proofs', String(fid))
  const wallet = walletOf('proofs', String(fid))
  const custody = accountOf(`custody ${fid}`)
  await chain.execute(funder, registerFid(BigInt(fid), owner ?? custody.address))
  if (registered) await chain.execute(funder, addAppKey(BigInt(fid), appKey.publicKey))
  scene.hub.state.addAccount({ fid, custody: custody.address, appKey })
  const message = scene.hub.state.addVerification(fid, wallet.address, { privateKey: wallet.privateKey })
  await mint(wallet.address)
  return { fid, appKey, wallet, custody, message }
}

let lastToken = 0
const mint = (to: string) => scene.rows.transfer({ chain: 'base', id: ++lastToken }, null, to, scene.clock.pass(60_000))
const rows = async (text: string, ...values: unknown[]) => (await scene.database.pool.query(text, values)).rows
const verdicts = async (fid: number) =>
  (
    await rows('select verdict from verified_address where fid = $1 and ended_at is null order by verified_at', fid)
  ).map((row) => row.verdict)
const messages = (fid: number) =>
  rows('select verdict, envelope, claim, key from farcaster_message where fid = $1 order by message_time', fid)
const standing = (fid: number) =>
  rows('select source, before_custody, custody_block from signer_key where fid = $1 order by before_custody', fid)

const named = async (fid: number) => (await rows('select handle, handle_assurance from agent where fid = $1', fid))[0]

/** Stores a FID's transfer in the chain's newest block, as the processor would. */
async function transferred(fid: number) {
  const block = Number(await chain.client.getBlockNumber())
  await insert(scene.database.pool, 'fid_custody', {
    id: `optimism-${block}-${fid}`,
    chain: 'optimism',
    fid,
    kind: 't',
    from: Buffer.from(accountOf(`custody ${fid}`).address.slice(2), 'hex'),
    to: Buffer.alloc(20, 2),
    block_number: block,
    log_index: 0,
    block_timestamp: scene.clock.now(),
    tx_hash: Buffer.alloc(32),
  })
}

async function days(count: number) {
  for (let passed = 0; passed < count; passed++) {
    scene.clock.pass(day)
    await scene.job.run()
  }
}

test('a verification whose key is the account’s in the registry is proven, and so is its removal', async () => {
  const { fid, wallet } = await holder()
  await scene.settle()
  expect(await verdicts(fid)).toEqual(['proven'])
  expect(await messages(fid)).toEqual([{ verdict: 'proven', envelope: 'held', claim: 'held', key: 'held' }])
  expect(await standing(fid)).toEqual([{ source: 'chain', before_custody: false, custody_block: null }])
  scene.clock.pass(60_000)
  scene.hub.state.removeVerification(fid, wallet.address)
  await scene.settle()
  expect((await messages(fid))[1]).toEqual({ verdict: 'proven', envelope: 'held', claim: 'unknown', key: 'held' })
})

test('what an account says with a key that was removed since stays proven', async () => {
  const { fid, appKey } = await holder()
  await chain.execute(funder, removeAppKey(BigInt(fid), appKey.publicKey))
  await scene.settle()
  expect(await verdicts(fid)).toEqual(['proven'])
})

test('what a key signs after the registry removed it is not proven, dated back or not; what was read before stays', async () => {
  const { fid, appKey, wallet } = await holder()
  await scene.settle()
  expect(await verdicts(fid)).toEqual(['proven'])
  await chain.execute(funder, removeAppKey(BigInt(fid), appKey.publicKey))
  const { timestamp } = await chain.client.getBlock()
  const again = (at: Date) =>
    scene.hub.state.addVerification(fid, wallet.address, { privateKey: wallet.privateKey, appKey, at })
  scene.clock.pass(Number(timestamp) * 1_000 + 60_000 - scene.clock.now().getTime())
  again(new Date(Number(timestamp) * 1_000 - 60_000))
  await scene.settle()
  await days(2)
  expect(await verdicts(fid)).toEqual(['stated'])
  again(scene.clock.now())
  await scene.settle()
  await days(2)
  expect(await verdicts(fid)).toEqual(['stated'])
  expect((await messages(fid)).map(({ key }) => key)).toEqual(['held', 'failed', 'failed'])
})

test('one of a key that the registry never had is stated, stays so when a hub tells it again, and is proven once it is added', async () => {
  const { fid, appKey, message } = await holder({ registered: false })
  await scene.settle()
  expect(await verdicts(fid)).toEqual(['stated'])
  expect(await messages(fid)).toEqual([{ verdict: 'stated', envelope: 'held', claim: 'held', key: 'failed' }])
  scene.hub.state.shards
    .get((fid % 2) + 1)!
    .append(scene.clock.now().getTime(), [
      { type: 'HUB_EVENT_TYPE_MERGE_MESSAGE', mergeMessageBody: { message, deletedMessages: [] } },
    ])
  await scene.settle()
  expect(await verdicts(fid)).toEqual(['stated'])
  await chain.execute(funder, addAppKey(BigInt(fid), appKey.publicKey))
  await days(2)
  expect(await verdicts(fid)).toEqual(['proven'])
})

test('a key whose Add a reorg mines in another block is shown where it stands within minutes, not after a day', async () => {
  const { fid, appKey } = await holder({ registered: false })
  const add = () => chain.execute(funder, addAppKey(BigInt(fid), appKey.publicKey))
  const place = async () => (await rows('select added_log from signer_key where fid = $1', fid))[0]?.added_log
  await chain.client.mine({ blocks: 1 })
  const id = await chain.client.snapshot()
  const first = await add()
  await scene.settle()
  expect(await place()).toMatchObject({ block_hash: first.blockHash, tx_hash: first.transactionHash })
  await chain.client.revert({ id })
  await chain.client.mine({ blocks: 2 })
  const second = await add()
  scene.clock.pass(6 * 60_000)
  await scene.job.run()
  expect(second.blockHash).not.toBe(first.blockHash)
  expect(await place()).toMatchObject({ block_hash: second.blockHash, block_number: Number(second.blockNumber) })
  expect(await verdicts(fid)).toEqual(['proven'])
})

test('a key that was added off the chain by the account’s custody proves, and one that somebody else signed for does not', async () => {
  const good = await holder({ registered: false })
  const bad = await holder({ registered: false })
  const tell = (fid: number, message: unknown) =>
    scene.hub.state.shards.get((fid % 2) + 1)!.append(scene.clock.now().getTime(), [
      {
        type: 'HUB_EVENT_TYPE_MERGE_MESSAGE',
        mergeMessageBody: { message: message as Message, deletedMessages: [] },
      },
    ])
  tell(good.fid, await keyAddMessage(good, good.custody, scene.clock.now()))
  tell(bad.fid, await keyAddMessage(bad, good.custody, scene.clock.now()))
  await scene.settle()
  await days(2)
  expect(await verdicts(good.fid)).toEqual(['proven'])
  expect(await standing(good.fid)).toMatchObject([{ source: 'offchain', before_custody: false }])
  expect(await verdicts(bad.fid)).toEqual(['stated'])
})

test('an off-chain key that is removed signs nothing any more; what it signed stays', async () => {
  const account = await holder({ registered: false })
  const { fid, appKey, wallet, custody } = account
  const tell = (message: Message) =>
    scene.hub.state.shards
      .get((fid % 2) + 1)!
      .append(scene.clock.now().getTime(), [
        { type: 'HUB_EVENT_TYPE_MERGE_MESSAGE', mergeMessageBody: { message, deletedMessages: [] } },
      ])
  await scene.settle()
  const added = await keyAddMessage(account, custody, scene.clock.now())
  tell(added)
  scene.clock.pass(60_000)
  const before = scene.clock.now()
  tell(await keyRemoveMessage(account, accountOf('nobody of this account'), scene.clock.now()))
  await scene.settle()
  await days(2)
  expect(await verdicts(fid)).toEqual(['proven'])
  // A later message about the key by a custody address without authority over it replaces nothing.
  tell(await keyAddMessage(account, accountOf('nobody of this account'), scene.clock.now()))
  scene.hub.state.addVerification(fid, wallet.address, { privateKey: wallet.privateKey, appKey })
  await scene.settle()
  await days(2)
  expect(await verdicts(fid)).toEqual(['proven'])
  tell(await keyRemoveMessage(account, custody, scene.clock.now()))
  await scene.settle()
  await days(2)
  expect(await verdicts(fid)).toEqual(['proven'])
  // None of these restores the key: a verification that the key itself backdates to before its removal, the old message
  // that added the key, and a later removal by an address without authority over the key.
  const backdated = new Date(before.getTime() + 1_000)
  scene.hub.state.addVerification(fid, wallet.address, { privateKey: wallet.privateKey, appKey, at: backdated })
  tell(added)
  tell(await keyRemoveMessage(account, accountOf('nobody of this account'), scene.clock.now()))
  await scene.settle()
  await days(2)
  expect(await verdicts(fid)).toEqual(['stated'])
  scene.hub.state.addVerification(fid, wallet.address, { privateKey: wallet.privateKey, appKey })
  await scene.settle()
  await days(2)
  expect(await verdicts(fid)).toEqual(['stated'])
  expect((await messages(fid)).map(({ key }) => key).sort()).toEqual(['failed', 'failed', 'held', 'held'])
})

test('a contract wallet is asked on its own chain, again every day, and its answer has block and code', async () => {
  const { fid, wallet } = await holder()
  const call = createWallet(chain, wallet.account.address, padHex(`0x${fid.toString(16).padStart(4, '0')}`))
  const address = await contractOf(chain, wallet.account.address, padHex(`0x${fid.toString(16).padStart(4, '0')}`))
  const digest = verificationDigest({ fid, address, blockHash: blockHashOf(address.toLowerCase()) }, 10)
  const signature = (await wallet.account.sign!({ hash: digest })) as Hex
  const walletSignature = serializeErc6492Signature({ address: call.to, data: call.data, signature })
  scene.hub.state.addVerification(fid, address, { contractChain: 10, walletSignature })
  await mint(address)
  await scene.settle()
  expect(await verdicts(fid)).toEqual(['proven', 'proven'])
  const asked = () =>
    rows(
      'select wallet_block, wallet_block_hash, wallet_code_sha256 from farcaster_message where address = $1',
      Buffer.from(address.slice(2), 'hex'),
    )
  const [undeployed] = await asked()
  expect(undeployed).toMatchObject({ wallet_block: expect.any(Number), wallet_code_sha256: null })
  const { hash } = await chain.client.getBlock({ blockNumber: BigInt(undeployed.wallet_block) })
  expect(`0x${undeployed.wallet_block_hash.toString('hex')}`).toBe(hash)
  // The contract's code is replaced by one that rejects every signature.
  await chain.client.setCode({ address, bytecode: '0x63ffffffff60e01b60005260206000f3' })
  await days(2)
  const [deployed] = await asked()
  expect(deployed.wallet_code_sha256).not.toBeNull()
  expect((await verdicts(fid)).sort()).toEqual(['proven', 'stated'])
})

test('after the account changed hands, its verifications are marked until a new owner’s key makes them again', async () => {
  const { fid, wallet } = await holder()
  await scene.settle()
  const marks = async () => (await agentAddresses(scene.database.pool, fid))?.map((row) => row.before_custody)
  expect(await marks()).toEqual([false])
  scene.clock.pass(60_000)
  await transferred(fid)
  expect(await marks()).toEqual([true])
  scene.clock.pass(60_000)
  scene.hub.state.addVerification(fid, wallet.address, { privateKey: wallet.privateKey })
  await scene.settle()
  expect(await standing(fid)).toMatchObject([{ before_custody: true }])
  expect(await marks()).toEqual([true]) // made since, and by a key that the seller may hold
  const own = appKeyOf('proofs', `${fid} of the new owner`)
  await chain.execute(funder, addAppKey(BigInt(fid), own.publicKey))
  scene.clock.pass(60_000)
  scene.hub.state.addVerification(fid, wallet.address, { privateKey: wallet.privateKey, appKey: own })
  await scene.settle()
  expect(await marks()).toEqual([false])
  expect(await verdicts(fid)).toEqual(['proven'])
})

test('while the node is away nothing that is known is lost', async () => {
  const { fid } = await holder()
  await scene.settle()
  await scene.stop()
  scene = await startScene({ rpc: 'http://127.0.0.1:9' })
  const other = await holder()
  await scene.settle()
  expect(fid).not.toBe(other.fid)
  expect(await verdicts(other.fid)).toEqual(['signed'])
})

test('contract wallets that cannot be asked keep nobody else from being proven', async () => {
  await scene.stop()
  scene = await startScene({ rpc: chain.rpc, rpcEthereum: 'http://127.0.0.1:9' })
  for (let count = 0; count < 10; count++) {
    const { fid, wallet } = await holder({ registered: false })
    scene.hub.state.addVerification(fid, accountOf(`wallet of ${fid}`).address, {
      contractChain: 1,
      walletSignature: (await wallet.account.sign!({ hash: padHex('0x1') })) as Hex,
    })
    await mint(accountOf(`wallet of ${fid}`).address)
  }
  await scene.settle()
  const { fid } = await holder()
  await scene.settle()
  expect(await verdicts(fid)).toEqual(['proven'])
})

test('a handle is proven while whoever the name server signed it to has custody, and no other account’s', async () => {
  // Recorded from a public hub; the name server's signature says nothing of a FID.
  const owner = '0x8773442740c17c9d0f0b87022c722f9a136206ed'
  const signed =
    'b7181760f14eda0028e0b647ff15f45235526ced3b4ae07fcce06141b73d32960d3253776e62f761363fb8137087192047763f4af838950a96f3885f3c2289c41b'
  const signature = Buffer.from(signed, 'hex').toString('base64')
  scene.hub.state.told.nameProof = { timestamp: 1_628_882_891, owner, signature }
  const assurance = async (fid: number) => (await named(fid))?.handle_assurance
  const stranger = await holder()
  scene.hub.state.setProfile(stranger.fid, { username: 'farcaster' })
  await scene.settle()
  expect([await assurance(stranger.fid), (await named(stranger.fid))?.handle]).toEqual(['stated', 'farcaster'])
  scene.hub.state.setProfile(stranger.fid, { username: '!1' })
  await scene.settle()
  expect(await assurance(stranger.fid)).toBeNull()
  const { fid, wallet } = await holder({ owner })
  scene.hub.state.setProfile(fid, { username: 'farcaster' })
  await scene.settle()
  expect(await assurance(fid)).toBe('proven')
  await chain.execute(funder, transferFid(BigInt(fid), accountOf('buyer').address))
  await transferred(fid)
  await scene.settle()
  expect(await assurance(fid)).toBe('stated')
  // As if the name server had signed it to an address that the account verifies.
  await rows(
    'update social_profile set handle_owner = $2 where fid = $1',
    fid,
    Buffer.from(wallet.address.slice(2), 'hex'),
  )
  await scene.settle()
  expect(await assurance(fid)).toBe('signed')
})

test.each(['', '0x', 'AA==', '*'])(
  'a name proof with the owner and signature %j is nobody’s signature',
  async (bytes) => {
    scene.hub.state.told.nameProof = { timestamp: 1, owner: bytes, signature: bytes }
    const { fid } = await holder()
    scene.hub.state.setProfile(fid, { username: 'farcaster' })
    await scene.settle()
    expect(await named(fid)).toEqual({ handle: 'farcaster', handle_assurance: 'stated' })
  },
)
