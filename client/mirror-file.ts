import { open, rename, writeFile } from 'node:fs/promises'

/** What a mirror keeps between its runs. */
export interface Mirrored {
  /** Where to go on; empty: from the beginning. */
  place: string
  /** What profileText makes of profiles, by FID. */
  agents: Map<number, string>
}

/** A profile as JSON in one line, by every notion of lines. */
export function profileText(profile: object): string {
  return JSON.stringify(profile).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')
}

/** The file is written in pieces of about so many characters: a quarter of a million profiles are no text that fits. */
const pieceLength = 1_000_000
const end = '}}'

/** Replaces a file, whole or not at all. It is JSON, with a line for each agent. */
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

/** Undefined: there is no such file. Throws when it is none of these. */
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

/** Of the first line; undefined: it is another. */
function placeOf(line: string): string | undefined {
  const [, place] = /^\{"place":("[^"]*"),"agents":\{$/.exec(line) ?? []
  return place === undefined ? undefined : JSON.parse(place)
}
