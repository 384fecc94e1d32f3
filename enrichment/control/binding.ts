import { type Address, encodeFunctionData, parseAbi } from 'viem'
import { decoded, holderOf } from './accounts.ts'
import type { FinalBlock, FinalNode } from './final-node.ts'

/** What the contract that `agent-binding` names says of a registration that it holds. Source: draft ERC-8217. */
export interface BindingRead {
  /**
   * verified: the contract binds the registration to a token; unverified: it says no such thing, or nobody holds that token;
   * not_checked: no node could be asked.
   */
  readonly status: 'verified' | 'unverified' | 'not_checked'
  /** Kind of the token's contract. */
  readonly standard: (typeof standards)[number] | null
  readonly token: Address | null
  /** Decimal digits. */
  readonly tokenId: string | null
  /** Who holds the token; null: not known, or there may be several holders. */
  readonly holder: Address | null
  readonly block: FinalBlock | null
}

/** In the order of their numbers. */
const standards = ['erc721', 'erc1155', 'erc6909'] as const
const abi = parseAbi([
  'function bindingOf(uint256 agentId) view returns (uint8 standard, address tokenContract, uint256 tokenId)',
])

const nothing = { standard: null, token: null, tokenId: null, holder: null }
export const bindingNotChecked: BindingRead = { status: 'not_checked', ...nothing, block: null }

/** Asks a contract what a registration is bound to. Throws when the node does not answer. */
export async function readBinding(node: FinalNode, contract: Address, agentId: string): Promise<BindingRead> {
  const { block } = node
  const data = encodeFunctionData({ abi, functionName: 'bindingOf', args: [BigInt(agentId)] })
  const bound = decoded<readonly [number, Address, bigint]>(abi, 'bindingOf', await node.call(contract, data))
  const standard = bound && standards[bound[0]]
  if (!standard || /^0x0{40}$/.test(bound[1])) return { status: 'unverified', ...nothing, block }
  const token = bound[1].toLowerCase() as Address
  const holder = standard === 'erc721' ? await holderOf(node, token, bound[2]) : null
  const status = standard === 'erc721' && holder === null ? 'unverified' : 'verified'
  return { status, standard, token, tokenId: `${bound[2]}`, holder, block }
}
