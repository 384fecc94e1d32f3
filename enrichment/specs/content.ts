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

/** Most code points of a text; `mostNames`: most entries of a list. */
const longestText = 200
export const mostNames = 50

export function shortText(value: unknown): string | null {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' ? storableText(value.trim(), longestText) || null : null
}

/** Names in a list of skills or tools, whose entries are texts or objects with a name or an id. */
export function namesOf(list: readonly unknown[]): string[] {
  const names = list.slice(0, mostNames).map((entry) => {
    const { name, id } = (typeof entry === 'object' && entry !== null ? entry : { name: entry }) as Named
    return shortText(name) ?? shortText(id)
  })
  return [...new Set(names.filter((name) => name !== null))]
}

interface Named {
  readonly name?: unknown
  readonly id?: unknown
}
