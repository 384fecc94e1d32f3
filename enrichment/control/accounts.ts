import { type Abi, type Address, decodeFunctionResult, encodeFunctionData, type Hex, keccak256, parseAbi } from 'viem'
import { readingLimits } from '../../config/limits.ts'
import type { FinalNode } from './final-node.ts'
import { isSafe } from './safes.ts'

/** What an address that may act for a registration is, at a final block. Addresses and hashes are lowercase hex. */
export interface AccountRead {
  readonly address: Address
  /**
   * key: it has no code; delegated: its key commands it, and a contract acts for it (EIP-7702); safe: the proxy of a published
   * Safe; token_bound: its code has the form of ERC-6551, which names a token; contract: any other; not_checked: no node could
   * be asked.
   */
  readonly kind: 'key' | 'delegated' | 'safe' | 'token_bound' | 'contract' | 'not_checked'
  /** Keccak-256 of its code; null: it has none, or was not read. */
  readonly code_hash: Hex | null
  /** The contract that acts for it (EIP-7702). */
  readonly delegate: Address | null
  /** The first owners of a Safe, and how many there are. */
  readonly owners: readonly Address[]
  readonly owners_total: number
  /** Owners that have to agree. */
  readonly threshold: number | null
  /** The first modules of a Safe: each may act without its owners. Null: it does not say. */
  readonly modules: readonly Address[] | null
  /**
   * The token that its code names (ERC-6551). Anybody can deploy such code: whether the token's holder commands the account is
   * up to the implementation alone. Decimal digits for what is wider than numbers.
   */
  readonly token: {
    readonly implementation: Address
    readonly chain_id: string
    readonly contract: Address
    readonly token_id: string
    /** Who holds that token; null: it is on another chain, or its contract does not say. */
    readonly holder: Address | null
  } | null
  /** The final block it was read at; null: it was not. */
  readonly block_number: number | null
  readonly block_timestamp: string | null
}

/** Owners, and modules, of a Safe that are kept. */
const mostOwners = readingLimits.safeOwners
const mostThreshold = 1_000_000n

/** Source: safe-global/safe-smart-account, contracts/base: OwnerManager, ModuleManager. ERC-721. */
const abi = parseAbi([
  'function getOwners() view returns (address[])',
  'function getThreshold() view returns (uint256)',
  'function getModulesPaginated(address start, uint256 pageSize) view returns (address[] array, address next)',
  'function ownerOf(uint256 tokenId) view returns (address)',
])
/** Begins the list of modules of a Safe. */
const firstModule = '0x0000000000000000000000000000000000000001'
/** Begins the code of an account that a contract acts for, which its key still commands. Source: EIP-7702. */
const delegated = /^0xef0100([0-9a-f]{40})$/
/** A minimal proxy (ERC-1167) with salt, chain, contract and id of a token behind it. Source: ERC-6551. */
const tokenBound =
  /^0x363d3d373d3d3d363d73([0-9a-f]{40})5af43d82803e903d91602b57fd5bf3[0-9a-f]{64}([0-9a-f]{64})0{24}([0-9a-f]{40})([0-9a-f]{64})$/

const nothing = {
  code_hash: null,
  delegate: null,
  owners: [],
  owners_total: 0,
  threshold: null,
  modules: null,
  token: null,
} as const

export function notChecked(address: Address): AccountRead {
  return { address, kind: 'not_checked', ...nothing, block_number: null, block_timestamp: null }
}

/** Reads an account on a chain by its id. Throws when the node does not answer. */
export async function readAccount(node: FinalNode, chainId: number, address: Address): Promise<AccountRead> {
  const at = { address, block_number: node.block.number, block_timestamp: node.block.time }
  const code = await node.code(address)
  if (code === '0x') return { ...at, kind: 'key', ...nothing }
  const known = { ...at, ...nothing, code_hash: keccak256(code) }
  const delegate = delegated.exec(code)?.[1]
  if (delegate !== undefined) return { ...known, kind: 'delegated', delegate: `0x${delegate}` }
  const bound = tokenBound.exec(code)
  if (bound) return { ...known, kind: 'token_bound', token: await tokenOf(node, chainId, bound) }
  const safe = (await isSafe(node, address, known.code_hash)) ? await safeOf(node, address) : undefined
  return safe ? { ...known, kind: 'safe', ...safe } : { ...known, kind: 'contract' }
}

async function tokenOf(node: FinalNode, chainId: number, [, implementation, chain, contract, id]: RegExpExecArray) {
  const token = { chain_id: BigInt(`0x${chain}`), contract: `0x${contract}` as Address, id: BigInt(`0x${id}`) }
  return {
    implementation: `0x${implementation}` as const,
    chain_id: `${token.chain_id}`,
    contract: token.contract,
    token_id: `${token.id}`,
    holder: token.chain_id === BigInt(chainId) ? await holderOf(node, token.contract, token.id) : null,
  }
}

/** Who holds a token of an ERC-721 contract; null: it does not say. */
export async function holderOf(node: FinalNode, contract: Address, tokenId: bigint): Promise<Address | null> {
  const data = encodeFunctionData({ abi, functionName: 'ownerOf', args: [tokenId] })
  return decoded<Address>(abi, 'ownerOf', await node.call(contract, data)) ?? null
}

/** Who commands a Safe; undefined: it was not set up. */
async function safeOf(node: FinalNode, address: Address) {
  const threshold = decoded<bigint>(
    abi,
    'getThreshold',
    await node.call(address, encodeFunctionData({ abi, functionName: 'getThreshold' })),
  )
  if (threshold === undefined || threshold === 0n || threshold > mostThreshold) return undefined
  const owners = decoded<readonly Address[]>(
    abi,
    'getOwners',
    await node.call(address, encodeFunctionData({ abi, functionName: 'getOwners' })),
  )
  if (owners === undefined || owners.length < threshold) return undefined
  const args = [firstModule, BigInt(mostOwners)] as const
  const modules = decoded<readonly [readonly Address[], Address]>(
    abi,
    'getModulesPaginated',
    await node.call(address, encodeFunctionData({ abi, functionName: 'getModulesPaginated', args })),
  )
  return {
    owners: owners.slice(0, mostOwners).map(lower),
    owners_total: owners.length,
    threshold: Number(threshold),
    modules: modules?.[0].slice(0, mostOwners).map(lower) ?? null,
  }
}

const lower = (address: Address) => address.toLowerCase() as Address

/** What a function returned, addresses in lowercase; undefined: nothing that it could have. */
export function decoded<T>(of: Abi, functionName: string, data: Hex | undefined): T | undefined {
  if (data === undefined) return undefined
  try {
    const value = decodeFunctionResult({ abi: of, functionName, data })
    return (typeof value === 'string' ? value.toLowerCase() : value) as T
  } catch {
    return undefined // a contract may return any bytes
  }
}
