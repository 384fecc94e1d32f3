import { encodeAbiParameters, encodeFunctionResult, type Hex, pad, parseAbi, toFunctionSelector, toHex } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { agentControlAnswer } from '../../../api/schemas/agents/control.ts'
import { chains } from '../../../config/chains.ts'
import { readingLimits } from '../../../config/limits.ts'
import { agentControl } from '../../../db/queries/agents/control.ts'
import { fidFacts } from '../../../db/queries/agents/explain.ts'
import { agentProfile } from '../../../db/queries/agents/profile.ts'
import { type DevChain, startDevChain } from '../../../devnet/chain/chain.ts'
import { controlReadings } from '../../../enrichment/control/source.ts'
import { runPass } from '../../../enrichment/schedule/scheduler.ts'
import { createHost } from '../../../hosts/host.ts'
import { createProofWorld } from '../../../social/proof-world.ts'
import { deriveAll } from '../../derive/again.ts'
import { answeringCode } from '../../support/chain/answering-code.ts'
import { testDatabase } from '../../support/database.ts'
import { createClock } from '../../support/enrichment-job.ts'
import { addressOf, birth, insert, seedChainState, seedRegistration } from '../../support/seed.ts'
import { mintTo } from '../upstreams/job.ts'

// Contracts that act for registrations, on a chain of ours with look-alikes of Safe, ERC-6551, ERC-8217 and ENS.
const database = testDatabase()
const clock = createClock('2026-06-01T00:00:00Z')
const contextOf = () => ({ pool: database.pool, now: clock.now, settlementOverloads: 'spec' }) as const
let base: DevChain
let ethereum: DevChain
let world: ReturnType<typeof createProofWorld>

beforeAll(async () => {
  ;[base, ethereum] = await Promise.all([startDevChain('base'), startDevChain('ethereum')])
  world = createProofWorld({
    ...chains,
    base: { ...chains.base, rpc: base.rpc },
    ethereum: { ...chains.ethereum, rpc: ethereum.rpc },
  })
  await seedChainState(database.pool, { chain: 'base', indexed: 1_000, finalized: 1_000, at: clock.now() })
})
afterAll(async () => {
  await world.close()
  await Promise.all([base.stop(), ethereum.stop()])
})

const hex = (name: string) => addressOf(name) as Hex
const [key, delegated, safe, bound, plain, binder, master] = [
  'key',
  'delegated',
  'safe',
  'token bound',
  'plain',
  'binder',
  'master',
].map(hex) as [Hex, Hex, Hex, Hex, Hex, Hex, Hex]
const owners = [hex('first owner'), hex('second owner')]
const nft = hex('nft')
const word = (value: Hex | bigint | number) => pad(typeof value === 'string' ? value : toHex(value)) as Hex

const safeAbi = parseAbi([
  'function getOwners() view returns (address[])',
  'function getThreshold() view returns (uint256)',
  'function getModulesPaginated(address start, uint256 pageSize) view returns (address[] array, address next)',
])
const safeCode = (of: readonly Hex[]) =>
  answeringCode({
    '0xa0e67e2b': encodeFunctionResult({ abi: safeAbi, functionName: 'getOwners', result: of }),
    '0xe75235b8': word(of.length),
    '0xcc2f8452': encodeFunctionResult({
      abi: safeAbi,
      functionName: 'getModulesPaginated',
      result: [[hex('module')], '0x0000000000000000000000000000000000000001'],
    }),
  })
/** Code of the proxy of Safe 1.4.1: it leaves every call to the contract in its first slot. */
const proxyCode =
  `0x608060405273${'ff'.repeat(20)}600054167fa619486e${'00'.repeat(28)}60003514156050578060005260206000f35b3660008037600080366000845af43d6000803e60008114156070573d6000fd5b3d6000f3fea264697066735822122003d1488ee65e08fa41e58e888a9865554c535f2c77126a82cb4c0f917f31441364736f6c63430007060033` as Hex
/** Safe 1.4.1 for L2. */
const singleton = '0x29fcb43b46531bca003ddc8fcb67ffe91900c762'
const putProxy = async (address: Hex, to: Hex, code = proxyCode) => {
  await put(base, address, code)
  await base.client.setStorageAt({ address, index: 0, value: word(to) })
}
const ofToken = (chainId: number) =>
  `0x363d3d373d3d3d363d73${'11'.repeat(20)}5af43d82803e903d91602b57fd5bf3${[0, chainId, nft, 77]
    .map((value) => word(value as Hex).slice(2))
    .join('')}` as Hex

const put = ({ client }: DevChain, address: Hex, bytecode: Hex) => client.setCode({ address, bytecode })
/** Makes what was done final. */
const finalize = async () => Promise.all([base, ethereum].map(({ client }) => client.mine({ blocks: 100 })))

const source = (nodeOf = world.nodeOf) =>
  controlReadings({
    pool: database.pool,
    host: createHost({ name: 'nodes', requestsPerSecond: 100_000 }),
    chains,
    nodeOf,
    now: clock.now,
  })
async function read(nodeOf?: typeof world.nodeOf) {
  await deriveAll(contextOf())
  const outcomes: string[] = []
  const one = source(nodeOf)
  const failed: unknown[] = []
  for (;;) {
    const { leased, outcomes: some } = await runPass(one, {
      ...contextOf(),
      random: () => 0.5,
      failed: (e) => failed.push(e),
    })
    if (leased === 0) break
    outcomes.push(...some)
  }
  expect(failed).toEqual([])
  await deriveAll(contextOf())
  return outcomes
}
/** The answer, not one that the API kept for some seconds. */
const controlOf = async (fid: number, at: Date | null = null) => {
  const text = await agentControl(database.pool, fid, at?.getTime() ?? null)
  const body = agentControlAnswer.parse(JSON.parse(text!))
  return { ...body, held: body.chains.find(({ chain }) => chain === 'base')!.registrations! }
}
const eventsOf = async (fid: number) => {
  const { rows } = await database.pool.query(`select from directory_event where kind = 'control' and fid = $1`, [fid])
  return rows.length
}
/** Metadata that the owner set. */
const setMetadata = (id: number, name: string, value: Hex) =>
  insert(database.pool, 'registration_metadata', {
    id: `base-${id}-${name}`,
    chain: 'base',
    agent_id: id,
    key: name,
    value: Buffer.from(value.slice(2), 'hex'),
    block_number: 101,
    log_index: id,
    block_timestamp: birth,
    tx_hash: Buffer.alloc(32, 1),
  })
const nameServices = (id: number, names: readonly string[]) =>
  insert(database.pool, 'registration_document', {
    chain: 'base',
    agent_id: id,
    uri_status: 'ok',
    services: JSON.stringify(names.map((endpoint) => ({ name: 'ENS', endpoint, version: null }))),
    updated_at: clock.now(),
  })

test('what owners are is told at a final block, with who commands contracts; changes of owners are events', async () => {
  await put(base, delegated, `0xef0100${hex('delegate').slice(2)}`)
  await put(base, singleton, safeCode(owners))
  await putProxy(safe, singleton)
  await put(base, bound, ofToken(8453))
  await put(base, plain, answeringCode({ '0x8da5cb5b': word(key) }))
  await put(base, nft, answeringCode({ '0x6352211e': word(master) }))
  await finalize()
  await mintTo(database.pool, { fid: 1, addresses: [key, delegated, safe, bound, plain] })
  await mintTo(database.pool, { fid: 2, addresses: [owners[0]!] })
  expect(await read()).toEqual(Array.from({ length: 6 }, () => 'ok'))

  const { held } = await controlOf(1)
  const account = (id: number) => held.find(({ erc8004_id }) => Number(erc8004_id) === id)!.controllers[0]!.account!
  expect([100, 101, 102, 103, 104].map((id) => account(id).kind)).toEqual([
    'key',
    'delegated',
    'safe',
    'token_bound',
    'contract',
  ])
  expect(account(100)).toMatchObject({ code_hash: null, block_number: expect.any(Number) })
  expect(account(101).delegate).toBe(hex('delegate'))
  expect(account(102)).toMatchObject({
    owners: [
      { address: owners[0], fid: 2 },
      { address: owners[1], fid: null },
    ],
    owners_total: 2,
    threshold: 2,
    modules: [hex('module')],
    code_hash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
  })
  // Anybody can deploy code that names a token of somebody: the answer has what it leaves its calls to, and no account.
  const implementation = `0x${'11'.repeat(20)}`
  expect(account(103).token).toEqual({ implementation, chain_id: 8453, contract: nft, token_id: '77', holder: master })
  // What was read is of one block: nothing is said of another time.
  const then = await controlOf(1, clock.now())
  expect(then.held.map(({ controllers }) => controllers[0]!.account)).toEqual([null, null, null, null, null])
  expect([then.bound, then.held[0]!.names]).toEqual([null, null])

  expect(await eventsOf(1)).toBe(0)
  await put(base, singleton, safeCode([owners[1]!]))
  await finalize()
  clock.pass(2 * 86_400_000)
  expect(await read()).toHaveLength(6)
  expect(await eventsOf(1)).toBe(1)
  expect((await controlOf(1)).held[2]!.controllers[0]!.account!.owners).toEqual([{ address: owners[1], fid: null }])
})

test('a contract that only answers like a Safe has no owners', async () => {
  const [alike, led, leading] = ['alike', 'led elsewhere', 'other code'].map(hex) as [Hex, Hex, Hex]
  await put(base, alike, safeCode(owners))
  await putProxy(led, alike)
  await putProxy(leading, singleton, safeCode(owners))
  await finalize()
  await mintTo(database.pool, { fid: 20, addresses: [alike, led, leading] })
  await read()
  const accounts = (await controlOf(20)).held.map(({ controllers }) => controllers[0]!.account!)
  expect(accounts.map(({ kind, owners: of, threshold }) => [kind, of, threshold])).toEqual(
    Array.from({ length: 3 }, () => ['contract', [], null]),
  )
})

test('a node that fails, or is not there, changes nothing that was read, and is told of what was not', async () => {
  const before = (await controlOf(1)).held
  const silent = createProofWorld({ ...chains, base: { ...chains.base, rpc: 'http://127.0.0.1:9' } })
  clock.pass(2 * 86_400_000)
  await mintTo(database.pool, { fid: 3, addresses: [hex('owner of 3')] })
  expect(new Set(await read(silent.nodeOf))).toEqual(new Set(['unreachable']))
  expect((await controlOf(1)).held).toEqual(before)
  expect((await controlOf(3)).held[0]!.controllers[0]!.account).toMatchObject({
    kind: 'not_checked',
    block_number: null,
  })
  await silent.close()
  const none = createProofWorld(chains)
  await mintTo(database.pool, { fid: 4, addresses: [hex('owner of 4')] })
  clock.pass(2 * 86_400_000)
  expect(await read(none.nodeOf)).toContain('ok')
  expect((await controlOf(4)).held[0]!.controllers[0]!.account).toMatchObject({ kind: 'not_checked' })
})

test('a registration that a contract holds for the holder of another token is listed for whoever verified that', async () => {
  const binding = encodeAbiParameters([{ type: 'uint8' }, { type: 'address' }, { type: 'uint256' }], [0, nft, 77n])
  await put(base, binder, answeringCode({ '0x4d69ebc2': binding }))
  await finalize()
  await mintTo(database.pool, { fid: 5, addresses: [master] })
  // Held by the contract, and by somebody who only names it.
  await mintTo(database.pool, { fid: 6, addresses: [binder, hex('pretender')] })
  await database.pool.query('delete from verified_address where fid = 6 and address = $1', [
    Buffer.from(binder.slice(2), 'hex'),
  ])
  for (const id of [600, 601]) await setMetadata(id, 'agent-binding', binder)
  await read()
  const { bound: listed } = await controlOf(5)
  const token = { standard: 'erc721', contract: nft, token_id: '77', holder: master, fid: 5 }
  expect(listed).toMatchObject([
    { chain: 'base', erc8004_id: 600, contract: binder, bound_to: { status: 'verified', ...token } },
  ])
  expect((await controlOf(6)).held).toMatchObject([
    { erc8004_id: 601, binding: { contract: binder, holds_token: false, bound_to: null } },
  ])
  // The contract says no such thing any more, or the token went on.
  await put(base, binder, answeringCode({ '0xfc0c546a': word(1) }))
  await finalize()
  clock.pass(8 * 86_400_000)
  await read()
  expect((await controlOf(5)).bound).toEqual([])
})

test('registrations that strangers bind to an account’s token hide none that it bound itself', async () => {
  const { pool } = database
  const bytes = (address: string) => Buffer.from(address.slice(2), 'hex')
  const holder = hex('holder of a token')
  await mintTo(pool, { fid: 8, addresses: [holder] })
  const strangers = readingLimits.controlRegistrations + 5
  const given = 9_000 + strangers
  const signed = given + 1
  for (let id = 9_000; id <= signed; id++) {
    await seedRegistration(pool, { chain: 'base', id, owner: binder, wallet: id === signed ? holder : null })
    await insert(pool, 'registration_transfer', {
      id: `base-${id}-bound`,
      chain: 'base',
      agent_id: String(id),
      from: bytes(id === given ? holder : hex('a stranger')),
      to: bytes(binder),
      block_number: 300,
      log_index: id,
      block_timestamp: birth,
      tx_hash: Buffer.alloc(32),
    })
    await insert(pool, 'control_reading', {
      chain: 'base',
      agent_id: String(id),
      input: '00000000-0000-0000-0000-000000000000',
      read_at: clock.now(),
      accounts: '[]',
      names: '[]',
      binding: bytes(binder),
      binding_status: 'verified',
      binding_standard: 'erc721',
      token_contract: bytes(nft),
      token_id: '78',
      master: bytes(holder),
    })
  }
  await deriveAll(contextOf())
  const { bound: listed, truncated } = await controlOf(8)
  expect(listed).toHaveLength(readingLimits.controlRegistrations)
  expect(listed!.slice(0, 3).map(({ erc8004_id }) => Number(erc8004_id))).toEqual([given, signed, 9_000])
  expect(truncated).toBe(true)
  await pool.query('delete from control_reading where agent_id >= 9000')
  await pool.query('delete from registration where agent_id >= 9000')
})

test('names of ENS count when their text record names the registration back', async () => {
  const resolver = hex('resolver')
  const offChain = hex('resolver of another host')
  const registry = '0x00000000000c2e074ec69a0dfb2997ba6c7d2e1e'
  const text = (value: string) => encodeAbiParameters([{ type: 'string' }], [value])
  await mintTo(database.pool, { fid: 7, addresses: [hex('owner of 7')] })
  await nameServices(700, ['agent.eth', 'not a name', 'x'])
  await put(ethereum, registry, answeringCode({ [toFunctionSelector('resolver(bytes32)')]: word(resolver) }))
  await put(ethereum, resolver, answeringCode({ '0x59d1d43c': text('1') }))
  await finalize()
  await read()
  const names = async () => (await controlOf(7)).held[0]!.names!.map(({ name, status }) => `${name}: ${status}`)
  expect(await names()).toEqual(['agent.eth: confirmed', 'not a name: invalid'])
  const profileNames = async () => {
    const body = await agentProfile(database.pool, {
      fid: 7,
      settlementOverloads: 'spec',
      installation: { registries: {} as never, baseUrl: '' },
    })
    return JSON.parse(body ?? '').erc8004_records[0].ens_names
  }
  const both = ['confirmed', 'invalid'].map((status, n) => ({ name: ['agent.eth', 'not a name'][n], status }))
  expect(await profileNames()).toEqual(both)
  const explained = both.map((one) => ({ chain: 'base', erc8004_id: 700, ...one }))
  expect((await fidFacts(database.pool, 7))?.ens_names).toEqual(explained)
  const changes = async () => {
    await deriveAll(contextOf())
    const { rows } = await database.pool.query('select count(*)::int as n from agent_change where fid = 7')
    return rows[0].n
  }
  const contract = async () =>
    (await database.pool.query('select ens_names from directory.registrations where erc8004_id = 700')).rows
  expect(await contract()).toEqual([{ ens_names: ['agent.eth'] }])
  const searched = async () => {
    const { rows } = await database.pool.query('select names from agent_words where fid = 7')
    return rows[0].names.split('\n')
  }
  expect(await searched()).toContain('agent.eth')
  expect(await searched()).not.toContain('not a name')
  const again = async () => {
    await finalize()
    clock.pass(2 * 86_400_000)
    await read()
    return (await names())[0]
  }
  const before = await changes()
  // The same again, at another block, is no change.
  expect(await again()).toBe('agent.eth: confirmed')
  expect(await changes()).toBe(before)
  await put(ethereum, resolver, answeringCode({ '0x59d1d43c': text('') }))
  expect(await again()).toBe('agent.eth: unconfirmed')
  expect(await profileNames()).toMatchObject([{ status: 'unconfirmed' }, { status: 'invalid' }])
  expect([await changes(), await contract()]).toEqual([before + 1, [{ ens_names: [] }]])
  expect(await searched()).not.toContain('agent.eth')
  await put(ethereum, registry, answeringCode({ [toFunctionSelector('resolver(bytes32)')]: word(offChain) }))
  await put(ethereum, offChain, answeringCode({ '0x00000001': '0x' }))
  expect(await again()).toBe('agent.eth: not_checked')
  // A resolver that answers for its names by `resolve` (ENSIP-10).
  const wild = encodeAbiParameters([{ type: 'bytes' }], [text('yes')])
  await put(ethereum, offChain, answeringCode({ [toFunctionSelector('resolve(bytes,bytes)')]: wild }))
  expect(await again()).toBe('agent.eth: confirmed')
  await put(ethereum, registry, answeringCode({ [toFunctionSelector('resolver(bytes32)')]: word(0) }))
  expect(await again()).toBe('agent.eth: unconfirmed')
})
