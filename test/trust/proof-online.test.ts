import type { Address } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { chainOf, socialChain } from '../../config/chains.ts'
import { type DevChain, funder, startDevChain } from '../../devnet/chain/chain.ts'
import { addAppKey, registerFid, transferFid } from '../../devnet/chain/farcaster.ts'
import { walletOf } from '../../devnet/world/keys.ts'
import { registries } from '../../trust/proof/ask.ts'
import { checkOnline } from '../../trust/proof/online.ts'
import type { ClaimProof } from '../../trust/proof/proof.ts'
import { fid, keyOffChain, proofOf, wallet } from './proof.ts'

// Keys and custody of proofs, asked of a chain on which the account was registered.

const buyer = walletOf('proof', 'buyer').address
const { name: social } = socialChain()
let chain: DevChain
beforeAll(async () => {
  chain = await startDevChain(social)
  await chain.execute(funder, registerFid(BigInt(fid), wallet.address as Address))
})
afterAll(() => chain.stop())

const check = (proof: ClaimProof) => checkOnline(proof, { rpc: new Map([[chain.chainId, chain.rpc]]), hubs: [] })
const custodyOf = (address: string, since: NonNullable<ClaimProof['custody']>['since'] = null) => ({
  address,
  chain_id: chain.chainId,
  contract: registries.id,
  since,
  read_at: null,
})
const onChain = async () => {
  const proof = await proofOf('jfs')
  return { ...proof, custody: custodyOf(wallet.address), keys: proof.keys.map((key) => ({ ...key, add: null })) }
}
const offChain = async (custody: ClaimProof['custody']) => ({ ...(await proofOf('eip191', keyOffChain)), custody })

test('the registries of OP Mainnet are those of the chain table', () => {
  const { id, social: contracts } = chainOf(social)
  expect(registries).toMatchObject({
    chainId: id,
    fromBlock: BigInt(contracts?.fromBlock ?? 0),
    id: contracts?.idRegistry,
    key: contracts?.keyRegistry,
  })
})

test('who signed for a key off the chain is not known of a proof that names no custody address', async () => {
  expect(await check(await offChain(null))).toContainEqual({
    name: expect.stringContaining('who signed for it is the custody address'),
    outcome: 'unknown',
    detail: 'the proof names no custody address',
  })
})

test('a registry of somebody else on OP Mainnet has failed, whatever it answers', async () => {
  await chain.execute(funder, addAppKey(BigInt(fid), (await onChain()).keys[0]!.key as Address))
  const proof = await onChain()
  const outcomes = async (given: ClaimProof) => {
    const lines = await check(given)
    const of = (part: string) => lines.find(({ name }) => name.includes(part))?.outcome
    return [of('the registry had it'), of('the custody is still the same')]
  }
  expect(await outcomes(proof)).toEqual(['held', 'held'])
  const contract = `0x${'ab'.repeat(20)}` as const
  const forged = async (code: string) => {
    await chain.client.setCode({ address: contract, bytecode: `0x${code}` })
  }
  await forged('6001600052600160205260406000f3') // answers 1, 1: an app key that was added
  const foreign = added({ ...proof }, { chain_id: chain.chainId, contract })
  expect(await outcomes(foreign)).toEqual(['failed', 'held'])
  expect(await outcomes(added({ ...proof }, { chain_id: 1, contract }))).toEqual(['failed', 'held'])
  await forged(`73${wallet.address.slice(2)}60005260206000f3`) // answers with the address
  expect(await outcomes({ ...proof, custody: { ...proof.custody, contract } })).toEqual(['held', 'failed'])
})

/** The proof with its keys added by the registry of a place. */
function added(proof: ClaimProof, place: { chain_id: number; contract: string }): ClaimProof {
  const log = { block_number: 1, block_hash: `0x${'12'.repeat(32)}`, tx_hash: `0x${'34'.repeat(32)}`, log_index: 0 }
  return { ...proof, keys: proof.keys.map((key) => ({ ...key, add: { ...place, ...log } })) }
}

test('a registry of another chain is named in the line', async () => {
  const proof = await onChain()
  const elsewhere = added(proof, { chain_id: 31_337, contract: registries.key })
  const [line] = await check(elsewhere)
  expect(line).toMatchObject({
    outcome: 'unknown',
    name: expect.stringContaining(`by ${registries.key} of chain 31337`),
  })
})

test('a key that a former owner signed for is theirs after the account changed hands, and shows nothing of today’s owner', async () => {
  const { logs, transactionHash, blockNumber } = await chain.execute(funder, transferFid(BigInt(fid), buyer as Address))
  const log_index = logs.find(({ address }) => address === registries.id)!.logIndex
  const since = { block_number: Number(blockNumber), tx_hash: transactionHash, log_index, kind: 'transferred' }
  const proof = await offChain(custodyOf(buyer, since))
  const theirs = { ...proof, address_proofs: proof.address_proofs.map((one) => ({ ...one, before_custody: true })) }
  const outcome = async (given: ClaimProof) =>
    (await check(given)).find(({ name }) => name.includes('who signed for it is the custody address'))?.outcome
  expect(await outcome(theirs)).toBe('held')
  expect(await outcome({ ...proof, state: 'ended' })).toBe('held')
  expect(await outcome(proof)).toBe('unknown') // a live claim would rest on what the former owner signs
  expect(await outcome(await offChain(custodyOf(wallet.address)))).toBe('unknown')
  expect(await outcome({ ...theirs, custody: custodyOf(buyer, { ...since, log_index: log_index + 1 }) })).toBe(
    'unknown',
  )
})
