import { DoorError } from './errors.ts'

/** Deepest nesting of objects and arrays accepted, in levels. */
export const maxJsonDepth = 32

/**
 * Parses a body as JSON, whatever its content type says: agents send cards as text/plain, and single-page sites send
 * HTML as application/json. Throws DoorError `not_json` for anything but one JSON text in UTF-8 (a byte order mark is
 * passed over) of at most `maxJsonDepth` levels, and for a number beyond the range of a double, which JSON.parse would
 * turn into Infinity and nothing downstream could store.
 *
 * It does not check integers for exactness, nor keep the first of two equal keys: the last one wins.
 */
export function parseJson(body: Uint8Array): unknown {
  if (depthOf(body) > maxJsonDepth) throw notJson(`nested deeper than ${maxJsonDepth} levels`)
  const value = parse(body)
  if (!hasFiniteNumbers(value)) throw notJson('a number beyond the range of a double')
  return value
}

function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch (cause) {
    throw notJson((cause as Error).message, cause)
  }
}

const quote = 0x22
const backslash = 0x5c
const opening = new Set([0x5b, 0x7b])
const closing = new Set([0x5d, 0x7d])

/** Nesting depth, counted on bytes before anything is parsed: exact for JSON, an upper bound for other bytes. */
function depthOf(body: Uint8Array): number {
  let depth = 0
  let deepest = 0
  let inString = false
  for (let index = 0; index < body.length; index++) {
    const byte = body[index]!
    if (inString) {
      if (byte === backslash) index++
      else if (byte === quote) inString = false
    } else if (byte === quote) inString = true
    else if (opening.has(byte)) deepest = Math.max(deepest, ++depth)
    else if (closing.has(byte)) depth--
  }
  return deepest
}

/** Recursion is safe here: the depth is known to be small. */
function hasFiniteNumbers(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object' || value === null) return true
  return Object.values(value).every(hasFiniteNumbers)
}

function notJson(problem: string, cause?: unknown): DoorError {
  return new DoorError('not_json', `the body is not JSON: ${problem}`, { cause })
}
