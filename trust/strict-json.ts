/** Most levels of objects and arrays inside each other. */
const maxDepth = 8
/** Names that JavaScript gives a meaning on every object, such as `__proto__`. */
const reservedNames = new Set(['__proto__', 'constructor', 'prototype'])

/** Why a text is refused; the message completes a sentence about it, such as `must be UTF-8`. */
export class JsonProblem extends Error {
  override readonly name = 'JsonProblem'
}

/**
 * One JSON text in UTF-8 that means the same to every reader: no name twice in one object (readers differ in which one
 * counts, and what was judged must be what was signed), no reserved names, at most `maxDepth` levels. Throws
 * JsonProblem. Runs in linear time, as texts are parsed before any limit on claims.
 */
export function parseStrictJson(bytes: Uint8Array): unknown {
  const text = decode(bytes)
  const value = parse(text)
  checkStructure(text)
  return value
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new JsonProblem('must be UTF-8')
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new JsonProblem('must be JSON')
  }
}

/** Checks names and depth of a text that is known to be JSON: strings and brackets are closed, names precede colons. */
function checkStructure(text: string): void {
  const open: Set<string>[] = []
  let lastString = ''
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '"') {
      const end = endOfString(text, at)
      lastString = text.slice(at, end)
      at = end - 1
    } else if (character === '{' || character === '[') {
      if (open.push(new Set()) > maxDepth) throw new JsonProblem(`must be nested at most ${maxDepth} levels deep`)
    } else if (character === '}' || character === ']') {
      open.pop()
    } else if (character === ':') {
      addName(open.at(-1), JSON.parse(lastString))
    }
  }
}

/** Index behind the closing quote of the string that begins at `start`. */
function endOfString(text: string, start: number): number {
  let at = start + 1
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at + 1
}

function addName(names: Set<string> | undefined, name: string): void {
  if (reservedNames.has(name)) throw new JsonProblem(`must not have a field ${name}`)
  if (names?.has(name)) throw new JsonProblem(`must have each field once, not ${JSON.stringify(name)} twice`)
  names?.add(name)
}

/**
 * A value of a stranger's JSON as text: a text as it is, anything else as JSON. Never throws, where `String` does: for
 * `{"toString":1}`. Of undefined the text is empty.
 */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}
