import { type Hex, keccak256 } from 'viem'
import { type ChainName, chainOf } from '../../config/chains.ts'
import { parseJson } from '../../net/json.ts'

/** A payment that a file of feedback names, as it says; addresses and hash in lowercase hex. Nobody has checked it. */
interface NamedPayment {
  readonly fromAddress: string | null
  readonly toAddress: string | null
  readonly chainId: number
  readonly txHash: string
}

/** What of a file of feedback is kept. */
interface FeedbackFile {
  /** Whether it says that it is of another client, or about another registration. */
  readonly isForeign: boolean
  readonly payment: NamedPayment | null
}

/** The feedback that a file belongs to. */
interface FiledFeedback {
  readonly chain: ChainName
  readonly agentId: string
  /** Lowercase hex. */
  readonly client: string
  /** `feedbackHash` of the event, lowercase hex. */
  readonly hash: string
}

/**
 * What the hash of a feedback is of its file:
 * content: keccak256 of its bytes, as the standard says; sdk: what agent0-sdk writes, which never fits the file that it
 * stores; none: zero, as the standard allows where the URI names the content; mismatch: of something else.
 */
type HashState = 'content' | 'sdk' | 'none' | 'mismatch'

/**
 * Reads a file of feedback. Undefined: it is no JSON object.
 *
 * Source: ERC-8004, off-chain feedback file. Older and newer files differ in much; only what is kept is looked at.
 */
export function toFeedbackFile(value: unknown, { chain, agentId, client }: FiledFeedback): FeedbackFile | undefined {
  if (!isObject(value)) return undefined
  const said = typeof value.clientAddress === 'string' ? addressIn(value.clientAddress) : null
  const isOther = said !== null && said !== client
  const about = digitsOf(value.agentId)
  const isElsewhere = (about !== null && about !== agentId) || isOfAnother(value.agentRegistry, chain)
  return { isForeign: isOther || isElsewhere, payment: toPayment(value.proofOfPayment) }
}

/** Whether `eip155:1:0x…` is the registry of another chain, or another one of this. What has no such form says nothing. */
function isOfAnother(registry: unknown, chain: ChainName): boolean {
  if (typeof registry !== 'string') return false
  const said = /^eip155:(\d+):(0x[0-9a-f]{40})$/.exec(registry.toLowerCase())
  const own = chainOf(chain)
  return said !== null && (said[1] !== String(own.id) || said[2] !== own.registry.address)
}

function toPayment(value: unknown): NamedPayment | null {
  if (!isObject(value) || typeof value.txHash !== 'string') return null
  const txHash = value.txHash.toLowerCase()
  const chainId = Number(digitsOf(value.chainId) ?? Number.NaN)
  if (!/^0x[0-9a-f]{64}$/.test(txHash) || !Number.isSafeInteger(chainId) || chainId < 1) return null
  return { fromAddress: addressOf(value.fromAddress), toAddress: addressOf(value.toAddress), chainId, txHash }
}

const addressOf = (value: unknown) => (typeof value === 'string' ? addressIn(value) : null)

/** The address in `0x…` or in `eip155:1:0x…`, lowercase; null: there is none. */
const addressIn = (text: string) => /^(?:eip155:\d+:)?(0x[0-9a-f]{40})$/.exec(text.toLowerCase())?.[1] ?? null

/** Digits of a whole number without zeros in front; null: there is none, or a double does not hold it exactly. */
function digitsOf(value: unknown): string | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? String(value) : null
  return typeof value === 'string' && /^\d+$/.test(value) ? value.replace(/^0+(?=\d)/, '') : null
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export function hashStateOf(bytes: Uint8Array, value: unknown, { hash }: FiledFeedback): HashState {
  if (/^0x0*$/.test(hash)) return 'none'
  if (keccak256(bytes) === hash) return 'content'
  return isObject(value) && isSmall(value) && sdkHash(value) === hash ? 'sdk' : 'mismatch'
}

/** Top-level names of a file that is hashed as the SDK does, and lookups of them: each name is looked up in each object. */
const mostNames = 100
const mostLookups = 100_000

function isSmall(value: Readonly<Record<string, unknown>>): boolean {
  const names = Object.keys(value).length
  return names <= mostNames && names * objectsIn(value) <= mostLookups
}

function objectsIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return Object.values(value).reduce((sum: number, one) => sum + objectsIn(one), 1)
}

/**
 * The hash that agent0-sdk 1.7 computes of a file: of one line that has the sorted top-level names only, at every depth,
 * so that most of what is nested is left out. It stores the same object indented by two.
 */
function sdkHash(value: Readonly<Record<string, unknown>>): Hex {
  return keccak256(Buffer.from(JSON.stringify(value, Object.keys(value).sort())))
}

/** The JSON value of a body; undefined: it is no JSON. */
export function jsonOf(bytes: Uint8Array): unknown {
  try {
    return parseJson(bytes)
  } catch {
    return undefined
  }
}
