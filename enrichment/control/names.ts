import { type Address, decodeFunctionResult, encodeFunctionData, type Hex, namehash, parseAbi, toHex } from 'viem'
import { normalize, packetToBytes } from 'viem/ens'
import { decoded } from './accounts.ts'
import type { FinalNode } from './final-node.ts'

/** A name that a registration's document claims, and whether the name says so too. Source: draft ENSIP-25. */
export interface NameRead {
  readonly name: string
  /**
   * confirmed: its text record names the registration; unconfirmed: it has none; not_checked: no node could be asked, or
   * the name's resolver sends its readers elsewhere; invalid: no name of ENS.
   */
  readonly status: 'confirmed' | 'unconfirmed' | 'not_checked' | 'invalid'
  readonly block_number: number | null
  readonly block_timestamp: string | null
}

/** Source: docs.ens.domains, the registry on chain 1. */
const ensRegistry = '0x00000000000c2e074ec69a0dfb2997ba6c7d2e1e'
/** The chain that has it. */
export const ensChainId = 1
const longestName = 255
/** Names above a name that are asked for a resolver. */
const mostAbove = 4

/** Source: ENSIP-1, ENSIP-5, ENSIP-10. */
const abi = parseAbi([
  'function resolver(bytes32 node) view returns (address)',
  'function text(bytes32 node, string key) view returns (string)',
  'function resolve(bytes name, bytes data) view returns (bytes)',
])

/** ERC-7930 of a contract: version, kind of chain, length and digits of the chain's id, length and digits of the address. */
function interoperableAddress(chainId: number, address: string): Hex {
  const id = toHex(chainId).slice(2)
  const digits = id.length % 2 ? `0${id}` : id
  const length = (digits.length / 2).toString(16).padStart(2, '0')
  return `0x00010000${length}${digits}14${address.slice(2).toLowerCase()}`
}

/** Key of the text record by which a name says that a registration is its own. */
export function registrationKey(chainId: number, registry: string, agentId: string): string {
  return `agent-registration[${interoperableAddress(chainId, registry)}][${agentId}]`
}

export const nameNotChecked = (name: string): NameRead => ({
  name,
  status: 'not_checked',
  block_number: null,
  block_timestamp: null,
})

/** Asks whether a name has the text record `key`. Throws when the node does not answer. */
export async function readName(node: FinalNode, name: string, key: string): Promise<NameRead> {
  const at = { name, block_number: node.block.number, block_timestamp: node.block.time }
  const normal = normalized(name)
  if (normal === undefined) return { ...at, status: 'invalid' }
  const found = await resolverOf(node, normal)
  if (!found) return { ...at, status: 'unconfirmed' }
  const data = encodeFunctionData({ abi, functionName: 'text', args: [namehash(normal), key] })
  const text = found.isOwn ? decoded<string>(abi, 'text', await node.call(found.resolver, data)) : undefined
  const told = text ?? (await resolvedText(node, found.resolver, normal, data))
  if (told === undefined) return { ...at, status: 'not_checked' }
  return { ...at, status: told === '' ? 'unconfirmed' : 'confirmed' }
}

function normalized(name: string): string | undefined {
  if (name.length > longestName || !name.includes('.')) return undefined
  try {
    return normalize(name)
  } catch {
    return undefined // it has characters that no name may have
  }
}

/** The resolver of a name, or of the nearest name above it, which may answer for it; undefined: there is none. */
async function resolverOf(node: FinalNode, name: string) {
  const labels = name.split('.')
  for (let above = 0; above <= Math.min(mostAbove, labels.length - 1); above++) {
    const args = [namehash(labels.slice(above).join('.'))] as const
    const data = encodeFunctionData({ abi, functionName: 'resolver', args })
    const resolver = decoded<Address>(abi, 'resolver', await node.call(ensRegistry, data))
    if (resolver !== undefined && !/^0x0{40}$/.test(resolver)) return { resolver, isOwn: above === 0 }
  }
  return undefined
}

/** What a resolver answers for names below its own; undefined: it does not, or wants to be asked elsewhere (ERC-3668). */
async function resolvedText(node: FinalNode, resolver: Address, name: string, data: Hex) {
  const args = [toHex(packetToBytes(name)), data] as const
  const answer = await node.call(resolver, encodeFunctionData({ abi, functionName: 'resolve', args }))
  const inner = decoded<Hex>(abi, 'resolve', answer)
  if (inner === undefined) return undefined
  try {
    return decodeFunctionResult({ abi, functionName: 'text', data: inner })
  } catch {
    return undefined
  }
}
