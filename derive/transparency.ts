import type pg from 'pg'
import { factsToLog, type LoggedFact } from '../db/queries/transparency/facts.ts'
import {
  appendEntries,
  countEntries,
  lastCheckpoint,
  storeCheckpoint,
  storeTiles,
  tileHashes,
} from '../db/queries/transparency/tree.ts'
import { checkpointText } from '../transparency/checkpoint.ts'
import { leafHash } from '../transparency/hashes.ts'
import type { LogSigner } from '../transparency/log-key.ts'
import { appendToTiles, type TilePlace } from '../transparency/tiles.ts'
import { rootOf } from '../transparency/tree.ts'
import { canonicalJson } from '../trust/canonical-json.ts'
import { claimEntry } from '../trust/log-entry.ts'
import type { DeriveContext } from './derivation.ts'

/**
 * Appends facts to the transparency log that it does not have yet, and signs the tree that it has then. Facts that are
 * known are passed over, so that a key which is no fact's has the tree signed, and no more.
 */
export async function logFacts(db: pg.PoolClient, keys: readonly string[], { log }: DeriveContext): Promise<undefined> {
  const readTile = (place: TilePlace) => tileHashes(db, place)
  const before = await countEntries(db)
  const facts = await factsToLog(db, keys)
  if (facts.length > 0) {
    const entries = facts.map((fact) => ({ subject: fact.subject, entry: entryOf(fact) }))
    const leaves = entries.map(({ entry }) => leafHash(entry))
    await appendEntries(db, before, entries)
    await storeTiles(db, await appendToTiles(before, leaves, readTile))
  }
  if (log) await sign(db, { size: before + facts.length, log, readTile })
}

interface Tree {
  readonly size: number
  readonly log: LogSigner
  readonly readTile: (place: TilePlace) => Promise<Buffer>
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
function entryOf(fact: LoggedFact): Buffer {
  if (fact.type === 'claim') return claimEntry(fact, fact.proof)
  const { type, fid, at, proof } = fact
  return Buffer.from(canonicalJson({ type, fid, at, proof }))
}
