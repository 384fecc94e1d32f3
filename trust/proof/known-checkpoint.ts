import { type Checkpoint, isLaterLog, parseCheckpoint } from '../../transparency/checkpoint.ts'
import { cosignedBy } from '../../transparency/cosignature.ts'
import { filesOf } from '../../transparency/follow.ts'
import { NoLogFile, type ReadLogFile, tilesOf } from '../../transparency/log-files.ts'
import { openNote } from '../../transparency/note.ts'
import { isConsistent } from '../../transparency/proofs.ts'
import { consistencyProof } from '../../transparency/tree.ts'
import { type Askable, fetchedBytes, NotFound } from './ask.ts'
import { type CheckLine, line } from './line.ts'
import type { ClaimLog, ClaimProof } from './proof.ts'

/**
 * Checks the log of a proof against what the reader knows of it: a checkpoint that was shown before, or to somebody else, and
 * witnesses. Without either there is nothing to check.
 */
export async function checkKnown(proof: ClaimProof, askable: Askable): Promise<CheckLine[]> {
  const { log } = proof
  const { checkpoint: known, witnesses = [], logKey } = askable
  if (!log) {
    const isWanted = known !== undefined || witnesses.length > 0
    return isWanted
      ? [{ name: 'the claim is in the log that you know', outcome: 'failed', detail: 'the proof shows none' }]
      : []
  }
  const cosigned = witnesses.map((key) => cosignedLine(log, key))
  if (known === undefined) return Promise.all(cosigned)
  const signed = await line('the checkpoint you know is signed with the log’s key', () => {
    return parseCheckpoint(openNote(known, logKey ?? log.key)).size >= 0
  })
  const isOne = signed.outcome === 'held' ? [oneHistory(log, known, askable)] : []
  return [signed, ...(await Promise.all([...isOne, ...cosigned]))]
}

const oneHistoryName = 'the log and the checkpoint you know are of one history'

/** Compares the tree of a proof with that of a checkpoint: the longer one has to begin with the other. */
async function oneHistory(log: ClaimLog, known: string, { logKey, logUrl }: Askable): Promise<CheckLine> {
  const name = oneHistoryName
  let trees: [Checkpoint, Checkpoint]
  try {
    const of = (note: string) => parseCheckpoint(openNote(note, logKey ?? log.key))
    trees = [of(known), of(log.checkpoint)]
  } catch (error) {
    return { name, outcome: 'failed', detail: (error as Error).message }
  }
  const [one, other] = trees
  if (isLaterLog(other.origin, one.origin)) {
    return { name, outcome: 'unknown', detail: `another log began, ${other.origin}: npm run mirror follows it` }
  }
  if (one.origin !== other.origin) {
    return { name, outcome: 'failed', detail: `one is of ${one.origin}, the other of ${other.origin}` }
  }
  const [before, after] = one.size <= other.size ? [one, other] : [other, one]
  if (before.size === after.size) return line(name, () => isConsistent(before, after, []))
  if (logUrl === undefined) return { name, outcome: 'unknown', detail: 'name the log with --log URL' }
  try {
    const readTile = tilesOf(after.size, filesOf(after, filesAt(logUrl)))
    const hashes = await consistencyProof(before.size, after.size, readTile)
    if (isConsistent(before, after, hashes)) return { name, outcome: 'held' }
    const detail = `the tree of ${after.size} entries does not begin with that of ${before.size}`
    return { name, outcome: 'failed', detail }
  } catch (error) {
    const { message } = error as Error
    return { name, outcome: error instanceof NoLogFile ? 'failed' : 'unanswered', detail: message }
  }
}

/** Files of the log at an address. */
function filesAt(url: string): ReadLogFile {
  const base = url.replace(/\/+$/, '')
  return async (path) => {
    try {
      return await fetchedBytes(`${base}/${path}`)
    } catch (error) {
      // A tree that was signed has its tiles for ever.
      throw error instanceof NotFound ? new NoLogFile(`the log has no ${path} for what it signed`) : error
    }
  }
}

/** Whether a witness that the reader trusts has cosigned the checkpoint of a proof. */
async function cosignedLine({ checkpoint }: ClaimLog, key: string): Promise<CheckLine> {
  const name = `the log is cosigned by ${key.split('+')[0]}`
  try {
    const cosigned = cosignedBy(checkpoint, key)
    if (!cosigned) return { name, outcome: 'unknown', detail: 'the checkpoint has no signature of it' }
    return { name, outcome: 'held', detail: `at ${new Date(cosigned.at * 1_000).toISOString()}` }
  } catch (error) {
    return { name, outcome: 'failed', detail: (error as Error).message }
  }
}
