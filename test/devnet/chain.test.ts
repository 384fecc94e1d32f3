import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type Address, type Hash, keccak256, parseEventLogs, stringToHex, toBytes, zeroAddress } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dollarAbi, identityAbi, keyRegistryAbi } from '../../devnet/chain/abi.ts'
import { accountOf, type DevChain, funder, startDevChain } from '../../devnet/chain/chain.ts'
import { addAppKey, registerFid, removeAppKey } from '../../devnet/chain/farcaster.ts'
import * as identity from '../../devnet/chain/identity.ts'
import { mint, pay, signAuthorization } from '../../devnet/chain/payments.ts'
import { createWallet, walletOf } from '../../devnet/chain/wallets.ts'
import { folderOfProcess } from '../../ops/leftovers.ts'
import { loader } from '../support/mains.ts'
import { until } from '../support/until.ts'

const owner = accountOf('owner')
const other = accountOf('other')
const genesisTime = 1_770_000_000
const nodeFolders = 'agent-directory-anvil'

let chain: DevChain
beforeAll(async () => {
  chain = await startDevChain('optimism', { genesisTime, funded: [owner.address, other.address] })
})
afterAll(() => chain.stop())

test('a chain has its real id, starts at the given time, and its contracts stand from block 0 on', async () => {
  expect(await chain.client.getChainId()).toBe(10)
  expect((await chain.client.getBlock({ blockNumber: 0n })).timestamp).toBe(BigInt(genesisTime))
  const codeAt = (address: Address) => chain.client.getCode({ address, blockNumber: 0n })
  const { codelessProxy, ...standing } = chain.addresses
  for (const [name, address] of Object.entries(standing) as [string, Address | null][])
    if (address !== null) expect(await codeAt(address), name).toBeTruthy()
  expect(await codeAt(codelessProxy as Address)).toBeUndefined()
})

test('a registration with metadata logs Transfer, MetadataUpdate, Registered, agentWallet, then the metadata', async () => {
  const call = identity.register('data:,a', [{ key: 'agentwallet', value: stringToHex('free text') }])
  const logs = await logsOf(await chain.send(owner, call))
  expect(logs.map(({ eventName }) => eventName)).toEqual([
    'Transfer',
    'MetadataUpdate',
    'Registered',
    'MetadataSet',
    'MetadataSet',
  ])
  expect(logs[0]?.args).toMatchObject({ from: zeroAddress, to: owner.address })
  expect(logs[2]?.args).toMatchObject({ agentURI: 'data:,a', owner: owner.address })
  expect(logs[3]?.args).toMatchObject({ metadataKey: 'agentWallet', metadataValue: owner.address.toLowerCase() })
  expect(logs[4]?.args).toMatchObject({ metadataKey: 'agentwallet', metadataValue: stringToHex('free text') })
})

test('a registration without a URI logs no MetadataUpdate', async () => {
  const logs = await logsOf(await chain.send(owner, identity.register()))
  expect(logs.map(({ eventName }) => eventName)).toEqual(['Transfer', 'Registered', 'MetadataSet'])
})

test('a transfer clears the wallet before the Transfer', async () => {
  const agentId = await newIdentity()
  const logs = await logsOf(await chain.send(owner, identity.transferIdentity(agentId, owner.address, other.address)))
  expect(logs.map(({ eventName }) => eventName)).toEqual(['MetadataSet', 'Transfer'])
  expect(logs[0]?.args).toMatchObject({ metadataKey: 'agentWallet', metadataValue: '0x' })
})

test('a receiver that passes the identity on does so before Registered names the first receiver', async () => {
  const logs = await logsOf(await chain.send(owner, identity.registerPassingOn('', other.address)))
  expect(logs.map(({ eventName }) => eventName)).toEqual([
    'Transfer',
    'MetadataSet',
    'Transfer',
    'MetadataUpdate',
    'Registered',
    'MetadataSet',
  ])
  expect(logs[2]?.args).toMatchObject({ to: other.address })
  expect(logs[4]?.args).toMatchObject({
    owner: expect.stringMatching(new RegExp(chain.addresses.passingRegistrar, 'i')),
  })
})

test('a wallet is set with its own signature, and never through metadata', async () => {
  const agentId = await newIdentity()
  await chain.execute(owner, await identity.setAgentWallet(chain, { agentId, wallet: other, owner: owner.address }))
  expect(await walletOfIdentity(agentId)).toBe(other.address)

  const forOtherOwner = await identity.setAgentWallet(chain, { agentId, wallet: owner, owner: other.address })
  await expect(chain.execute(owner, forOtherOwner)).rejects.toThrow(/reverted/)
  const reserved = identity.setMetadata(agentId, { key: 'agentWallet', value: owner.address })
  await expect(chain.execute(owner, reserved)).rejects.toThrow(/reverted/)
  expect(await walletOfIdentity(agentId)).toBe(other.address)

  await chain.execute(owner, identity.unsetAgentWallet(agentId))
  expect(await walletOfIdentity(agentId)).toBe(zeroAddress)
})

test('an owner cannot give feedback about its own identity', async () => {
  const agentId = await newIdentity()
  await expect(chain.execute(owner, identity.giveFeedback({ agentId, value: 5n }))).rejects.toThrow(/reverted/)
  await chain.execute(other, identity.giveFeedback({ agentId, value: -5n, decimals: 1, tag1: 'slow' }))
})

test('a contract wallet pays by its owner’s signature, through the bytes form alone', async () => {
  const salt = keccak256(toBytes('wallet'))
  const wallet = await walletOf(chain, owner.address, salt)
  await chain.execute(other, createWallet(chain, owner.address, salt))
  await chain.execute(other, mint(chain, wallet, 10n))
  const request = { from: wallet, to: other.address, value: 4n, nonce: keccak256(toBytes('wallet pays')) }
  const authorization = await signAuthorization(chain, owner, request)
  await expect(chain.execute(other, pay(authorization, 'split'))).rejects.toThrow(/reverted/)
  const { logs } = await chain.execute(other, pay(authorization, 'bytes'))
  const names = parseEventLogs({ abi: dollarAbi, logs }).map(({ eventName }) => eventName)
  expect(names).toEqual(['AuthorizationUsed', 'Transfer'])
})

test('an app key is added, read back and removed', async () => {
  const key = keccak256(toBytes('app key'))
  await chain.execute(funder, registerFid(7n, other.address))
  await chain.execute(funder, addAppKey(7n, key))
  expect(await keyDataOf(7n, key)).toEqual({ state: 1, keyType: 1 })
  await chain.execute(funder, removeAppKey(7n, key))
  expect(await keyDataOf(7n, key)).toEqual({ state: 2, keyType: 1 })
})

test('calls sent at once by one account are mined in their order', async () => {
  const uris = ['first', 'second', 'third', 'fourth']
  const hashes = await Promise.all(uris.map((uri) => chain.send(other, identity.register(uri))))
  const ids = await Promise.all(hashes.map((hash) => identity.newIdentity(chain, hash)))
  expect(ids).toEqual([...ids].sort((a, b) => Number(a - b)))
})

test('a node ends with the process that started it, even a killed one, and leaves nothing on disk', async () => {
  const program = `
    const { startDevChain } = await import(${JSON.stringify(new URL('../../devnet/chain/chain.ts', import.meta.url).href)})
    console.log((await startDevChain('base')).pid)
    setInterval(() => {}, 1000)`
  const args = [...loader, '--input-type=module', '-e', program]
  const starter = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = await once(createInterface(starter.stdout), 'line')
  const pid = Number(line)
  expect(isAlive(pid)).toBe(true)
  expect(foldersOf(starter.pid as number)).toHaveLength(1)
  starter.kill('SIGKILL')
  await until('the node has ended', () => !isAlive(pid))
  await until('its folder is gone', () => foldersOf(starter.pid as number).length === 0)
})

test('what a node keeps on disk of a long history goes when it is stopped, or with the next start', async () => {
  const { pid: dead } = spawnSync('true')
  const left = await folderOfProcess(tmpdir(), nodeFolders, dead)
  const before = foldersOf(process.pid)
  const long = await startDevChain('base')
  expect(existsSync(left)).toBe(false)
  const [folder] = foldersOf(process.pid).filter((name) => !before.includes(name))
  const files = () => readdirSync(folder as string, { recursive: true }).map(String)
  const mineAndLook = async () => {
    await long.client.mine({ blocks: 50 })
    return files().some((name) => /^states\/.*\.json$/.test(name))
  }
  await until('states lie on disk', mineAndLook)
  await long.stop()
  expect(foldersOf(process.pid)).toEqual(before)
})

/** Folders of the nodes that a process has started. */
function foldersOf(pid: number): string[] {
  const names = readdirSync(tmpdir()).filter((name) => name.startsWith(nodeFolders) && name.includes(`-${pid}-`))
  return names.map((name) => join(tmpdir(), name)).sort()
}

async function newIdentity(): Promise<bigint> {
  return identity.newIdentity(chain, await chain.send(owner, identity.register('')))
}

async function logsOf(hash: Hash) {
  const { logs } = await chain.mined(hash)
  return parseEventLogs({ abi: identityAbi, logs })
}

function walletOfIdentity(agentId: bigint) {
  const { registry } = chain.addresses
  return chain.client.readContract({
    address: registry,
    abi: identityAbi,
    functionName: 'getAgentWallet',
    args: [agentId],
  })
}

async function keyDataOf(fid: bigint, key: Hash) {
  const address = chain.addresses.keyRegistry
  if (!address) throw new Error('Optimism has a key registry')
  return chain.client.readContract({ address, abi: keyRegistryAbi, functionName: 'keyDataOf', args: [fid, key] })
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
