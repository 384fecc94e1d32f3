import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'

// Notes by C2SP signed-note: a text, an empty line, and lines of signatures, of which readers know some keys.

/** Type of an Ed25519 key in its id and its written form. */
const ed25519 = 1
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
  const secret = createPrivateKey(pem)
  if (secret.asymmetricKeyType !== 'ed25519')
    throw new Error(`it has to be an Ed25519 key, not ${secret.asymmetricKeyType}`)
  const bytes = createPublicKey(secret).export({ type: 'spki', format: 'der' }).subarray(derPrefix.length)
  const id = keyId(name, bytes)
  return {
    key: `${name}+${id.toString('hex')}+${Buffer.of(ed25519, ...bytes).toString('base64')}`,
    sign(text) {
      const signature = sign(null, Buffer.from(text), secret)
      return `${text}\n— ${name} ${Buffer.concat([id, signature]).toString('base64')}\n`
    },
  }
}

/**
 * The text of a note that is signed with a key, as `noteSigner` writes keys. Signatures of other keys are passed over.
 *
 * Throws when the note or the key has another form, or no signature with the key is good, or one is bad.
 */
export function openNote(note: string, key: string): string {
  const { name, id, publicKey: known } = parseKey(key)
  const end = note.lastIndexOf('\n\n')
  if (end < 0 || !note.endsWith('\n')) throw new Error('a note has a text, an empty line and signatures')
  const text = note.slice(0, end + 1)
  const lines = note.slice(end + 2, -1).split('\n')
  if (lines.length > mostSignatures) throw new Error(`a note may have ${mostSignatures} signatures`)
  let isSigned = false
  for (const line of lines) {
    const [, signer, base64 = ''] = /^— ([^\s+]+) ([A-Za-z0-9+/]+={0,2})$/u.exec(line) ?? []
    const bytes = Buffer.from(base64, 'base64')
    if (bytes.length < 5 || bytes.toString('base64') !== base64) throw new Error('a line of signatures is malformed')
    if (signer !== name || !bytes.subarray(0, 4).equals(id)) continue
    if (!verify(null, Buffer.from(text), known, bytes.subarray(4))) throw new Error(`the signature of ${name} is wrong`)
    isSigned = true
  }
  if (!isSigned) throw new Error(`${name} has not signed the note`)
  return text
}

/** The same public key under another name. Throws when the key has another form. */
export function renamedKey(key: string, name: string): string {
  parseKey(key)
  const base64 = key.split('+').slice(2).join('+')
  return `${name}+${keyId(name, Buffer.from(base64, 'base64').subarray(1)).toString('hex')}+${base64}`
}

function parseKey(key: string): { readonly name: string; readonly id: Buffer; readonly publicKey: KeyObject } {
  const [, name, hex, base64 = ''] = /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+={0,2})$/u.exec(key) ?? []
  const [type, ...bytes] = Buffer.from(base64, 'base64')
  if (name === undefined || hex === undefined || type !== ed25519 || bytes.length !== 32) {
    throw new Error('the key is not one of Ed25519 in the form name+id+base64')
  }
  const id = keyId(name, Buffer.from(bytes))
  if (id.toString('hex') !== hex) throw new Error('the id of the key is not that of its name and bytes')
  const der = Buffer.from([...derPrefix, ...bytes])
  return { name, id, publicKey: createPublicKey({ key: der, format: 'der', type: 'spki' }) }
}

function keyId(name: string, publicKey: Uint8Array): Buffer {
  return createHash('sha256')
    .update(`${name}\n`)
    .update(Uint8Array.of(ed25519))
    .update(publicKey)
    .digest()
    .subarray(0, 4)
}
