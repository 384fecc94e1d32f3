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
 * Other line ends are made spaces or, inside strings (U+2028 and U+2029), escaped. Throws when the line has no profile, or
 * an object in it has a name twice: readers differ in which one counts, so what is kept might not be what was checked.
 */
export function profileText(line: string): string {
  const open: Set<string>[] = []
  let start: number | undefined
  let profile: string | undefined
  for (const { 0: token, index } of line.matchAll(/"(?:[^"\\]|\\.)*"(?:\s*:)?|[{}[\]]/g)) {
    if (token === '{' || token === '[') open.push(new Set())
    else if (token === '}' || token === ']') open.pop()
    else if (token.endsWith(':')) {
      const name: string = JSON.parse(token.slice(0, token.lastIndexOf('"') + 1))
      const names = open.at(-1)
      if (names?.has(name)) throw new Error(`a line of the log has the name ${JSON.stringify(name)} twice`)
      names?.add(name)
      if (open.length === 1 && name === 'profile') start = index + token.length
    }
    if (start !== undefined && open.length === 1 && token === '}') profile ??= line.slice(start, index + 1).trim()
  }
  if (profile === undefined) throw new Error('a line of the log has no profile')
  return profile
    .replace(/[\r\n]/g, ' ')
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029')
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
