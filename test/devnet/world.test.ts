import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto'
import { getAddress, type Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { defaultChainNames } from '../../config/chains.ts'
import { identityAbi, idRegistryAbi, keyRegistryAbi } from '../../devnet/chain/abi.ts'
import { verifiedAddresses } from '../../devnet/hub/account.ts'
import { HubState } from '../../devnet/hub/state.ts'
import { type RunningWorld, startWorld } from '../../devnet/running-world.ts'
import { uriKinds } from '../../devnet/world/documents.ts'
import { populateHub } from '../../devnet/world/hub.ts'
import { payingChains } from '../../devnet/world/payments.ts'
import { planWorld } from '../../devnet/world/plan.ts'

const world = planWorld('test')
const { agents, bystanders } = world.people
const verified = (fid: number) =>
  [...agents, ...bystanders].find((person) => person.fid === fid)?.verified.map(({ wallet }) => wallet.address) ?? []
const holders = new Set(world.tokens.map(({ owner }) => owner))

/** DER before the 32 bytes of an Ed25519 key, private (PKCS #8) and public (SPKI). Source: RFC 8410. */
const pkcs8Prefix = '302e020100300506032b657004220420'
const spkiPrefix = '302a300506032b6570032100'
const derKey = (prefix: string, key: Hex, kind: 'private' | 'public') => {
  const der = Buffer.from(prefix + key.slice(2), 'hex')
  return kind === 'private'
    ? createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
    : createPublicKey({ key: der, format: 'der', type: 'spki' })
}

/** Comparable text; accounts carry functions, bigints are no JSON. */
const asText = (value: unknown) => JSON.stringify(value, (_, item) => (typeof item === 'bigint' ? `${item}n` : item))

describe('the planned world', () => {
  test('is the same for the same seed and another for another', () => {
    expect(asText(planWorld('test'))).toBe(asText(world))
    expect(asText(planWorld('other'))).not.toBe(asText(world))
  })

  test('has at least forty agents with identities, several chains and several addresses each for many', () => {
    const chainsOf = agents.map(({ fid }) => {
      const own = verified(fid)
      return new Set(world.tokens.filter(({ owner }) => owner && own.includes(owner)).map(({ chain }) => chain))
    })
    expect(chainsOf.filter((chains) => chains.size > 0).length).toBeGreaterThanOrEqual(40)
    expect(chainsOf.filter((chains) => chains.size > 1).length).toBeGreaterThanOrEqual(10)
    expect(agents.filter(({ fid }) => verified(fid).length > 1).length).toBeGreaterThanOrEqual(10)
    for (const name of defaultChainNames)
      expect(chainsOf.filter((chains) => chains.has(name)).length).toBeGreaterThan(3)
  })

  test('numbers identities from 0 without a gap on every chain', () => {
    for (const name of defaultChainNames) {
      const ids = world.tokens.filter(({ chain }) => chain === name).map(({ agentId }) => agentId)
      expect(ids.sort((a, b) => Number(a - b))).toEqual(ids.map((_, index) => BigInt(index)))
    }
  })

  test('has an address of two FIDs, holders without a FID, and holders whose address is not verified', () => {
    const fidsOf = new Map<string, number>()
    for (const { fid } of agents)
      for (const address of verified(fid)) fidsOf.set(address, (fidsOf.get(address) ?? 0) + 1)
    const shared = [...fidsOf].filter(([, count]) => count === 2).map(([address]) => address as Hex)
    expect(shared).toHaveLength(1)
    expect(holders).toContain(shared[0])
    expect(world.strangers.every(({ address }) => holders.has(address) && !fidsOf.has(address))).toBe(true)
    expect([...agents, ...bystanders].filter(({ custody }) => holders.has(custody.address)).length).toBeGreaterThan(1)
    expect([...agents, ...bystanders].filter(({ auth }) => auth && holders.has(auth.address)).length).toBeGreaterThan(0)
  })

  test('has identities sold, bought back, burned and moved, and agents who sold everything', () => {
    const kinds = world.past.map(({ deed }) => deed.kind)
    for (const kind of ['transfer', 'burn', 'set-uri', 'feedback', 'revoke-feedback']) expect(kinds).toContain(kind)
    const soldOut = agents.filter(({ fid }) => {
      const own = verified(fid)
      return (
        world.past.some(({ deed }) => deed.kind === 'transfer' && own.includes(deed.by.address)) &&
        !world.tokens.some(({ owner }) => owner && own.includes(owner))
      )
    })
    expect(soldOut.length).toBeGreaterThan(0)
    const buyers = verified(agents[6]?.fid ?? 0)
    const back = world.past.flatMap(({ deed }) => (deed.kind === 'transfer' && buyers.includes(deed.to) ? [deed] : []))
    expect(back.length).toBeGreaterThan(0)
    for (const { chain, agentId } of back) {
      const token = world.tokens.find((one) => one.chain === chain && one.agentId === agentId)
      expect(buyers).toContain(token?.owner)
    }
  })

  test('writes agentURIs in every way and pays by both listed calls and through contracts on six chains', () => {
    const uris = world.past.flatMap(({ deed }) => (deed.kind === 'register' ? [deed.uri ?? ''] : []))
    for (const start of [
      'data:application/json;base64,ey',
      'data:application/json,%7B',
      '{"',
      'https://',
      'ipfs://',
      'cd',
    ])
      expect(uris.some((uri) => uri.startsWith(start))).toBe(true)
    expect(uris).toContain('')
    expect(uris.some((uri) => uri.includes('\0'))).toBe(true)
    expect(uriKinds).toHaveLength(11)
    for (const name of payingChains) {
      const routes = world.past.flatMap(({ deed }) => (deed.kind === 'pay' && deed.chain === name ? [deed.route] : []))
      expect(routes).toContain('direct')
      expect(routes).toContain('receive')
      expect(routes.some((route) => ['batch', 'columns', 'forwarded', 'pull', 'escrow'].includes(route))).toBe(true)
    }
    expect(payingChains).toHaveLength(6)
  })

  test('gives every FID a working Ed25519 app key', () => {
    for (const { appKey } of agents) {
      const signature = sign(null, Buffer.from('claim'), derKey(pkcs8Prefix, appKey.privateKey, 'private'))
      expect(verify(null, Buffer.from('claim'), derKey(spkiPrefix, appKey.publicKey, 'public'), signature)).toBe(true)
    }
    expect(new Set([...agents, ...bystanders].map(({ appKey }) => appKey.publicKey)).size).toBe(62)
  })
})

test('the hub knows everybody, tells Solana from Ethereum, and has no events of the past', () => {
  const state = new HubState()
  populateHub(state, world, new Date())
  expect(state.accounts.size).toBe(agents.length + bystanders.length)
  for (const account of state.accounts.values()) {
    expect(verifiedAddresses(account, 'ethereum').sort()).toEqual([...verified(account.fid)].sort())
  }
  expect([...state.accounts.values()].some((account) => verifiedAddresses(account, 'solana').length > 0)).toBe(true)
  for (const shard of state.shards.values()) {
    expect(shard.page({ from: 0, stop: Number.MAX_SAFE_INTEGER, limit: 1, reverse: false })).toEqual([])
  }
})

describe('laid on seven local chains', () => {
  const startedAt = new Date()
  let running: RunningWorld
  beforeAll(async () => {
    running = await startWorld({ seed: world.seed, startedAt })
  })
  afterAll(() => running?.stop())

  test('the past gives every identity the planned owner, and time goes on from now', async () => {
    const progress: number[] = []
    await running.layPast({ blockSeconds: 1, onProgress: (done) => progress.push(done) })
    expect(progress.at(-1)).toBe(world.past.length)
    for (const { chain, agentId, owner } of world.tokens) {
      const { client, addresses } = running.chains[chain]
      const call = { address: addresses.registry, abi: identityAbi, functionName: 'ownerOf', args: [agentId] } as const
      if (owner === null) await expect(client.readContract(call)).rejects.toThrow()
      else expect(await client.readContract(call)).toBe(getAddress(owner))
    }
    for (const { client, name } of Object.values(running.chains)) {
      const first = await client.getBlock({ blockNumber: 1n })
      expect(Number(first.timestamp)).toBeLessThan(startedAt.getTime() / 1000 - 40 * 86_400)
      await expect
        .poll(async () => (await client.getBlock()).timestamp, { message: name })
        .toBeGreaterThan(BigInt(Math.floor(startedAt.getTime() / 1000)))
    }
  })

  test('the registries on Optimism know custody and app key of every FID', async () => {
    const { client, addresses } = running.chains.optimism
    expect(agents).not.toEqual([])
    for (const { fid, custody, appKey } of [...agents, ...bystanders]) {
      const id = BigInt(fid)
      const owner = { address: addresses.idRegistry as Hex, abi: idRegistryAbi } as const
      const keys = { address: addresses.keyRegistry as Hex, abi: keyRegistryAbi } as const
      expect(await client.readContract({ ...owner, functionName: 'custodyOf', args: [id] })).toBe(
        getAddress(custody.address),
      )
      expect(
        await client.readContract({ ...keys, functionName: 'keyDataOf', args: [id, appKey.publicKey] }),
      ).toMatchObject({ state: 1, keyType: 1 })
    }
  })
})
