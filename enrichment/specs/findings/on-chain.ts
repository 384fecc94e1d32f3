import { LRUCache } from 'lru-cache'
import { type Address, encodeFunctionData, type Hex, parseAbi } from 'viem'
import { type ChainName, chainOf } from '../../../config/chains.ts'
import { hour } from '../../../ops/time.ts'
import { type ChainClient, callAt } from '../../../social/chain-client.ts'
import type { Price } from '../prices.ts'
import { type Finding, finding } from './finding.ts'

/** Ways to pay of one demand or manifest that chains are asked about; answers that are kept, and for how many milliseconds. */
const mostWays = 4
const mostKept = 10_000
const keptMs = hour
/**
 * Unknown ways to pay that are looked at within that time for one agent, and on one site whoever names it, and how many of
 * both are counted: terms that are others each time pass the answers that are kept, and would take the node from everybody
 * else. A site has more, as several agents may sell there; registrations that lead to it cost nothing.
 */
const mostNew = { agent: 16, site: 64 } as const
const mostAskers = 100_000

/** A block that a chain was asked at. */
export interface AskedBlock {
  readonly chain: ChainName
  readonly number: number
  /** ISO 8601. */
  readonly time: string
}

/** What chains say of offers. */
interface Looked {
  readonly findings: readonly Finding[]
  /** One of each chain that was asked; empty: none was, or none answered. */
  readonly blocks: readonly AskedBlock[]
}

/** What an offer says of a token and who is to get it. */
export type Offered = Pick<Price, 'chain' | 'scheme' | 'asset' | 'payTo' | 'transferMethod'>

/** Whoever brought the offers of one place, by names that others do not have. */
type Asker = { readonly [kind in keyof typeof mostNew]?: string }

export type OnChain = (offers: readonly Offered[], asker: Asker) => Promise<Looked>

interface OnChainOptions {
  /** The node of a chain by its id. */
  readonly nodeOf: (chainId: number) => ChainClient | undefined
  /** Resolves when the next call may go out; throws when none may. */
  readonly slot: () => Promise<void>
  readonly now: () => Date
}

/** What one way to pay says of a token and who is to get it. */
interface Terms {
  readonly chain: ChainName
  readonly asset: Address
  readonly payTo: Address
  /** How the payer lets the token go; undefined: in a way that is not looked at. */
  readonly method: keyof typeof probes | undefined
}

const abi = parseAbi([
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'function allowance(address owner, address spender) view returns (uint256)',
  'function transfer(address to, uint256 value) returns (bool)',
])
/** Source: Uniswap permit2, the same address on every chain. */
const permit2 = '0x000000000022d473030f116ddee9f6b43ac78ba3'
const noNonce = `0x${'0'.repeat(64)}` as const
/** Somebody who has nothing: whoever moves nothing needs nothing. */
const nobody = '0x000000000000000000000000000000000000dead'
/** An address that no token knows. */
const anybody = '0x1111111111111111111111111111111111111111'

/**
 * What a token answers with one word unless it cannot be paid with in this way: EIP-3009 has a state for each authorization;
 * what Permit2 moves has allowances. Whether the payer has allowed it, and whether Permit2 is there, is not looked at.
 */
const probes = {
  eip3009: (payTo: Address) => encodeFunctionData({ abi, functionName: 'authorizationState', args: [payTo, noNonce] }),
  permit2: (payTo: Address) => encodeFunctionData({ abi, functionName: 'allowance', args: [payTo, permit2] }),
} as const

/**
 * Creates the function that asks chains about offers: whether there is a token, whether it can be paid with in the way
 * that the offer wants, and whether it lets `payTo` have it. Never throws: what is not asked is a finding that says so.
 */
export function createOnChain({ nodeOf, slot, now }: OnChainOptions): OnChain {
  const time = { ttl: keptMs, ttlResolution: 0, perf: { now: () => now().getTime() } }
  const known = new LRUCache<string, { readonly findings: readonly Finding[]; readonly block: AskedBlock }>({
    max: mostKept,
    ...time,
  })
  const looks = new LRUCache<string, number>({ max: mostAskers, ...time, noUpdateTTL: true })

  async function look(terms: Terms, asker: Asker) {
    const key = Object.values(terms).join(' ')
    const kept = known.get(key)
    if (kept) return kept
    const node = nodeOf(chainOf(terms.chain).id)
    const made = Object.entries(asker).map(([kind, name]) => {
      const by = `${kind} ${name}`
      return { by, count: looks.get(by) ?? 0, most: mostNew[kind as keyof Asker] }
    })
    if (!node?.isSet || made.some(({ count, most }) => count >= most)) return undefined
    for (const { by, count } of made) looks.set(by, count + 1)
    await slot()
    const { number, timestamp } = await node.client().getBlock({ blockTag: 'latest' })
    const findings = await findingsOf(node, terms, number, slot)
    const at = new Date(Number(timestamp) * 1_000).toISOString()
    const found = { findings, block: { chain: terms.chain, number: Number(number), time: at } }
    known.set(key, found)
    return found
  }

  return async (offers, asker) => {
    const findings: Finding[] = []
    const blocks = new Map<ChainName, AskedBlock>()
    const silent = new Set<ChainName>()
    const all = distinctTerms(offers)
    for (const terms of all.slice(0, mostWays)) {
      // One call that fails takes seconds: the others of the same chain would as well.
      const found = silent.has(terms.chain) ? undefined : await look(terms, asker).catch(() => undefined)
      if (found) {
        findings.push(...found.findings)
        if ((blocks.get(terms.chain)?.number ?? 0) <= found.block.number) blocks.set(terms.chain, found.block)
      } else if (!silent.has(terms.chain)) {
        silent.add(terms.chain)
        findings.push(finding('chain_not_checked', terms.chain))
      }
    }
    const left = all.length - mostWays
    return {
      findings: [
        ...findings,
        ...(left > 0 ? [finding('chain_not_checked', `${left} of ${all.length} ways to pay`)] : []),
      ],
      blocks: [...blocks.values()],
    }
  }
}

/** The distinct terms of offers that a chain of the table can be asked about. */
function distinctTerms(offers: readonly Offered[]): Terms[] {
  const all = offers.flatMap((offer) => termsOf(offer) ?? [])
  return [...new Map(all.map((terms) => [Object.values(terms).join(' '), terms])).values()]
}

function termsOf({ chain, scheme, asset, payTo, transferMethod }: Offered): Terms | undefined {
  if (chain === null || asset === null || payTo === null || !isAddress(asset) || !isAddress(payTo)) return undefined
  const method = scheme === 'upto' ? 'permit2' : (transferMethod ?? 'eip3009')
  const isKnown = (scheme === 'exact' || scheme === 'upto') && (method === 'eip3009' || method === 'permit2')
  return { chain, asset: asset as Address, payTo: payTo as Address, method: isKnown ? method : undefined }
}

const isAddress = (text: string) => /^0x[0-9a-f]{40}$/.test(text)

/** Throws when the node does not answer. */
async function findingsOf(node: ChainClient, terms: Terms, block: bigint, slot: () => Promise<void>) {
  const { asset, payTo, method } = terms
  const codeAt = async (address: Address) => {
    await slot()
    return await node.client().getCode({ address, blockNumber: block })
  }
  const answerOf = async (data: Hex) => {
    await slot()
    return await callAt(node, block, { from: nobody, to: asset, data })
  }
  if (!(await codeAt(asset))) return [finding('asset_without_code', asset)]
  const answer = method && (await answerOf(probes[method](payTo)))
  const refused =
    method && !/^0x[0-9a-f]{64}$/i.test(answer ?? '') ? [finding('asset_method', `${asset} ${method}`)] : []
  // The zero address and tokens as payees have findings of their own.
  if (/^0x0{40}$/.test(payTo) || payTo === asset) return refused
  const moveTo = (to: Address) => answerOf(encodeFunctionData({ abi, functionName: 'transfer', args: [to, 0n] }))
  const moved = refused.length > 0 ? undefined : await moveTo(payTo)
  // Some tokens revert on an amount of zero, whoever is to get it: that says nothing of `payTo`.
  const isSaid = refused.length > 0 || moved !== undefined || (await moveTo(anybody)) !== undefined
  const isMoved = !isSaid || (moved !== undefined && !/^0x0{64}$/.test(moved))
  return [
    ...(refused.length > 0 || isMoved ? refused : [finding('pay_to_refused', payTo)]),
    ...(isStuck(await codeAt(payTo)) ? [finding('pay_to_stuck', payTo)] : []),
  ]
}

/** Operations by which a contract reaches another, and asks for a signature of its own: CALL, CALLCODE, DELEGATECALL, STATICCALL. */
const calls = ['f1', 'f2', 'f4', 'fa']
/** Begins the code of an account that a contract acts for, which its key still commands. Source: EIP-7702. */
const delegated = '0xef0100'

/**
 * Whether what a contract gets stays there for ever: nowhere in its code is an operation that calls a token. Such a byte
 * may stand there for something else, so that a contract of which this is false can be one that keeps everything.
 */
function isStuck(code: Hex | undefined): boolean {
  if (!code || code === '0x' || code.startsWith(delegated)) return false
  const bytes = code.slice(2).match(/../g) ?? []
  return !bytes.some((byte) => calls.includes(byte.toLowerCase()))
}
