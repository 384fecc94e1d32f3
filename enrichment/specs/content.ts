import { Lexer, parse as parseYaml } from 'yaml'
import { trimmedText } from '../../db/text.ts'
import { DoorError } from '../../net/errors.ts'
import { maxJsonDepth, parseJson } from '../../net/json.ts'

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
  /** Skills that have an id or tags besides their names. */
  readonly skills?: readonly {
    readonly name: string
    readonly id: string | null
    readonly tags: readonly string[]
  }[]
  readonly security?: readonly { readonly name: string; readonly type: string | null }[]
  /** Address of the catalog that names it; undefined: it is looked for at its own place. */
  readonly catalog?: string
  /** Entries of the lists that have more than are kept, by name of the list: at least so many. */
  readonly truncated?: Readonly<Record<string, number>>
}

/** A body parsed as JSON, or of an API's description as YAML; undefined: neither. */
export function parsed(bytes: Buffer): unknown {
  try {
    return parseJson(bytes)
  } catch (error) {
    if (error instanceof DoorError) return fromYaml(bytes)
    throw error
  }
}

/**
 * Most bytes of YAML that are read, and most tokens and aliases in it: the parser blocks the process while it works, about
 * ten times as long as for JSON, and each alias costs it a walk over the whole document.
 */
const longestYaml = 128 * 1024
const mostTokens = 50_000
const mostAliases = 200

/** Most values in it, and levels of them, aliases written out: of empty values the parser's own bound lets any number through. */
const mostNodes = 100_000

/** Throws RangeError. Returns how many of `left` values are left. */
function checkSize(value: unknown, left: number, depth = 0): number {
  if (left <= 0 || depth > maxJsonDepth) throw new RangeError('too many values')
  if (typeof value !== 'object' || value === null) return left - 1
  return Object.values(value).reduce((sum: number, one) => checkSize(one, sum, depth + 1), left - 1)
}

/** Throws RangeError. */
function checkTokens(text: string): void {
  let tokens = 0
  let aliases = 0
  for (const token of new Lexer().lex(text)) {
    if (/^[&*]/.test(token)) aliases++
    if (++tokens > mostTokens || aliases > mostAliases) throw new RangeError('too many tokens')
  }
}

/** Names of keys are not compared, which takes a time quadratic in their number: the last of the same name counts, as in JSON. */
const yamlOptions = {
  maxAliasCount: 20,
  logLevel: 'error',
  schema: 'core',
  uniqueKeys: false,
  prettyErrors: false,
} as const

/** Through JSON, so that what holds for JSON holds for it: depth, finite numbers, texts as keys. */
function fromYaml(bytes: Buffer): unknown {
  if (bytes.length > longestYaml) return undefined
  const text = bytes.toString('utf8')
  if (!/^["']?(openapi|swagger)["']?[ \t]*:/m.test(text)) return undefined
  try {
    checkTokens(text)
    const value: unknown = parseYaml(text, yamlOptions)
    checkSize(value, mostNodes)
    return parseJson(Buffer.from(JSON.stringify(value)))
  } catch {
    return undefined // whatever the parser throws: the text is a stranger's
  }
}

/** Most code points of a text. */
const longestText = 200

export function shortText(value: unknown, codePoints = longestText): string | null {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' ? trimmedText(value, codePoints) : null
}
