import { storableText } from '../../db/text.ts'
import { DoorError } from '../../net/errors.ts'
import { parseJson } from '../../net/json.ts'

/** What is kept of a document; texts are clean and bounded. */
export interface SpecContent {
  readonly title: string | null
  readonly version: string | null
  readonly skills: readonly string[]
  readonly tools: readonly string[]
  /** Number of an API's paths, or of an x402 manifest's resources for sale; null: the document has neither. */
  readonly pathCount: number | null
  /** Protocol revision of an MCP server; `toolHashes`: SHA-256 of each tool's definition, in the order of `tools`. */
  readonly protocolVersion?: string | null
  readonly toolHashes?: readonly string[]
  readonly details: SpecDetails
}

/** What else a document says, as it is stored; a list that is absent is empty. Texts are clean and bounded. */
export interface SpecDetails {
  /** Places that take requests: how they are spoken to, and in which version of the protocol. */
  readonly interfaces?: readonly {
    readonly url: string
    readonly name: string | null
    readonly binding: string | null
    readonly version: string | null
  }[]
  /** Skills that have an id or tags beside their names. */
  readonly skills?: readonly {
    readonly name: string
    readonly id: string | null
    readonly tags: readonly string[]
  }[]
  readonly security?: readonly { readonly name: string; readonly type: string | null }[]
  /** Entries of the lists that have more than are kept, by name of the list: at least so many. */
  readonly truncated?: Readonly<Record<string, number>>
}

/** A body parsed as JSON; undefined: it is not JSON. */
export function parsed(bytes: Buffer): unknown {
  try {
    return parseJson(bytes)
  } catch (error) {
    if (error instanceof DoorError) return undefined
    throw error
  }
}

/** Most code points of a text. */
const longestText = 200

export function shortText(value: unknown, codePoints = longestText): string | null {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' ? storableText(value.trim(), codePoints) || null : null
}
