import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { logName } from './checkpoint.ts'
import { type LogMemory, logMemory } from './log-memory.ts'
import { type NoteSigner, noteSigner, openNote } from './note.ts'

/** Signs another log of the service, by its number. */
type InEpoch = (epoch: number) => NoteSigner & { readonly origin: string }

/** Signs checkpoints of a log. */
export interface LogSigner extends NoteSigner {
  readonly origin: string
  readonly inEpoch: InEpoch
  /** Keys that signed before, to say that this one follows: those that are in the file in front of it. */
  readonly former: readonly InEpoch[]
  /** Keeps the last checkpoint next to the key, where neither a failover nor a restore reaches. */
  readonly memory: LogMemory
  /** Private keys of the file, the signing one first, for signing other things than notes. None of these may be the text of a note. */
  readonly secrets: readonly KeyObject[]
}

/**
 * Signer of a service's log, whose key lies in a file: Ed25519, PKCS #8, PEM. Of several keys in it the last one signs.
 *
 * Throws when the file cannot be read or has another content.
 */
export function readLogKey(path: string, baseUrl: string): LogSigner {
  try {
    const pems = readFileSync(path, 'utf8').match(/-----BEGIN [^-]+-----[^-]+-----END [^-]+-----/g) ?? ['']
    const signers = pems.map(
      (pem): InEpoch =>
        (epoch) => {
          const origin = logName(baseUrl, epoch)
          return { origin, ...noteSigner(origin, pem) }
        },
    )
    const inEpoch = signers.pop() as InEpoch
    const secrets = pems.map((pem) => createPrivateKey(pem)).reverse()
    return { ...inEpoch(1), inEpoch, former: signers, memory: logMemory(checkpointPath(path)), secrets }
  } catch (cause) {
    throw new Error(`LOG_KEY_FILE: ${path} has no key to sign with: ${(cause as Error).message}`, { cause })
  }
}

/** The file in which the last checkpoint is kept that the keys of a file signed. */
const checkpointPath = (path: string) => `${path}.checkpoint`

/** Makes a key in a file that only its owner can read; a file that is there already is left as it is. */
export function makeLogKey(path: string): void {
  const pem = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' })
  try {
    writeFileSync(path, pem, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

// A log's key is followed by another in a note that it signs, which is an entry of the log: docs/log.md.

/** What a key signs when another one follows it. Its second line tells it from the text of a checkpoint. */
export function keyChangeText(origin: string, next: string): string {
  return `${origin}\nkey\n${next}\n`
}

/** The key that follows another, by a note. Undefined: the note is not one that `key` signed for the log. */
export function keyAfter(note: string, { origin, key }: { readonly origin: string; readonly key: string }) {
  try {
    const text = openNote(note, key)
    const [, , next = ''] = text.split('\n')
    return text === keyChangeText(origin, next) ? next : undefined
  } catch {
    return undefined // whoever may append entries to a log can write notes that mean nothing
  }
}
