import { createPublicKey, verify } from 'node:crypto'
import { ed25519 } from '@noble/curves/ed25519.js'
import { blake3 } from '@noble/hashes/blake3.js'

/** A network message's bytes with their hash, signature and signing key. */
export interface Envelope {
  readonly dataBytes: Uint8Array
  /** First 20 bytes of BLAKE3 over the data. */
  readonly hash: Uint8Array
  /** Ed25519, 64 bytes, over the hash. */
  readonly signature: Uint8Array
  /** Public key, 32 bytes. */
  readonly signer: Uint8Array
}

/** Outcome of a check. `unknown`: it could not be made, which is no evidence for or against. */
export type Outcome = 'held' | 'failed' | 'unknown'

/** Most bytes of data that the network accepts in a message, for the types read here. */
const mostDataBytes = 2_048

/**
 * Whether the signer signed these bytes. An unequal hash is `unknown`: the bytes were rebuilt from fields, and a signer
 * may have encoded the same fields otherwise. A signature that does not hold over an equal hash has `failed`.
 *
 * Source: snapchain, `src/core/validations/message.rs`.
 */
export function checkEnvelope({ dataBytes, hash, signature, signer }: Envelope): Outcome {
  if (dataBytes.length > mostDataBytes) return 'failed'
  if (!equal(messageHash(dataBytes), hash)) return 'unknown'
  return signedBy(signature, hash, signer) ? 'held' : 'failed'
}

/** Hash of a network message: the first 20 bytes of BLAKE3. */
export function messageHash(dataBytes: Uint8Array): Uint8Array {
  return blake3(dataBytes, { dkLen: 20 })
}

/**
 * Ed25519 by RFC 8032. node:crypto is fifteen times as fast as a check in JavaScript, but takes keys of small order,
 * which sign everything: those are refused beforehand.
 */
export function signedBy(signature: Uint8Array, signed: Uint8Array, key: Uint8Array): boolean {
  if (signature.length !== 64 || !isUsableKey(key)) return false
  return verify(
    null,
    signed,
    createPublicKey({ key: Buffer.concat([spkiHead, key]), format: 'der', type: 'spki' }),
    signature,
  )
}

/** DER prefix that makes 32 bytes of an Ed25519 key an SPKI public key. Source: RFC 8410. */
const spkiHead = Buffer.from('302a300506032b6570032100', 'hex')

function isUsableKey(key: Uint8Array): boolean {
  if (key.length !== 32) return false
  try {
    return !ed25519.Point.fromBytes(key).isSmallOrder()
  } catch {
    return false // no point of the curve, or not in RFC 8032's encoding
  }
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0
}
