import { storableText } from '../../db/text.ts'
import { DoorError } from '../../net/errors.ts'
import { parseJson } from '../../net/json.ts'

/** What is kept of a document; texts are clean and bounded. */
export interface SpecContent {
  readonly title: string | null
  readonly version: string | null
  readonly skills: readonly string[]
  readonly tools: readonly string[]
  /** Paths of an API; resources for sale of an x402 manifest. Null: the document has no such thing. */
  readonly pathCount: number | null
  /** The revision of the protocol that an MCP server speaks, and SHA-256 of the definition of each of its tools. */
  readonly protocolVersion?: string | null
  readonly toolHashes?: readonly string[]
}

/** A body as JSON; undefined: it is none. */
export function parsed(bytes: Buffer): unknown {
  try {
    return parseJson(bytes)
  } catch (error) {
    if (error instanceof DoorError) return undefined
    throw error
  }
}

/** Code points of a text, entries of a list. */
const longestText = 200
export const mostNames = 50

export function shortText(value: unknown): string | null {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' ? storableText(value.trim(), longestText) || null : null
}

/** Names of skills or tools, which stand there as texts or as objects with a name or an id. */
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
