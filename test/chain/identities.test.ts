import { type Abi, decodeEventLog, type Hex, keccak256, toBytes, toEventSelector, zeroAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import identityAbi from '../../abi/identity-registry.json' with { type: 'json' }
import reputationAbi from '../../abi/reputation-registry.json' with { type: 'json' }
import { chainOf } from '../../config/chains.ts'
import * as identity from '../../devnet/chain/identity.ts'
import { createWallet, executeAs, walletOf } from '../../devnet/chain/wallets.ts'
import { cleanTables } from '../support/chain/index-chain.ts'
import { describeDifference } from '../support/chain/oracle.ts'
import { finality, type IdentityStage, lower, setIdentityStage } from './identity-stage.ts'

let stage: IdentityStage
beforeAll(async () => {
  stage = await setIdentityStage()
})
afterAll(() => stage?.close())

// Concurrent, because the tests spend most of their time waiting for the processor.
describe.concurrent('an identity', () => {
  test('that is transferred changes owner and acquisition, loses its wallet, and keeps its registration', async () => {
    const { chain, owner, buyer } = stage
    const { agentId } = await stage.registered(identity.register('data:,sold'))
    const before = await rowOf(agentId)
    const sale = await stage.indexed(
      chain.execute(owner, identity.transferIdentity(agentId, owner.address, buyer.address)),
    )
    const { block, time } = await stage.placeOf(sale)
    expect(await rowOf(agentId)).toEqual({
      ...before,
      owner: lower(buyer.address),
      agent_wallet: null,
      acquired_block: block,
      acquired_at: time,
      updated_block: block,
      updated_at: time,
    })
    const metadata = await stage.query('select key, value from registration_metadata where agent_id = $1', [agentId])
    expect(metadata).toEqual([{ key: 'agentWallet', value: '0x' }])
  })

  test('that goes away and comes back has three holdings', async () => {
    const { chain, owner, buyer } = stage
    const { agentId } = await stage.registered(identity.register('data:,there and back'))
    await chain.execute(owner, identity.transferIdentity(agentId, owner.address, buyer.address))
    await stage.indexed(chain.execute(buyer, identity.transferIdentity(agentId, buyer.address, owner.address)))
    const holdings = await stage.query(
      `select holder, released_block is null as held from holding where agent_id = $1
        order by acquired_block, acquired_log_index`,
      [agentId],
    )
    expect(holdings).toEqual([
      { holder: lower(owner.address), held: false },
      { holder: lower(buyer.address), held: false },
      { holder: lower(owner.address), held: true },
    ])
  })

  test('has the wallet that agreed, until it is unset', async () => {
    const { chain, owner, buyer } = stage
    const { agentId, receipt } = await stage.registered(identity.register(''))
    const named = 'select tx_hash from registration_metadata where agent_id = $1'
    expect(await stage.query(named, [agentId])).toEqual([{ tx_hash: receipt.transactionHash }])
    const request = { agentId, wallet: buyer, owner: owner.address }
    const agreed = await stage.indexed(chain.execute(owner, await identity.setAgentWallet(chain, request)))
    expect(await rowOf(agentId)).toMatchObject({ agent_wallet: lower(buyer.address) })
    expect(await stage.query(named, [agentId])).toEqual([{ tx_hash: agreed.transactionHash }])
    const unset = await stage.indexed(chain.execute(owner, identity.unsetAgentWallet(agentId)))
    expect(await rowOf(agentId)).toMatchObject({ agent_wallet: null })
    const all = 'select wallet, tx_hash from registration_wallet where agent_id = $1 order by block_number, log_index'
    expect(await stage.query(all, [agentId])).toEqual([
      { wallet: lower(owner.address), tx_hash: receipt.transactionHash },
      { wallet: lower(buyer.address), tx_hash: agreed.transactionHash },
      { wallet: null, tx_hash: unset.transactionHash },
    ])
  })

  test('has a contract for its wallet', async () => {
    const { chain, owner, buyer } = stage
    const wallet = await walletNamed('wallet of an agent', buyer.address)
    const { agentId } = await stage.registered(identity.register(''))
    const request = { agentId, wallet: buyer, owner: owner.address, as: wallet }
    await stage.indexed(chain.execute(owner, await identity.setAgentWallet(chain, request)))
    expect(await rowOf(agentId)).toMatchObject({ agent_wallet: lower(wallet) })
  })

  test('is held by a contract, which changes its URI', async () => {
    const { chain, owner } = stage
    const wallet = await walletNamed('wallet that holds', owner.address)
    const { agentId } = await stage.registered(executeAs(wallet, identity.register('data:,old')))
    await stage.indexed(chain.execute(owner, executeAs(wallet, identity.setAgentUri(agentId, 'data:,new'))))
    expect(await rowOf(agentId)).toMatchObject({ owner: lower(wallet), agent_uri: 'data:,new' })
  })

  test('has its URI changed by an operator, and stays with its owner', async () => {
    const { chain, owner, operator } = stage
    const { agentId } = await stage.registered(identity.register('data:,old'))
    await chain.execute(owner, identity.approveOperator(agentId, operator.address))
    const change = await stage.indexed(chain.execute(operator, identity.setAgentUri(agentId, 'data:,new')))
    const { block } = await stage.placeOf(change)
    expect(await rowOf(agentId)).toMatchObject({
      agent_uri: 'data:,new',
      owner: lower(owner.address),
      updated_block: block,
    })
  })

  test('remembers who was approved for it, and which operators its owners named', async () => {
    const { chain, owner, buyer, operator } = stage
    const { agentId } = await stage.registered(identity.register('data:,shared'))
    await chain.execute(owner, identity.approveOperator(agentId, operator.address))
    await chain.execute(owner, identity.approveOperator(agentId, zeroAddress))
    await chain.execute(buyer, identity.setOperator(owner.address, true))
    const last = await stage.indexed(chain.execute(buyer, identity.setOperator(owner.address, false)))
    const { block, time } = await stage.placeOf(last)
    const approvals = 'select owner, approved from registration_approval where agent_id = $1 order by block_number'
    expect(await stage.query(approvals, [agentId])).toEqual([
      { owner: lower(owner.address), approved: lower(operator.address) },
      { owner: lower(owner.address), approved: null },
    ])
    const named = await stage.query('select * from registration_operator order by block_number')
    const ofBuyer = named.filter((row) => row.owner === lower(buyer.address))
    expect(ofBuyer).toMatchObject([
      { chain: 'gnosis', operator: lower(owner.address), approved: true },
      { approved: false, block_number: block, block_timestamp: time, tx_hash: last.transactionHash },
    ])
  })

  test('has metadata replaced by its newest value', async () => {
    const { chain, owner } = stage
    const { agentId } = await stage.registered(identity.register('', [{ key: 'model', value: '0x01' }]))
    await stage.indexed(chain.execute(owner, identity.setMetadata(agentId, { key: 'model', value: '0x' })))
    const [row] = await stage.query(`select value from registration_metadata where agent_id = $1 and key = 'model'`, [
      agentId,
    ])
    expect(row).toEqual({ value: '0x' })
  })

  test('is not changed by a call that reverts', async () => {
    const { chain, buyer } = stage
    const { agentId } = await stage.registered(identity.register('data:,kept'))
    const before = await rowOf(agentId)
    const refused = await chain.send(buyer, identity.setAgentUri(agentId, 'data:,stolen'))
    expect((await stage.indexed(chain.mined(refused))).status).toBe('reverted')
    expect(await rowOf(agentId)).toEqual(before)
  })

  test('that is burned has no owner and no wallet', async () => {
    const { chain, owner } = stage
    const { agentId } = await stage.registered(identity.register('data:,burned'))
    await stage.indexed(chain.execute(owner, identity.burnIdentity(agentId)))
    expect(await rowOf(agentId)).toMatchObject({ owner: null, burned: true, agent_wallet: null })
    const receivers = await stage.query(
      'select "to" from registration_transfer where agent_id = $1 order by block_number',
      [agentId],
    )
    expect(receivers).toEqual([{ to: lower(owner.address) }, { to: null }])
  })

  test('keeps responses to feedback, whoever appends them', async () => {
    const { chain, buyer, client, owner } = stage
    const { agentId } = await stage.registered(identity.register('data:,answered'))
    await chain.execute(client, identity.giveFeedback({ agentId, value: 1n }))
    await chain.execute(owner, identity.appendResponse(agentId, client.address, 1n, 'https://a.example/why'))
    await stage.indexed(chain.execute(buyer, identity.appendResponse(agentId, client.address, 1n, 'spam\0')))
    const common = { client: lower(client.address), feedback_index: '1' }
    expect(
      await stage.query('select * from feedback_response where agent_id = $1 order by block_number', [agentId]),
    ).toMatchObject([
      { ...common, responder: lower(owner.address), response_uri: 'https://a.example/why' },
      { ...common, responder: lower(buyer.address), response_uri: 'spam\ufffd' },
    ])
  })

  test('keeps feedback as it was given, and marks what was revoked', async () => {
    const { chain, buyer, client } = stage
    const { agentId } = await stage.registered(identity.register('data:,rated'))
    const hash = keccak256(toBytes('feedback file'))
    const value = -(2n ** 127n)
    const full = { agentId, value, decimals: 18, tag1: 'a\0b', tag2: 'b', endpoint: 'c', uri: 'd', hash }
    await chain.execute(client, identity.giveFeedback(full))
    await chain.execute(client, identity.giveFeedback({ agentId, value: 100n }))
    await chain.execute(buyer, identity.giveFeedback({ agentId, value: 1n }))
    const revocation = await stage.indexed(chain.execute(client, identity.revokeFeedback(agentId, 2n)))
    const { block } = await stage.placeOf(revocation)
    const by = (address: Hex, index: string) => ({ client: lower(address), feedback_index: index })
    expect(
      await stage.query('select * from feedback where agent_id = $1 order by block_number', [agentId]),
    ).toMatchObject([
      {
        ...by(client.address, '1'),
        value: String(value),
        value_decimals: 18,
        tag1: 'a\ufffdb',
        tag2: 'b',
        endpoint: 'c',
        feedback_uri: 'd',
        feedback_hash: hash,
        revoked_block: null,
      },
      { ...by(client.address, '2'), value: '100', revoked_block: block },
      { ...by(buyer.address, '1'), value: '1', revoked_block: null },
    ])
  })
})

test('blocks that come final leave the very rows that they left when they came hot', async () => {
  const { chain, index } = stage
  await chain.client.mine({ blocks: finality })
  await index.untilHead()
  expect(describeDifference(await index.tables(), await cleanTables(chain, { finality }))).toBe('')
})

test('every log of the registries is a row of registry_events, with its arguments', async () => {
  const { chain, index } = stage
  await index.untilHead()
  const { registry, reputation } = chainOf('gnosis')
  const rows = await stage.query(
    `select event, contract_address, is_official, erc8004_id, args, block_number, log_index, tx_hash
       from directory.registry_events where chain = 'gnosis' order by block_number, log_index`,
  )
  const repeated = toEventSelector('MetadataUpdate(uint256)') // ERC-4906, along with each URI
  const logs = await chain.client.getLogs({ fromBlock: 0n, toBlock: 'latest' })
  const told = logs
    .filter(({ address, topics }) => [registry.address, reputation.address].includes(address) && topics[0] !== repeated)
    .map(({ address, data, topics, blockNumber, logIndex, transactionHash }) => {
      const abi = (address === registry.address ? identityAbi : reputationAbi) as Abi
      const { eventName = '', args } = decodeEventLog({ abi, data, topics })
      const shown = Object.entries(args as unknown as Record<string, unknown>)
        .filter(([name]) => !name.startsWith('indexed')) // hashes of other arguments
        .map(([name, value]) => [name, typeof value === 'string' && /^0x/i.test(value) ? value.toLowerCase() : value])
        .map(([name, value]) => [name, typeof value === 'bigint' ? `${value}` : value])
        .map(([name, value]) => [name, typeof value === 'string' ? value.replaceAll('\0', '\ufffd') : value])
      return {
        event: eventName,
        contract_address: address,
        args: Object.fromEntries(shown),
        block_number: Number(blockNumber),
        log_index: logIndex,
        tx_hash: transactionHash,
      }
    })
    .filter(({ event }) => event !== 'Upgraded')
  expect(rows).toHaveLength(told.length)
  expect(rows.every((row) => row.is_official)).toBe(true)
  expect(rows).toEqual(told.map((row) => expect.objectContaining(row)))
  expect([...new Set(rows.map(({ event }) => event))].sort()).toEqual([
    'Approval',
    'ApprovalForAll',
    'FeedbackRevoked',
    'MetadataSet',
    'NewFeedback',
    'Registered',
    'ResponseAppended',
    'Transfer',
    'URIUpdated',
  ])
})

/** A contract wallet of this owner. */
async function walletNamed(name: string, owner: Hex) {
  const { chain, client } = stage
  const salt = keccak256(toBytes(name))
  await chain.execute(client, createWallet(chain, owner, salt))
  return walletOf(chain, owner, salt)
}

async function rowOf(agentId: bigint) {
  const [row] = await stage.query('select * from registration where agent_id = $1', [agentId])
  return row
}
