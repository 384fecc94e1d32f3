import { sign, verify } from 'node:crypto'
import { keyTypes, type NoteSignature, namedSecret, parseKey, partsOf, signatureLine } from './note.ts'

// Signatures of witnesses by C2SP tlog-cosignature v1, Ed25519: each says that the witness found a log to go on from all
// that it has seen of it, as of a time.

/** Bytes of the time in front of an Ed25519 signature. */
const timeBytes = 8
const signatureBytes = 64

/** Cosigns checkpoints. */
export interface Cosigner {
  readonly name: string
  /** Key as it is given to readers, of type 4. */
  readonly key: string
  /** The line that goes behind the signatures of a checkpoint with this text. `at`: seconds since 1970. */
  readonly cosign: (text: string, at: number) => string
}

/** A witness under a name, from a private key in PEM. Throws when the key is not one of Ed25519. */
export function cosigner(name: string, pem: string): Cosigner {
  const { key, id, secret } = namedSecret(name, pem, keyTypes.cosignature)
  return {
    name,
    key,
    cosign(text, at) {
      const time = Buffer.alloc(timeBytes)
      time.writeBigUInt64BE(BigInt(at))
      const signature = Buffer.concat([time, sign(null, signedText(text, BigInt(at)), secret)])
      return signatureLine({ name, id, signature })
    },
  }
}

/** Whose cosignature a checkpoint has, and of when: seconds since 1970. */
interface Cosigned {
  readonly name: string
  readonly at: number
}

/**
 * The newest cosignature of a witness on a checkpoint. Undefined: it has none. Throws when the note or the key has another
 * form, or the cosignature is wrong.
 */
export function cosignedBy(note: string, key: string): Cosigned | undefined {
  const { name, id, publicKey } = parseKey(key, keyTypes.cosignature)
  const { text, signatures } = partsOf(note)
  const times = signatures
    .filter((one) => one.name === name && one.id.equals(id))
    .map(({ signature }) => {
      const at = signature.length === timeBytes + signatureBytes ? signature.readBigUInt64BE() : undefined
      if (at === undefined || !verify(null, signedText(text, at), publicKey, signature.subarray(timeBytes)))
        throw new Error(`the cosignature of ${name} is wrong`)
      return Number(at)
    })
  return times.length > 0 ? { name, at: Math.max(...times) } : undefined
}

/** Names of the cosigners of a checkpoint; `key` is its log's own. Nothing is verified. */
export function cosignersOf(note: string, key: string): string[] {
  const own = parseKey(key, keyTypes.note).name
  return [...new Set(partsOf(note).signatures.map(({ name }) => name))].filter((name) => name !== own)
}

/** A checkpoint with a witness's cosignature in place of an earlier one of the same key. */
export function withCosignature(note: string, cosignature: NoteSignature): string {
  const { text, signatures } = partsOf(note)
  const others = signatures.filter(({ name, id }) => name !== cosignature.name || !id.equals(cosignature.id))
  return `${text}\n${[...others, cosignature].map(signatureLine).join('')}`
}

const signedText = (text: string, at: bigint) => Buffer.from(`cosignature/v1\ntime ${at}\n${text}`)
