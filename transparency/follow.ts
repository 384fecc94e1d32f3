import { type Checkpoint, epochOf, isLaterLog, parseCheckpoint } from './checkpoint.ts'
import { endedLog, endedLogsIn } from './earlier-logs.ts'
import { emptyRoot, leafHash } from './hashes.ts'
import { entriesOf, NoLogFile, type ReadLogFile, tilesOf } from './log-files.ts'
import { keyAfter } from './log-key.ts'
import { isSameKey, openNote, renamedKey } from './note.ts'
import type { TreeHead } from './proofs.ts'
import { appendToTiles, perTile, type ReadTile } from './tiles.ts'
import { rootOf } from './tree.ts'

/** A checkpoint as it was signed, with the key whose signature it is. */
export interface SignedCheckpoint {
  readonly note: string
  readonly key: string
}

/** A log contradicts what it signed before, or shows no longer what it signed. */
export class LogFork extends Error {
  override readonly name = 'LogFork'

  constructor(
    problem: string,
    readonly known: SignedCheckpoint,
    /** What it shows now; undefined: nothing that is signed. */
    readonly shown: SignedCheckpoint | undefined,
  ) {
    super(`the transparency log ${problem}`)
  }
}

/** What a log has signed since a reader looked last. */
export interface Followed {
  readonly signed: SignedCheckpoint
  /** What a reader has to be told, in words: that another log or key follows. */
  readonly changes: readonly string[]
  /** What the entries say that were appended since, in order. */
  readonly said: readonly Json[]
}

/**
 * Follows a log from a checkpoint that a reader knows to the newest. All entries between are read: with those before, they
 * have to make up the tree that is signed.
 *
 * What a cache may have kept some seconds too long, such as a shorter tree, is read again after `wait`. Throws LogFork when
 * the log does not go on from what is known. What `readFile` throws is passed on, except for NoLogFile.
 */
export async function followLog(
  known: SignedCheckpoint,
  { readFile, wait }: { readonly readFile: ReadLogFile; readonly wait: () => Promise<void> },
): Promise<Followed> {
  const before = parseCheckpoint(openNote(known.note, known.key))
  for (let isSecond = false; ; isSecond = true) {
    let shown: SignedCheckpoint | undefined
    let problem = 'shows a checkpoint that its key has not signed'
    try {
      shown = await readNewest(readFile, known)
      const now = checkpointOf(shown)
      if (now && isFurther(now, before)) return await follow({ known, before, shown, now, readFile })
      if (now) problem = backwards(before, now)
    } catch (error) {
      if (!(error instanceof NoLogFile)) throw error
      problem = error.message
    }
    if (isSecond) throw new LogFork(problem, known, shown)
    await wait()
  }
}

/** What a log signed last, and its key: the known one if that signed it. Nothing is checked. */
export async function readNewest(readFile: ReadLogFile, known?: { readonly key: string }): Promise<SignedCheckpoint> {
  const note = String(await readFile('checkpoint'))
  const isKnown = known && checkpointOf({ note, key: known.key })
  return { note, key: isKnown ? known.key : String(await readFile('key')).trim() }
}

/** What a note says. Undefined: the key has not signed it. */
export function checkpointOf({ note, key }: SignedCheckpoint): Checkpoint | undefined {
  try {
    return parseCheckpoint(openNote(note, key))
  } catch {
    return undefined
  }
}

interface Step {
  readonly known: SignedCheckpoint
  readonly before: Checkpoint
  readonly shown: SignedCheckpoint
  readonly now: Checkpoint
  readonly readFile: ReadLogFile
}

const isFurther = (now: Checkpoint, { origin, size }: Checkpoint) =>
  isLaterLog(now.origin, origin) || (now.origin === origin && now.size >= size)

const named = ({ origin, size }: Checkpoint) => `${origin} with ${size} entries`

const backwards = (before: Checkpoint, now: Checkpoint) =>
  now.origin === before.origin
    ? `went back to ${now.size} entries: it signed ${before.size} before`
    : `is ${named(now)}, and was ${named(before)} before`

async function follow({ known, before, shown, now, readFile }: Step): Promise<Followed> {
  const isAnother = now.origin !== before.origin
  const begin = isAnother ? { size: 0, root: emptyRoot() } : before
  let key = renamedKey(known.key, now.origin)
  const said: Json[] = []
  const isWhole = await grows(begin, now, filesOf(now, readFile), (entry) => {
    const one = parsed(entry)
    said.push(one)
    const note = one?.type === 'key' && typeof one.note === 'string' ? one.note : undefined
    key = (note !== undefined && keyAfter(note, { origin: now.origin, key })) || key
  })
  const refuse = (problem: string): never => {
    throw new LogFork(problem, known, shown)
  }
  if (!isWhole && isAnother) refuse(`${named(now)} does not have the entries that it signed`)
  if (!isWhole) refuse(`${named(now)} does not begin with the ${before.size} that it signed`)
  if (key !== shown.key) refuse(`is signed with ${shown.key}, which ${key} does not name`)
  if (isAnother && !commitsTo(before, said[0] ?? null)) refuse(`${named(now)} does not commit to ${named(before)}`)
  const changes = [
    ...(isAnother ? [`another log began, ${now.origin}: the service says that it lost entries of the one before`] : []),
    ...(isSameKey(shown.key, known.key) ? [] : [`its key is ${key} now, as the one before says`]),
  ]
  return { signed: shown, changes, said }
}

/** What all entries of a signed tree say, in order. Throws when they do not make up that tree. */
export async function readEntries(signed: SignedCheckpoint, readFile: ReadLogFile): Promise<Json[]> {
  const tree = parseCheckpoint(openNote(signed.note, signed.key))
  const said: Json[] = []
  const isWhole = await grows({ size: 0, root: emptyRoot() }, tree, filesOf(tree, readFile), (entry) => {
    said.push(parsed(entry))
  })
  if (!isWhole) throw new Error(`the transparency log ${named(tree)} does not have the entries that it signed`)
  return said
}

/**
 * Whether a log's first entry commits to one that was known: as far as can be told, because files of that are gone. A log
 * that says it was longer than it is known may have been.
 */
function commitsTo(before: Checkpoint, first: Json): boolean {
  const known = endedLog(before)
  const said = endedLogsIn(first).find(({ origin }) => origin === known.origin)
  if (!said) return false
  return said.size === known.size ? said.root === known.root : said.size > known.size
}

/**
 * Whether all entries behind an earlier tree, with those in it, make up a later one. `take` is called with each of them
 * before that is known.
 */
async function grows(
  before: TreeHead,
  now: TreeHead,
  readFile: ReadLogFile,
  take: (entry: Buffer) => void,
): Promise<boolean> {
  const tiles = new Map<string, Buffer>()
  const read = tilesOf(before.size, readFile)
  const readTile: ReadTile = async (place) => {
    const key = `${place.level} ${place.number}`
    const hashes = tiles.get(key) ?? (await read(place))
    tiles.set(key, hashes)
    return hashes
  }
  // These are the hashes that the earlier root is over, and no others: what is appended to them goes on from that tree.
  if (!isEqual(await rootOf(before.size, readTile), before.root)) return false
  for (let size = before.size; size < now.size; ) {
    const number = Math.floor(size / perTile)
    const coming = (await entriesOf(number, now.size, readFile)).slice(size % perTile)
    coming.forEach(take)
    const changed = await appendToTiles(size, coming.map(leafHash), readTile)
    for (const { level, number: nth, hashes } of changed) {
      tiles.set(`${level} ${nth}`, hashes)
      if (nth > 0) tiles.delete(`${level} ${nth - 1}`) // it is full, and in the level above
    }
    size += coming.length
  }
  return isEqual(await rootOf(now.size, readTile), now.root)
}

/** Files of the log that a checkpoint is of, by their paths below it: a service's later logs have their number in theirs. */
export const filesOf =
  ({ origin }: Pick<Checkpoint, 'origin'>, readFile: ReadLogFile): ReadLogFile =>
  (path) =>
    readFile(epochOf(origin) === 1 ? path : `${epochOf(origin)}/${path}`)

export type Json = Readonly<Record<string, unknown>> | null

/** What an entry says. Null: it is no object of JSON. */
function parsed(entry: Buffer): Json {
  try {
    const said = JSON.parse(String(entry))
    return typeof said === 'object' ? said : null
  } catch {
    return null
  }
}

const isEqual = (one: Uint8Array, other: Uint8Array) => Buffer.compare(one, other) === 0
