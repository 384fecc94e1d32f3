import { createHash } from 'node:crypto'
import { type Address, concat, encodeAbiParameters, type Hex, stringToHex, zeroAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { identityAbi } from '../../devnet/chain/abi.ts'
import * as identity from '../../devnet/chain/identity.ts'
import { cleanTables } from '../support/chain/index-chain.ts'
import { describeDifference } from '../support/chain/oracle.ts'
import { finality, type IdentityStage, lower, setIdentityStage } from './identity-stage.ts'

const batchGas = 100_000_000n

let stage: IdentityStage
beforeAll(async () => {
  stage = await setIdentityStage()
})
afterAll(() => stage?.close())

test('the first identity has id 0, no URI, and its registrant for owner and wallet', async () => {
  const { agentId, receipt } = await stage.registered(identity.register())
  expect(agentId).toBe(0n)
  const { block, time } = await stage.placeOf(receipt)
  const owner = lower(stage.owner.address)
  expect(await stage.query('select * from registration')).toEqual([
    {
      id: 'gnosis-0',
      chain: 'gnosis',
      agent_id: '0',
      owner,
      burned: false,
      agent_wallet: owner,
      agent_uri: '',
      agent_uri_length: 0,
      agent_uri_sha256: null,
      registered_block: block,
      registered_at: time,
      registered_tx: receipt.transactionHash,
      acquired_block: block,
      acquired_at: time,
      updated_block: block,
      updated_at: time,
    },
  ])
})

// Concurrent, because the tests spend most of their time waiting for the processor.
describe.concurrent('a registration', () => {
  test('keeps metadata next to the wallet, and a key that only looks reserved is free', async () => {
    const metadata = [
      { key: 'agentwallet', value: stringToHex('free text') },
      { key: 'model', value: '0x' },
      { key: 'model', value: '0x00ff' },
    ] as const
    const { agentId } = await stage.registered(identity.register('ipfs://bafy', metadata))
    expect(await rowOf(agentId)).toMatchObject({ agent_uri: 'ipfs://bafy', agent_wallet: lower(stage.owner.address) })
    expect(await metadataOf(agentId)).toEqual({
      agentWallet: lower(stage.owner.address),
      agentwallet: stringToHex('free text'),
      model: '0x00ff',
    })
  })

  test('is one of 182 in a transaction, each a row of its own', async () => {
    const uris = Array.from({ length: 182 }, (_, number) => `data:,agent ${number}`)
    const { agentId: first } = await stage.registered(identity.registerMany(uris), batchGas)
    const rows = await stage.query(
      'select agent_uri, owner from registration where agent_id between $1 and $2 order by agent_id',
      [first, first + 181n],
    )
    expect(rows).toEqual(uris.map((agent_uri) => ({ agent_uri, owner: stage.chain.addresses.batchRegistrar })))
  })

  test('by a batch tool that hands the identities on leaves them with their receiver, without a wallet', async () => {
    const { buyer, chain } = stage
    const batch = identity.registerMany(['a', 'b', 'c'], buyer.address)
    const { agentId, receipt } = await stage.registered(batch, batchGas)
    const rows = await stage.query('select owner, agent_wallet from registration where agent_id between $1 and $2', [
      agentId,
      agentId + 2n,
    ])
    expect(rows).toEqual(Array(3).fill({ owner: lower(buyer.address), agent_wallet: null }))
    const tx_hash = receipt.transactionHash
    expect(await transfersOf(agentId)).toEqual([
      { from: null, to: chain.addresses.batchRegistrar, tx_hash },
      { from: chain.addresses.batchRegistrar, to: lower(buyer.address), tx_hash },
    ])
  })

  test('of a receiver that passes the identity on before Registered is logged does not make it the owner', async () => {
    const { buyer, chain } = stage
    const { agentId } = await stage.registered(identity.registerPassingOn('data:,passed on', buyer.address))
    const { agent_wallet, ...row } = (await rowOf(agentId)) ?? {}
    expect(row).toMatchObject({ owner: lower(buyer.address), agent_uri: 'data:,passed on' })
    expect(agent_wallet).toBeNull()
    expect(await metadataOf(agentId)).toEqual({ agentWallet: '0x' })
    expect((await transfersOf(agentId)).map(({ to }) => to)).toEqual([
      chain.addresses.passingRegistrar,
      lower(buyer.address),
    ])
  })

  test('of a receiver that names the file in its hook keeps that name, which register() does not replace', async () => {
    const { buyer } = stage
    const { agentId } = await stage.registered(identity.registerNamedInHook('data:,named', buyer.address))
    expect(await rowOf(agentId)).toMatchObject({ owner: lower(buyer.address), agent_uri: 'data:,named' })
  })

  test('has NUL and broken UTF-8 replaced in URI and metadata keys, and values with all their bytes', async () => {
    const uri = concat([stringToHex('data:,a'), '0x00', stringToHex('b'), '0xff', '0xeda080', stringToHex('😀')])
    const key = concat([stringToHex('k'), '0x00', '0xc3'])
    const { agentId } = await stage.registered(registerBytes(uri, key, '0x00ff'))
    expect(await rowOf(agentId)).toMatchObject({
      agent_uri: 'data:,a\ufffdb\ufffd\ufffd\ufffd\ufffd😀',
      agent_uri_length: 17,
      agent_uri_sha256: null,
    })
    expect(await metadataOf(agentId)).toMatchObject({ 'k\ufffd\ufffd': '0x00ff' })
  })

  test('with a URI too long to keep leaves its length and its hash', async () => {
    const uri = `data:,${'x'.repeat(256 * 1024)}`
    const { agentId } = await stage.registered(identity.register(uri), 600_000_000n)
    expect(await rowOf(agentId)).toMatchObject({
      agent_uri: null,
      agent_uri_length: uri.length,
      agent_uri_sha256: `0x${createHash('sha256').update(uri).digest('hex')}`,
    })
  })
})

test('every identity is as the registry itself answers', async () => {
  const { chain, buyer, owner } = stage
  const calls = [
    identity.register('data:,kept'),
    identity.registerMany(['data:,one', 'data:,two'], buyer.address),
    identity.registerPassingOn('data:,passed on', buyer.address),
    identity.registerNamedInHook('data:,named', buyer.address),
  ]
  for (const call of calls) await chain.execute(owner, call, { gas: batchGas })
  await stage.index.untilHead()
  const rows = await stage.query(
    `select agent_id, owner, agent_wallet, agent_uri from registration
      where agent_uri is not null and agent_uri not like '%' || chr(65533) || '%'`,
  )
  expect(rows.length).toBeGreaterThan(calls.length)
  const read = (functionName: 'ownerOf' | 'getAgentWallet' | 'tokenURI', agentId: bigint) =>
    chain.client.readContract({ address: chain.addresses.registry, abi: identityAbi, functionName, args: [agentId] })
  for (const { agent_id, owner, agent_wallet, agent_uri } of rows) {
    const agentId = BigInt(agent_id as string)
    const [holder, wallet, uri] = await Promise.all([
      read('ownerOf', agentId),
      read('getAgentWallet', agentId),
      read('tokenURI', agentId),
    ])
    expect([agent_id, owner, agent_wallet ?? zeroAddress, agent_uri]).toEqual([
      agent_id,
      lower(holder as Address),
      lower(wallet as Address),
      uri,
    ])
  }
})

test('an upgrade of the registry is said in the log and changes no row', async () => {
  const { chain, index, owner } = stage
  const before = await index.tables()
  const slot = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc'
  const implementation = await chain.client.getStorageAt({ address: chain.addresses.registry, slot })
  const args = [`0x${implementation?.slice(-40)}` as Address, '0x'] as const
  const upgrade = {
    abi: identityAbi,
    address: chain.addresses.registry,
    functionName: 'upgradeToAndCall',
    args,
  } as const
  await chain.client.writeContract({ ...upgrade, account: owner })
  await index.untilHead()
  await index.processor.untilOutput(/a registry was upgraded/)
  expect({ ...(await index.tables()), chain_state: [] }).toEqual({ ...before, chain_state: [] })
})

test('blocks that come final leave the very rows that they left when they came hot', async () => {
  const { chain, index } = stage
  await chain.client.mine({ blocks: finality })
  await index.untilHead()
  expect(describeDifference(await index.tables(), await cleanTables(chain, { finality }))).toBe('')
})

/** The overload with one metadata entry, its texts as arbitrary bytes. */
function registerBytes(uri: Hex, key: Hex, value: Hex) {
  const entry = { type: 'tuple[]', components: [{ type: 'bytes' }, { type: 'bytes' }] } as const
  const args = encodeAbiParameters([{ type: 'bytes' }, entry], [uri, [[key, value]]])
  return { to: stage.chain.addresses.registry, data: concat(['0x8ea42286', args]) }
}

async function rowOf(agentId: bigint) {
  const [row] = await stage.query('select * from registration where agent_id = $1', [agentId])
  return row
}

function transfersOf(agentId: bigint) {
  return stage.query(
    'select "from", "to", tx_hash from registration_transfer where agent_id = $1 order by block_number, log_index',
    [agentId],
  )
}

async function metadataOf(agentId: bigint) {
  const rows = await stage.query('select key, value from registration_metadata where agent_id = $1', [agentId])
  return Object.fromEntries(rows.map(({ key, value }) => [key, value]))
}
