import { Lexer, parse as parseYaml } from 'yaml'
import { trimmedText } from '../../db/text.ts'
import { DoorError } from '../../net/errors.ts'
import { maxJsonDepth, parseJson } from '../../net/json.ts'

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
