import { createHash, createPrivateKey, createPublicKey, sign, verify } from 'node:crypto'

// Notes by C2SP signed-note: a text, an empty line, and lines of signatures, of which readers know some keys.

/** Types of an Ed25519 key in its id and its written form: of one that signs notes, and of a witness's that cosigns. */
export const keyTypes = { note: 1, cosignature: 4 } as const
type KeyType = (typeof keyTypes)[keyof typeof keyTypes]
/** What stands before the 32 bytes of a public key in its DER form. */
const derPrefix = Buffer.from('302a300506032b6570032100', 'hex')
/** Most signatures that are looked at. */
const mostSignatures = 64

/** Signs notes with an Ed25519 key. */
export interface NoteSigner {
  /** Key as it is given to readers: name, id and the public key, as signed-note writes it. */
  readonly key: string
  /** Signs a text, which ends with a line break. */
  readonly sign: (text: string) => string
}

/**
 * A signer under a name, from a private key in PEM.
 *
 * Throws when the key is not one of Ed25519.
 */
export function noteSigner(name: string, pem: string): NoteSigner {
  const { key, id, secret } = namedSecret(name, pem, keyTypes.note)
  return {
    key,
    sign: (text) => `${text}\n${signatureLine({ name, id, signature: sign(null, Buffer.from(text), secret) })}`,
  }
}

/** A private key in PEM, and its public key as it is given to readers. Throws when it is not one of Ed25519. */
export function namedSecret(name: string, pem: string, type: KeyType) {
  const secret = createPrivateKey(pem)
  if (secret.asymmetricKeyType !== 'ed25519')
    throw new Error(`it has to be an Ed25519 key, not ${secret.asymmetricKeyType}`)
  const bytes = createPublicKey(secret).export({ type: 'spki', format: 'der' }).subarray(derPrefix.length)
  const id = keyId(name, bytes, type)
  return { key: `${name}+${id.toString('hex')}+${Buffer.of(type, ...bytes).toString('base64')}`, id, secret }
}

/** A signature of a note: its signer, and the key it was made with. */
export interface NoteSignature {
  readonly name: string
  readonly id: Buffer
  readonly signature: Buffer
}

export function signatureLine({ name, id, signature }: NoteSignature): string {
  return `— ${name} ${Buffer.concat([id, signature]).toString('base64')}\n`
}

/** Text and signatures of a note; nothing is verified. Throws when it has another form. */
export function partsOf(note: string): { readonly text: string; readonly signatures: readonly NoteSignature[] } {
  const text = textOf(note)
  if (/[^\n -\u{10ffff}]/u.test(note)) throw new Error('a note has no control characters but line breaks')
  const lines = note.slice(text.length + 1, -1).split('\n')
  if (lines.length > mostSignatures) throw new Error(`a note may have ${mostSignatures} signatures`)
  return { text, signatures: lines.map(signatureIn) }
}

/** The signature in a line. Throws when it has another form. */
export function signatureIn(line: string): NoteSignature {
  const [, name, base64 = ''] = /^— ([^\s+]+) ([A-Za-z0-9+/]+={0,2})$/u.exec(line) ?? []
  const bytes = Buffer.from(base64, 'base64')
  if (name === undefined || bytes.length < 5 || bytes.toString('base64') !== base64)
    throw new Error('a line of signatures is malformed')
  return { name, id: bytes.subarray(0, 4), signature: bytes.subarray(4) }
}

/**
 * The text of a note that is signed with a key, as `noteSigner` writes keys. Signatures of other keys are passed over.
 *
 * Throws when the note or the key has another form, or no signature with the key is good, or one is bad.
 */
export function openNote(note: string, key: string): string {
  const { name, publicKey, text, own } = signedBy(note, key)
  if (!own.every(({ signature }) => verify(null, Buffer.from(text), publicKey, signature)))
    throw new Error(`the signature of ${name} is wrong`)
  return text
}

/**
 * A note with the first signature of a key alone: anybody can put lines of others next to it, until it has more than are
 * read. Throws as `openNote` does, but verifies nothing.
 */
export function aloneSigned(note: string, key: string): string {
  const { text, own } = signedBy(note, key)
  return `${text}\n${signatureLine(own[0])}`
}

/** The signatures of a note that say they are of a key. */
function signedBy(note: string, key: string) {
  const { name, id, publicKey } = parseKey(key, keyTypes.note)
  const { text, signatures } = partsOf(note)
  const [first, ...others] = signatures.filter((one) => one.name === name && one.id.equals(id))
  if (!first) throw new Error(`${name} has not signed the note`)
  return { name, publicKey, text, own: [first, ...others] as const }
}

/** Text of a note, whoever signed it. Throws when the note has another form. */
export function textOf(note: string): string {
  const end = note.lastIndexOf('\n\n')
  if (end < 0 || !note.endsWith('\n')) throw new Error('a note has a text, an empty line and signatures')
  return note.slice(0, end + 1)
}

/** Whether two keys are the same public key, whatever their names. */
export function isSameKey(one: string, other: string): boolean {
  const publicPart = (key: string) => key.split('+').slice(2).join('+')
  return publicPart(one) === publicPart(other)
}

/** The same public key under another name. Throws when the key has another form. */
export function renamedKey(key: string, name: string): string {
  parseKey(key, keyTypes.note)
  const base64 = key.split('+').slice(2).join('+')
  const id = keyId(name, Buffer.from(base64, 'base64').subarray(1), keyTypes.note)
  return `${name}+${id.toString('hex')}+${base64}`
}

/** A public key as readers are given it. Throws when it has another form, or is of another type. */
export function parseKey(key: string, type: KeyType) {
  const [, name, hex, base64 = ''] = /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+={0,2})$/u.exec(key) ?? []
  const [of, ...bytes] = Buffer.from(base64, 'base64')
  if (name === undefined || hex === undefined || of !== type || bytes.length !== 32) {
    throw new Error(`the key is not one of Ed25519 in the form name+id+base64, of type ${type}`)
  }
  const id = keyId(name, Buffer.from(bytes), type)
  if (id.toString('hex') !== hex) throw new Error('the id of the key is not that of its name and bytes')
  const der = Buffer.from([...derPrefix, ...bytes])
  return { name, id, publicKey: createPublicKey({ key: der, format: 'der', type: 'spki' }) }
}

function keyId(name: string, publicKey: Uint8Array, type: KeyType): Buffer {
  return createHash('sha256').update(`${name}\n`).update(Uint8Array.of(type)).update(publicKey).digest().subarray(0, 4)
}
