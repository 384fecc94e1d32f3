import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openChains, readChains, readChainsFile } from '../../config/chains.file.ts'
import { amendChain, chainNames, chainOf, chains, settlementChains } from '../../config/chains.ts'

const address = `0x${'Ab'.repeat(20)}`

test('without overrides every chain is on, read from the public Portal, its tip and archive off', () => {
  const settings = readChains({ env: {} })
  expect(Object.keys(settings)).toEqual(chainNames)
  for (const name of chainNames) {
    const { rpcVariable: _, gatewayVariable: __, ...row } = chainOf(name)
    const sources = { batch: 100, bloom: true, rpc: null, portal: 'https://portal.sqd.dev', gateway: null }
    expect(settings[name]).toEqual({ ...row, name, enabled: true, ...sources })
  }
})

test('the environment names Portal, tips and archives; an empty variable names nothing', () => {
  const env = {
    PORTAL_URL: 'https://portal.example',
    RPC_BASE: 'wss://base.example/key',
    RPC_CELO: '',
    GATEWAY_POLYGON: 'http://archive.example',
  }
  const settings = readChains({ env })
  expect(settings.base).toMatchObject({ portal: 'https://portal.example', rpc: 'wss://base.example/key' })
  expect(settings.celo.rpc).toBeNull()
  expect(settings.polygon.gateway).toBe('http://archive.example')
})

test('how a node is asked is set by chain, within bounds', () => {
  expect(readChains({ env: {}, file: { base: { batch: 3, bloom: false } } }).base).toMatchObject({
    batch: 3,
    bloom: false,
  })
  expect(() => readChains({ env: {}, file: { base: { batch: 0, bloom: 1 } } })).toThrow(
    /base\.batch: (.|\n)*base\.bloom: must be false when/,
  )
})

test('the file goes before the environment, and null turns a source off', () => {
  const env = { RPC_BASE: 'https://base.example', GATEWAY_BASE: 'https://archive.example' }
  const file = { base: { rpc: 'https://other.example', portal: null, gateway: null } }
  expect(readChains({ env, file }).base).toMatchObject({ rpc: 'https://other.example', portal: null, gateway: null })
})

test('the file overrides rows of the table, and leaves the other chains as they are', () => {
  const file = {
    base: {
      dataset: 'base-sepolia',
      finality: 3,
      registry: { address, fromBlock: 0 },
      reputation: { address, fromBlock: 1 },
      tokens: [{ address, decimals: 6, fromBlock: 2 }],
      partitions: { blocks: 2_000_000, oneBelow: 40_000_000 },
    },
    gnosis: { enabled: false },
  }
  const settings = readChains({ env: {}, file })
  expect(settings.base).toMatchObject({
    id: 8453,
    dataset: 'base-sepolia',
    finalityConfirmation: 3,
    registry: { address: address.toLowerCase(), fromBlock: 0 },
    reputation: { address: address.toLowerCase(), fromBlock: 1 },
    tokens: [{ address: address.toLowerCase(), decimals: 6, fromBlock: 2 }],
    partitions: { blocks: 2_000_000, oneBelow: 40_000_000 },
  })
  expect(settings.gnosis.enabled).toBe(false)
  expect(settings.celo).toEqual(readChains({ env: {} }).celo)
})

test('the row that docs/chains.md shows adds a chain, with its pages as they are written', () => {
  const document = readFileSync(new URL('../../docs/chains.md', import.meta.url), 'utf8')
  const [, shown = ''] = document.match(/```json\n([\s\S]+?)\n```/) ?? []
  const file = JSON.parse(shown.replaceAll('0x…', address))
  expect(readChains({ env: {}, file }).north).toMatchObject({
    name: 'north',
    enabled: true,
    rpc: 'https://node.example',
    finalityConfirmation: 60,
    explorer: file.north.explorer,
    partitions: { blocks: 10_000_000, oneBelow: 0 },
    social: null,
  })
})

test('a chain that is added is not asked for by what another one is called, and shares neither term nor dataset', () => {
  const pages = ['transaction', 'address', 'block', 'token'].map((page) => [
    page,
    'https://x.example/{hash}{address}{block}{id}',
  ])
  const row = {
    id: 8_004_008,
    label: 'North',
    feedTerm: 'north',
    dataset: 'north-mainnet',
    hasTraces: true,
    finality: 1,
    registry: { address, fromBlock: 0 },
    reputation: { address, fromBlock: 0 },
    tokens: [],
    explorer: Object.fromEntries(pages),
    hue: '#000000',
  }
  const problemsOf = (file: object) =>
    errorOf(() => readChains({ env: {}, file }))
      .split('\n')
      .slice(1)
  expect(problemsOf({ op: row })).toEqual(['  CHAINS_FILE op.name: op is that of optimism'])
  expect(problemsOf({ north: { ...row, label: '137', feedTerm: 'eth', dataset: 'base-mainnet' } })).toEqual([
    '  CHAINS_FILE north.feedTerm: eth is that of ethereum',
    '  CHAINS_FILE north.dataset: base-mainnet is that of base',
    '  CHAINS_FILE north.label: 137 is that of polygon',
  ])
  expect(problemsOf({ north: row, south: row })).toEqual([
    '  CHAINS_FILE south.label: north is that of north',
    '  CHAINS_FILE south.id: 8004008 is that of north',
    '  CHAINS_FILE south.feedTerm: north is that of north',
    '  CHAINS_FILE south.dataset: north-mainnet is that of north',
  ])
})

test('one of the two contracts of the social network can be overridden alone', () => {
  const { social } = readChains({ env: {}, file: { optimism: { keyRegistry: { address } } } }).optimism
  expect(social).toEqual({ ...chains.optimism.social, keyRegistry: address.toLowerCase() })
})

test('one error names every bad value of the file and of the environment', () => {
  const env = { PORTAL_URL: 'portal', RPC_ETHEREUM: 'ftp://x', GATEWAY_BASE: 'wss://not-for-archives' }
  const file = {
    base: {
      enabled: 'yes',
      rpc: 'nowhere',
      finality: -1,
      dataset: 'Base Mainnet',
      registry: { address: '0x1', fromBlock: 1.5 },
      tokens: [{ address, decimals: 19, fromBlock: 0 }],
      partitions: { blocks: 500_000, oneBelow: 0 },
      speed: 'fast',
    },
    solana: {},
  }
  const message = errorOf(() => readChains({ env, file }))
  expect(message).toMatch(/^the chain settings are wrong:\n/)
  for (const named of [
    /PORTAL_URL must be an http\(s\) address/,
    /RPC_ETHEREUM must be an http\(s\) or ws\(s\) address/,
    /GATEWAY_BASE must be an http\(s\) address/,
    /CHAINS_FILE base\.enabled: /,
    /CHAINS_FILE base\.rpc: must be an http\(s\) or ws\(s\) address/,
    /CHAINS_FILE base\.finality: /,
    /CHAINS_FILE base\.dataset: must be a dataset name/,
    /CHAINS_FILE base\.registry\.address: must be 0x and 40 hex digits/,
    /CHAINS_FILE base\.registry\.fromBlock: must be a block number/,
    /CHAINS_FILE base\.tokens\[0\]\.decimals: must be a whole number from 0 to 18/,
    /CHAINS_FILE base\.partitions\.blocks: must be a multiple of 1000000/,
    /CHAINS_FILE base\.speed: is not a setting/,
    /CHAINS_FILE solana: is not in the table of chains \(ethereum, base, .*\), so its row has to be whole/,
    /CHAINS_FILE solana\.id: must be the EIP-155 chain id/,
  ]) {
    expect(message).toMatch(named)
  }
})

test.for([
  { what: 'a list', file: [] },
  { what: 'a list of chains', file: [{ base: {} }] },
  { what: 'text', file: 'base' },
  { what: 'null', file: null },
])('a file that is $what and no object of chains is refused', ({ file }) => {
  expect(errorOf(() => readChains({ env: {}, file }))).toMatch(/CHAINS_FILE content: /)
})

test('a file that is missing, or is no JSON, is refused by its name', async () => {
  const path = join(tmpdir(), `chains-${randomUUID()}.json`)
  expect(errorOf(() => readChainsFile(path))).toContain(`CHAINS_FILE ${path} is not readable JSON: ENOENT`)
  await writeFile(path, '{ "base": ')
  expect(errorOf(() => readChainsFile(path))).toContain(`CHAINS_FILE ${path} is not readable JSON: `)
  const { polygon, base } = chains
  onTestFinished(() => amendChain('base', base))
  await writeFile(path, '{ "base": { "finality": 5, "partitions": { "blocks": 2000000, "oneBelow": 0 } } }')
  expect(openChains({ CHAINS_FILE: path })).toMatchObject({ base: { finality: 5 } })
  // What makes partitions reads the table, not the settings.
  expect(chainOf('base').partitions).toEqual({ blocks: 2_000_000, oneBelow: 0 })
  const tokens = [{ address: `0x${'70'.repeat(20)}`, fromBlock: 30_000_000, decimals: 6 }]
  await writeFile(path, JSON.stringify({ gnosis: { tokens }, polygon: { tokens } }))
  onTestFinished(() => amendChain('gnosis', { tokens: [] }))
  openChains({ CHAINS_FILE: path })
  expect(settlementChains()).toContain('gnosis')
  expect(chainOf('polygon')).toEqual(polygon)
  amendChain('gnosis', { tokens: [] })
  expect(settlementChains()).not.toContain('gnosis')
  const paymentContracts = [{ kind: 'permit2_exact', address: `0x${'40'.repeat(20)}`, fromBlock: 44_600_000 }]
  await writeFile(path, JSON.stringify({ gnosis: { paymentContracts }, polygon: { paymentContracts } }))
  onTestFinished(() => amendChain('gnosis', { paymentContracts: [] }))
  openChains({ CHAINS_FILE: path })
  expect(settlementChains()).toContain('gnosis')
  expect(chainOf('polygon')).toEqual(polygon)
  await rm(path)
  expect([undefined, ''].map(readChainsFile)).toEqual([undefined, undefined])
})

test('a chain that is on needs a source, one that is off does not', () => {
  const none = { rpc: null, portal: null, gateway: null }
  const message = errorOf(() => readChains({ env: {}, file: { base: none } }))
  expect(message).toMatch(/CHAINS_FILE base: needs a source; give rpc, portal or gateway, or set enabled to false/)
  expect(readChains({ env: {}, file: { base: { ...none, enabled: false } } }).base.enabled).toBe(false)
})

function errorOf(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    return (error as Error).message
  }
  throw new Error('nothing was refused')
}
