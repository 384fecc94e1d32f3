import { open, rename, writeFile } from 'node:fs/promises'

/** State of a mirror, kept in its file between runs. */
export interface Mirrored {
  /** Cursor in the log at which to go on; empty: from the beginning. */
  place: string
  /** Profiles by FID, each as JSON in one line, from `profileText`. */
  agents: Map<number, string>
}

/**
 * The profile in a line of the log, in one line: as it is written there, because parsing changes numbers above 2^53.
 * Other line ends are made spaces or, inside strings (U+2028 and U+2029), escaped. Throws when the line has no profile.
 */
export function profileText(line: string): string {
  let depth = 0
  let start: number | undefined
  for (const { 0: token, index } of line.matchAll(/"(?:[^"\\]|\\.)*"(?:\s*:)?|[{}[\]]/g)) {
    if (token === '{' || token === '[') depth++
    else if (token === '}' || token === ']') depth--
    else if (depth === 1 && /^"profile"\s*:$/.test(token)) start = index + token.length
    if (start === undefined || depth !== 1 || token !== '}') continue
    const text = line.slice(start, index + 1).trim()
    return text
      .replace(/[\r\n]/g, ' ')
      .replaceAll('\u2028', '\\u2028')
      .replaceAll('\u2029', '\\u2029')
  }
  throw new Error('a line of the log has no profile')
}

/** Characters of a piece of the file: a quarter of a million profiles do not fit into one JavaScript string. */
const pieceLength = 1_000_000
const end = '}}'

/** Replaces a mirror's file atomically. It is JSON, with a line for each agent. */
export async function writeMirrorFile(path: string, mirrored: Mirrored): Promise<void> {
  await writeFile(`${path}.new`, piecesOf(mirrored), { flush: true })
  await rename(`${path}.new`, path)
}

function* piecesOf({ place, agents }: Mirrored): Generator<string> {
  let piece = `{"place":${JSON.stringify(place)},"agents":{`
  let separator = '\n'
  for (const [fid, profile] of agents) {
    piece += `${separator}"${fid}":${profile}`
    separator = ',\n'
    if (piece.length < pieceLength) continue
    yield piece
    piece = ''
  }
  yield `${piece}\n${end}\n`
}

/** Reads a mirror's file. Undefined: there is no such file. Throws when it is no whole file of a mirror. */
export async function readMirrorFile(path: string): Promise<Mirrored | undefined> {
  const file = await open(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
  if (!file) return undefined
  const agents = new Map<number, string>()
  let place: string | undefined
  let last = ''
  for await (const line of file.readLines()) {
    last = line
    const [, fid, profile] = /^"([0-9]+)":(.*?),?$/.exec(line) ?? []
    if (fid !== undefined && profile !== undefined) agents.set(Number(fid), profile)
    else place ??= placeOf(line)
  }
  if (place === undefined || last !== end)
    throw new Error(`${path} is not the file of a mirror; without it a new one is begun`)
  return { place, agents }
}

/** Place in the first line of a mirror's file; undefined: the line is no such first line. */
function placeOf(line: string): string | undefined {
  const [, place] = /^\{"place":("[^"]*"),"agents":\{$/.exec(line) ?? []
  return place === undefined ? undefined : JSON.parse(place)
}
