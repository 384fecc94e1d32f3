import { chainOf } from '../../config/chains.ts'
import { networkOf } from '../networks.ts'

/** A registration that a file or a host lists as its agent's. */
export interface ListedRegistration {
  /** CAIP-10 address of an identity registry, lowercase. */
  readonly registry: string
  /** Number of the registration, in decimal. */
  readonly agentId: string
}

/** Keys in use, in lower case and without underscores. */
const spellings = {
  registry: [
    'agentregistry',
    'registry',
    'identityregistry',
    'registryaddress',
    'agentregistryaddress',
    'identityregistryaddress',
    'caip10',
    'contract',
    'contractaddress',
  ],
  agentId: ['agentid', 'tokenid', 'agenttokenid', 'id', 'erc8004id', 'nftid', 'registrationid', 'caip19', 'did'],
  chain: ['chainid', 'chain', 'network', 'networkid', 'chainname'],
}

/**
 * Reads an entry of `registrations`: CAIP-10 or CAIP-19, or the parts of it in any of its members ("8453:17", "#17"). Undefined:
 * its registry, chain or number is not told, or told in two ways that differ. A registry alone has the same address on
 * many chains: which one is meant is not guessed.
 */
export function toListedRegistration(entry: unknown): ListedRegistration | undefined {
  const text = typeof entry === 'string'
  const members = text ? new Map<string, unknown>() : membersOf(entry)
  const named = (keys: readonly string[]) => keys.map((key) => members.get(key)).find((value) => value != null)
  const registry = partsOf(text ? '' : named(spellings.registry))
  const id = partsOf(text ? entry : named(spellings.agentId))
  const chain = named(spellings.chain)
  const chains = new Set(
    [registry?.chain, id?.chain, chain === undefined ? undefined : chainIdOf(chain)].filter((one) => one != null),
  )
  const addresses = new Set([registry?.address, id?.address].filter((one) => one != null))
  const [chainId] = chains
  const [address] = addresses
  const agentId = id?.agentId ?? (id ? undefined : registry?.agentId)
  if (chains.size !== 1 || addresses.size !== 1 || chainId === 'unknown' || agentId === undefined) return undefined
  return { registry: `eip155:${chainId}:${address}`, agentId }
}

interface Parts {
  readonly chain?: string
  readonly address?: string
  readonly agentId?: string
}

/** [eip155:][chain:][erc721:]registry[:id], the chain with an id alone, or an id; undefined: nothing of it. */
function partsOf(value: unknown): Parts | undefined {
  const text = withChainId(scalarText(value)?.replace(/^did:[a-z0-9]+:/, ''))
  if (text === undefined || text === '') return undefined
  const form =
    /^(?:(?:eip155:)?(?<chain>[1-9]\d{0,18})[:/#])?(?:erc721:)?(?:(?<address>0x[0-9a-f]{40})(?:[:/#]+(?<id>\d{1,78}))?|(?:(?:agent|erc-?8004|token|id|no\.?)[\s:_-]*)?#?(?<alone>\d{1,78}))$/
  const { chain, address, id, alone } = form.exec(text)?.groups ?? {}
  const agentId = (id ?? alone)?.replace(/^0+(?=\d)/, '')
  return { ...(chain && { chain }), ...(address && { address }), ...(agentId && { agentId }) }
}

/** A text that begins with the name of a chain of the table, with its number instead: `base:17`. */
function withChainId(text: string | undefined): string | undefined {
  const { name, rest } = /^(?<name>[a-z][a-z -]*)(?<rest>[:/#].+)$/.exec(text ?? '')?.groups ?? {}
  const chain = name === undefined ? null : networkOf(name).chain
  return chain === null ? text : `${chainOf(chain).id}${rest}`
}

/** A chain's id; `unknown`: it is named, but no number and no chain of the table. */
function chainIdOf(value: unknown): string {
  const inside = membersOf(value)
  const text = scalarText(inside.get('id') ?? inside.get('chainid') ?? value)
  if (text === undefined) return 'unknown'
  const id = /^(?:eip155:)?([1-9]\d{0,18})$/.exec(text)?.[1]
  const { chain } = networkOf(text)
  return id ?? (chain === null ? 'unknown' : String(chainOf(chain).id))
}

/** Longest text of a part, in characters. */
const longest = 200

/** A text or a number in lower case; undefined: neither, or longer than any part is. */
function scalarText(value: unknown): string | undefined {
  const text = typeof value === 'number' ? String(value) : value
  return typeof text === 'string' && text.length <= longest ? text.trim().toLowerCase() : undefined
}

/** Entries are read once: one that stands next to many offers is come to with each of them. */
const read = new WeakMap<object, ReadonlyMap<string, unknown>>()

function membersOf(value: unknown): ReadonlyMap<string, unknown> {
  if (typeof value !== 'object' || value === null) return new Map()
  const members = read.get(value) ?? readMembers(value)
  read.set(value, members)
  return members
}

/** Of keys that are alike the first counts. */
function readMembers(value: object): ReadonlyMap<string, unknown> {
  const fields = Object.entries(value).reverse()
  return new Map(fields.map(([key, field]) => [key.toLowerCase().replaceAll('_', ''), field]))
}
