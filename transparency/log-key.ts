import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { logName } from './checkpoint.ts'
import { type LogMemory, logMemory } from './log-memory.ts'
import { type NoteSigner, noteSigner } from './note.ts'

/** Signs checkpoints of a log. */
export interface LogSigner extends NoteSigner {
  readonly origin: string
  /** Signs another log of the service, by its number. */
  readonly inEpoch: (epoch: number) => NoteSigner & { readonly origin: string }
  /** Keeps the last checkpoint beside the key, where neither a failover nor a restore reaches. */
  readonly memory: LogMemory
  /** The key itself, for who signs something else with it: no text of a note may be among that. */
  readonly secret: KeyObject
}

/**
 * Signer of a service's log, whose key lies in a file: Ed25519, PKCS #8, PEM.
 *
 * Throws when the file cannot be read or has another content.
 */
export function readLogKey(path: string, baseUrl: string): LogSigner {
  try {
    const pem = readFileSync(path, 'utf8')
    const inEpoch = (epoch: number) => {
      const origin = logName(baseUrl, epoch)
      return { origin, ...noteSigner(origin, pem) }
    }
    return { ...inEpoch(1), inEpoch, memory: logMemory(`${path}.checkpoint`), secret: createPrivateKey(pem) }
  } catch (cause) {
    throw new Error(`LOG_KEY_FILE: ${path} has no key to sign with: ${(cause as Error).message}`, { cause })
  }
}

/** Makes a key in a file that only its owner can read; a file that is there already is left as it is. */
export function makeLogKey(path: string): void {
  const pem = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' })
  try {
    writeFileSync(path, pem, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}
