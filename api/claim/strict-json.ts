/** Objects and arrays inside each other, at most. */
const maxDepth = 8
/** Names that code could take for an object's own machinery. */
const reservedNames = new Set(['__proto__', 'constructor', 'prototype'])

/** Why a text was not taken. */
export class JsonProblem extends Error {
  override readonly name = 'JsonProblem'
}

/**
 * One JSON text in UTF-8 that means the same to every reader: no name twice in one object (readers differ in which one
 * counts, and what was judged must be what was signed), no reserved names, at most `maxDepth` levels. Throws
 * JsonProblem.
 */
export function parseStrictJson(bytes: Uint8Array): unknown {
  const text = decode(bytes)
  if (depthOf(text) > maxDepth) throw new JsonProblem(`must be nested at most ${maxDepth} levels deep`)
  const value = parse(text)
  checkNames(text)
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

/** Strings, with what they hold, and the marks that give a text its structure. */
const tokens = /"(?:[^"\\]|\\.)*"|[{}[\],:]/gs

function depthOf(text: string): number {
  let depth = 0
  let deepest = 0
  for (const [token] of text.matchAll(tokens)) {
    if (token === '{' || token === '[') deepest = Math.max(deepest, ++depth)
    if (token === '}' || token === ']') depth--
  }
  return deepest
}

/** The text is known to be JSON: a string followed by a colon is a name. */
function checkNames(text: string): void {
  const open: Set<string>[] = []
  let last = ''
  for (const [token] of text.matchAll(tokens)) {
    if (token === '{' || token === '[') open.push(new Set())
    else if (token === '}' || token === ']') open.pop()
    else if (token === ':') {
      const name = JSON.parse(last) as string
      if (reservedNames.has(name)) throw new JsonProblem(`must not have a field ${name}`)
      if (open.at(-1)?.has(name)) throw new JsonProblem(`must have each field once, not ${JSON.stringify(name)} twice`)
      open.at(-1)?.add(name)
    }
    last = token
  }
}
