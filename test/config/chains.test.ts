import { expect, test } from 'vitest'
import { chainNames, chainOf, findChain } from '../../config/chains.ts'
import { fixture } from '../support/fixture.ts'

interface Reference {
  erc8004: { identityRegistry: string; reputationRegistry: string }
  chains: {
    name: string
    label: string
    chainId: number
    identityDeployed: number
    usdc: { address: string; deployed: number | null; safeLowerBound?: number; decimals: number } | null
  }[]
}

const reference: Reference = fixture('chain/chains.json')

test('the table has the chains of the reference, with their ids and labels', () => {
  const table = chainNames.map((name) => ({ name, label: chainOf(name).label, chainId: chainOf(name).id }))
  const expected = reference.chains.map(({ name, label, chainId }) => ({ name, label, chainId }))
  expect(sorted(table)).toEqual(sorted(expected))
})

test('the order of the table is the order of every list of chains', () => {
  const labels = chainNames.map((name) => chainOf(name).label)
  expect(labels).toEqual(['Eth', 'Base', 'Celo', 'Arb', 'OP', 'Poly', 'Gnosis'])
})

test.for(reference.chains)('$name: registries stand at their address, from the block of their deployment', (row) => {
  const { registry, reputation } = chainOf(findChain(row.name)!)
  expect(registry).toEqual({
    address: reference.erc8004.identityRegistry.toLowerCase(),
    fromBlock: row.identityDeployed,
  })
  expect(reputation).toEqual({
    address: reference.erc8004.reputationRegistry.toLowerCase(),
    fromBlock: row.identityDeployed,
  })
})

test.for(reference.chains)('$name: the token is native USDC, asked for no later than it can have paid', (row) => {
  const { tokens } = chainOf(findChain(row.name)!)
  if (row.usdc === null) return expect(tokens).toEqual([])
  const [token, ...others] = tokens
  expect(others).toEqual([])
  expect(token).toMatchObject({ address: row.usdc.address.toLowerCase(), decimals: row.usdc.decimals })
  // Ethereum's USDC is older than EIP-3009, which came with a release of July 2020, after block 10,500,000.
  const earliest = row.name === 'ethereum' ? 10_500_000 : (row.usdc.deployed ?? row.usdc.safeLowerBound)
  expect(token?.fromBlock).toBe(earliest)
})

test('names, labels, feed terms, ids, datasets and variables are each used once', () => {
  const rows = chainNames.map((name) => chainOf(name))
  const columns: unknown[][] = [
    chainNames.map(String),
    ...(['label', 'feedTerm', 'id', 'dataset', 'rpcVariable', 'gatewayVariable'] as const).map((column) =>
      rows.map((row) => row[column]),
    ),
  ]
  for (const column of columns) expect(new Set(column).size).toBe(chainNames.length)
})

test('a chain is found by name, label or id, in any case and between blanks', () => {
  expect(['optimism', 'OP', 'op', '10', ' Optimism '].map(findChain)).toEqual(Array(5).fill('optimism'))
  expect(['BASE', 'Base', '8453'].map(findChain)).toEqual(Array(3).fill('base'))
})

test('what means no chain finds none', () => {
  expect(
    ['', ' ', 'optimis', '0', '010', '1.0', '0x1', 'ethereum,base', 'toString', '__proto__'].map(findChain),
  ).toEqual(Array(10).fill(undefined))
})

function sorted<T extends { name: string }>(rows: T[]): T[] {
  return rows.toSorted((a, b) => (a.name < b.name ? -1 : 1))
}
