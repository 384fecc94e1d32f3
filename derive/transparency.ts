import type pg from 'pg'
import type { LaterKey } from '../db/queries/due/queue.ts'
import {
  beginEpoch,
  currentEpoch,
  type Epoch,
  lastFirstEntry,
  lockLog,
  notesBefore,
  subjectIn,
} from '../db/queries/transparency/epoch.ts'
import { factsToLog, type LoggedFact } from '../db/queries/transparency/facts.ts'
import {
  appendEntries,
  countEntries,
  lastCheckpoint,
  storeCheckpoint,
  storeTiles,
  tileReader,
} from '../db/queries/transparency/tree.ts'
import { takeOtherFacts } from '../db/queries/transparency/waiting.ts'
import { minute } from '../ops/time.ts'
import { type Checkpoint, checkpointText, epochOf, parseCheckpoint } from '../transparency/checkpoint.ts'
import { earlierLogs, endedLog } from '../transparency/earlier-logs.ts'
import { leafHash } from '../transparency/hashes.ts'
import { keyChangeText, type LogSigner } from '../transparency/log-key.ts'
import type { LogMemory } from '../transparency/log-memory.ts'
import { isSameKey, textOf } from '../transparency/note.ts'
import { appendToTiles, type ReadTile } from '../transparency/tiles.ts'
import { rootOf } from '../transparency/tree.ts'
import { canonicalJson } from '../trust/canonical-json.ts'
import { claimEntry } from '../trust/claim-event.ts'
import type { DeriveContext } from './derivation.ts'

/** Milliseconds from one comparison of the log with what was signed last to the next, while nothing is appended. */
const comparedEveryMs = minute
/** Most facts that are appended along with a batch, on either side of changes in the order of keys. */
const mostOthers = 500
/** Key that is no fact's: it has the log compared with what was signed last, and signed. */
export const comparison = 'comparison'

/**
 * Appends facts to the transparency log that it does not have yet, and signs the tree that it has then. Facts that are
 * known are passed over.
 *
 * Where the tree does not begin with the one that was signed last, another log begins: entries were lost, or that tree never
 * became visible, which cannot be told apart.
 */
export async function logFacts(
  db: pg.PoolClient,
  keys: readonly string[],
  { log, now }: DeriveContext,
): Promise<LaterKey[] | undefined> {
  await lockLog(db) // whoever restores a database begins another log
  const readTile = tileReader(db)
  const known = await currentEpoch(db)
  const all = await countEntries(db)
  const last = log?.memory.read()
  const isWhole = !last || (await beginsWith(last, { ...known, size: all - known.first, readTile }))
  const epoch = isWhole ? known : { epoch: Math.max(known.epoch, epochOf(last.origin)) + 1, first: all }
  const coming: Entry[] = []
  if (!isWhole) await beginEpoch(db, { ...epoch, note: last.note })
  // A log that a restore began is still without its first entry.
  if (all === epoch.first && epoch.epoch > 1)
    coming.push({ subject: 'log', entry: await firstEntry(db, { ...epoch, memory: log?.memory, at: now() }) })
  if (isWhole) {
    // A single key: nothing else waits, or it is derived alone because its batch failed.
    const others = keys.length > 1 ? await takeOtherFacts(db, keys, { now: now(), limit: mostOthers }) : []
    for (const fact of await factsToLog(db, [...keys, ...others], epoch.epoch))
      coming.push({ subject: fact.subject, entry: entryOf(fact) })
  } // else facts among the keys are marked again with all the others, so that none comes before earlier ones of its account
  const before = all - epoch.first
  const signedBy = (await lastCheckpoint(db))?.key ?? last?.key
  const change = log && signedBy && keyChange(log, signedBy, { epoch: epoch.epoch, at: now() })
  if (change) coming.push({ subject: `key:${before + coming.length}`, entry: change })
  if (coming.length > 0) {
    await appendEntries(
      db,
      all,
      coming.map(({ subject, entry }) => ({ subject: subjectIn(epoch.epoch, subject), entry })),
    )
    const leaves = coming.map(({ entry }) => leafHash(entry))
    await storeTiles(db, await appendToTiles(before, leaves, readTile))
  }
  if (log) {
    await sign(db, { size: before + coming.length, log: log.inEpoch(epoch.epoch), readTile })
    await rememberLog(db, log.memory)
  }
  if (!keys.includes(comparison)) return undefined
  return [{ key: comparison, dueAt: new Date(now().getTime() + comparedEveryMs) }] // also without a log key here: the job has one
}

/**
 * Keeps what was signed outside of the database, in the transaction: anybody may be shown it as soon as that ends, even if
 * this process does not live to see it. Skipped if nothing was ever kept and the folder cannot be written.
 *
 * Throws when it cannot be kept any more, so that nothing is shown.
 */
async function rememberLog(db: pg.PoolClient, memory: LogMemory): Promise<void> {
  const signed = await lastCheckpoint(db)
  const kept = memory.read()
  if (!signed || (!kept && !memory.isWritable())) return
  if (kept?.note !== signed.note) memory.write(signed)
}

interface Entry {
  readonly subject: string
  readonly entry: Buffer
}

/** Whether a tree begins with one that was signed. An earlier log was followed by this one already. */
async function beginsWith(
  { origin, size, root }: Checkpoint,
  tree: { readonly epoch: number; readonly size: number; readonly readTile: ReadTile },
): Promise<boolean> {
  if (tree.epoch !== epochOf(origin)) return tree.epoch > epochOf(origin)
  return size <= tree.size && (await rootOf(size, tree.readTile)).equals(root)
}

/**
 * First entry of a log: the last tree of each log before it that was signed, by what the database has and by what is kept
 * outside of it, as a restored database may be older than several logs.
 */
async function firstEntry(
  db: pg.PoolClient,
  { epoch, memory, at }: Pick<Epoch, 'epoch'> & { readonly memory: LogMemory | undefined; readonly at: Date },
): Promise<Buffer> {
  const last = memory?.read()
  const notes = await notesBefore(db, epoch)
  const ended = last && epochOf(last.origin) < epoch ? last : parseCheckpoint(textOf(notes.at(-1) as string))
  const entry = await lastFirstEntry(db)
  const kept = memory?.ended().map(({ note }) => note) ?? []
  const earlier = earlierLogs(entry && JSON.parse(String(entry)), [...notes, ...kept], ended.origin)
  return Buffer.from(canonicalJson({ type: 'log', epoch, at: at.toISOString(), before: endedLog(ended), earlier }))
}

/**
 * Entry in which the key that signed before names the one that signs now. Undefined: the key is
 * the same, or the former one is no longer in the file.
 */
function keyChange(
  { former, inEpoch }: LogSigner,
  signedBy: string,
  { epoch, at }: { readonly epoch: number; readonly at: Date },
): Buffer | undefined {
  const { origin, key } = inEpoch(epoch)
  const before = former.map((signer) => signer(epoch)).find((signer) => isSameKey(signer.key, signedBy))
  if (!before || isSameKey(key, signedBy)) return undefined
  const note = before.sign(keyChangeText(origin, key))
  return Buffer.from(canonicalJson({ type: 'key', at: at.toISOString(), key, note }))
}

interface Tree {
  readonly size: number
  readonly log: Pick<LogSigner, 'origin' | 'key' | 'sign'>
  readonly readTile: ReadTile
}

/** Signs a tree, unless it is signed with the same key already. */
async function sign(db: pg.PoolClient, { size, log, readTile }: Tree): Promise<void> {
  const { origin, key } = log
  const last = await lastCheckpoint(db)
  if (last?.size === size && last.key === key) return
  const note = log.sign(checkpointText({ origin, size, root: await rootOf(size, readTile) }))
  await storeCheckpoint(db, { size, note, key })
}

/** Entry of a fact: canonical JSON. */
function entryOf({ claim, said }: LoggedFact): Buffer {
  return claim ? claimEntry(claim, claim.proof) : Buffer.from(canonicalJson(said))
}
