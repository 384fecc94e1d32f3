import { type Abi, type AbiEvent, type AbiItem, parseAbi, toEventSelector, toFunctionSelector } from 'viem'
import { beforeAll, expect, test } from 'vitest'
import {
  batcherAbi,
  bridgedDollarAbi,
  collectorAbi,
  columnBatcherAbi,
  dollarAbi,
  identityAbi,
  idRegistryAbi,
  keyRegistryAbi,
  registrarAbi,
  reputationAbi,
  walletAbi,
  walletFactoryAbi,
} from '../../devnet/chain/abi.ts'
import { type Contract, compileContracts } from '../../devnet/contracts/compile.ts'
import { fixture } from '../support/fixture.ts'

let contracts: Record<string, Contract>
beforeAll(async () => {
  contracts = await compileContracts()
})

/** What the real registry's administrators use, and nobody here. */
const administration = parseAbi([
  'function UPGRADE_INTERFACE_VERSION()',
  'function proxiableUUID()',
  'function eip712Domain()',
  'function initialize()',
  'function owner()',
  'function renounceOwnership()',
  'function transferOwnership(address)',
  'event Initialized(uint64)',
  'event EIP712DomainChanged()',
  'event OwnershipTransferred(address indexed,address indexed)',
])

test('the identity registry has every function and event of the real one but its administration', () => {
  const real = difference(signatures(recordedAbi('erc8004-IdentityRegistry')), signatures(administration))
  const burn = signatures(parseAbi(['function burn(uint256)']))
  expect(compiled('IdentityRegistry')).toEqual(new Set([...real, ...burn]))
})

test('the reputation registry gives, revokes and answers feedback by the real functions and events', () => {
  const real = signatures(recordedAbi('erc8004-ReputationRegistry'))
  expect(difference(compiled('ReputationRegistry'), real)).toEqual(new Set())
})

test.each(['UsdCoin', 'CeloUsdc', 'BridgedDollar'])('%s has every entry point and event of EIP-3009', (name) => {
  expect(difference(signatures(recordedAbi('EIP3009')), compiled(name))).toEqual(new Set())
})

test('native dollars have nothing that the real token lacks but an own minting rule', () => {
  expect(difference(compiled('UsdCoin'), signatures(recordedAbi('FiatTokenV2_2')))).toEqual(new Set())
})

test.each([
  ['Multicall', 'Multicall3-aggregate', []],
  ['IdRegistry', 'farcaster-IdRegistry', ['registerId', 'transferId', 'recoverId']],
  ['KeyRegistry', 'farcaster-KeyRegistry', ['addKey', 'removeKey']],
])('%s has only signatures of the real %s, and its setters', (name, file, setters) => {
  const abi = contractAbi(name).filter((item) => !('name' in item && setters.includes(item.name)))
  expect(difference(signatures(abi), signatures(recordedAbi(file)))).toEqual(new Set())
})

test.each<[string[], readonly AbiItem[]]>([
  [['IdentityRegistry'], identityAbi],
  [['ReputationRegistry'], reputationAbi],
  [['UsdCoin'], dollarAbi],
  [['BridgedDollar'], bridgedDollarAbi],
  [['Multicall'], batcherAbi],
  [['ColumnBatcher'], columnBatcherAbi],
  [['Puller', 'Escrow'], collectorAbi],
  [['BatchRegistrar', 'PassingRegistrar'], registrarAbi],
  [['ContractWallet'], walletAbi],
  [['WalletFactory'], walletFactoryAbi],
  [['IdRegistry'], idRegistryAbi],
  [['KeyRegistry'], keyRegistryAbi],
])('the typed interface of %s names only what was compiled', (names, abi) => {
  expect(difference(signatures(abi), new Set(names.flatMap((name) => [...compiled(name)])))).toEqual(new Set())
})

/** Selectors of functions, topics of events and their indexed arguments, with names for a readable difference. */
function signatures(abi: readonly AbiItem[]): Set<string> {
  return new Set(
    abi.flatMap((item) => {
      if (item.type === 'function') return [`${item.name} ${toFunctionSelector(item)}`]
      if (item.type === 'event') return [`${item.name} ${toEventSelector(item)} indexed ${indexedOf(item)}`]
      return []
    }),
  )
}

function indexedOf({ inputs }: AbiEvent): string {
  return inputs.map(({ indexed }) => (indexed ? 1 : 0)).join('')
}

function compiled(name: string): Set<string> {
  return signatures(contractAbi(name))
}

function contractAbi(name: string): Abi {
  const contract = contracts[name]
  if (!contract) throw new Error(`no contract ${name} was compiled`)
  return contract.abi
}

function recordedAbi(name: string): Abi {
  return fixture(`abi/${name}.json`)
}

function difference(a: Set<string>, b: Set<string>): Set<string> {
  return new Set([...a].filter((value) => !b.has(value)))
}
