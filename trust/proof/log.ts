import { type Checkpoint, epochOf, logName, parseCheckpoint } from '../../transparency/checkpoint.ts'
import { cosignersOf } from '../../transparency/cosignature.ts'
import { leafHash } from '../../transparency/hashes.ts'
import { openNote } from '../../transparency/note.ts'
import { isIncluded } from '../../transparency/proofs.ts'
import { claimEntry, type SealedClaimEvent } from '../claim-event.ts'
import { type CheckLine, line } from './line.ts'
import type { ClaimLog, ClaimProof } from './proof.ts'
import { statementDigest } from './statements.ts'

/** Events of a claim whose entries in the log a proof shows: the first, and the last if that is another. */
export function loggedEvents(
  { method, nonce }: Pick<ClaimProof, 'method' | 'nonce'>,
  history: readonly SealedClaimEvent[],
): SealedClaimEvent[] {
  const own = history.filter((event) => event.method === method && event.nonce === nonce)
  return own.filter((_, place) => place === 0 || place === own.length - 1)
}

/**
 * Checks that the log has the claim: entries made from the events, their inclusion proofs, and the signed tree.
 *
 * `key`: the log's key as the reader knows it; undefined: the one that the proof names, which anybody could have made.
 * Without a log in the proof there is nothing to check, unless a key was named.
 */
export function checkLog(proof: ClaimProof, key?: string): Promise<CheckLine>[] {
  const { log } = proof
  if (!log) {
    return key === undefined ? [] : [line('the claim is in the log', () => refuse('the proof shows no log'))]
  }
  const checkpoint = () => parseCheckpoint(openNote(log.checkpoint, key ?? log.key))
  const events = loggedEvents(proof, proof.history)
  return [
    key === undefined ? unknown('the log’s key is the one you know', 'name it with --log-key') : keyLine(log, key),
    signedLine(log, () => checkpoint().size >= 0),
    line('the log is the service’s', () => isOf(proof, checkpoint())),
    line('the log’s entries are of the claim', () => isOfEvents(log, events)),
    ...events.map((event) => {
      const name = `the log has event ${event.seq}`
      const entry = log.entries.find(({ seq }) => seq === event.seq)
      if (!entry) return unknown(name, 'the signed tree did not have it yet')
      return line(name, () => {
        const leaf = leafHash(claimEntry(event, statementDigest(proof, proof.statement)))
        return isIncluded(
          { index: entry.index, leaf },
          checkpoint(),
          entry.hashes.map((hash) => Buffer.from(hash, 'hex')),
        )
      })
    }),
  ]
}

/** Whether a log is the service's: the first one, or one that followed because entries were lost. */
const isOf = ({ base_url }: ClaimProof, { origin }: Checkpoint) => origin === logName(base_url, epochOf(origin))

/** Names those who have cosigned, too: their signatures are checked by who knows their keys. */
async function signedLine({ checkpoint, key }: ClaimLog, holds: () => boolean): Promise<CheckLine> {
  const signed = await line('the log is signed with its key', holds)
  const others = signed.outcome === 'held' ? cosignersOf(checkpoint, key) : []
  return others.length > 0 ? { ...signed, detail: `and, by its word, by ${others.join(', ')}` } : signed
}

const keyLine = (log: ClaimLog, key: string) => line('the log’s key is the one you know', () => log.key === key)

async function unknown(name: string, detail: string): Promise<CheckLine> {
  return { name, outcome: 'unknown', detail }
}

function refuse(problem: string): never {
  throw new Error(problem)
}

function isOfEvents({ entries }: ClaimLog, events: readonly SealedClaimEvent[]): boolean {
  const isOnce = new Set(entries.map(({ seq }) => seq)).size === entries.length
  return isOnce && entries.every(({ seq }) => events.some((event) => event.seq === seq))
}
