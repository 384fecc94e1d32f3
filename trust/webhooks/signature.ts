import { createHmac, createPrivateKey, createPublicKey, hkdfSync, type KeyObject, sign } from 'node:crypto'

// Signatures of Standard Webhooks: `v1`, HMAC-SHA256 with a shared secret, and `v1a`, Ed25519.

const secretBytes = 32
/** What stands before the 32 bytes of an Ed25519 private key in its PKCS #8 form, of a public key in its SPKI form. */
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex')
const spkiPrefixBytes = 12

/** Hours for which messages are signed with the secret before as well, after it was replaced. */
export const overlapHours = 24

/** Which secret an endpoint has. */
export interface SecretOf {
  readonly id: string
  /** 1 at first. */
  readonly version: number
  /** When the version before was replaced; null: there was none. */
  readonly rotatedAt: Date | null
}

/** What an endpoint's messages are signed with, derived from one secret of the service: none is stored. */
interface SigningKeys {
  readonly hmacKey: Buffer
  readonly signingKey: KeyObject
}

interface WebhookKeys extends SigningKeys {
  /** For whoever checks `v1`: `whsec_` and base64. */
  readonly secret: string
  /** For whoever checks `v1a`: `whpk_` and base64. */
  readonly publicKey: string
}

/** Keys of the secret that an endpoint has, and, for `overlapHours`, of the one before. */
export function signingKeys(master: string, { id, version, rotatedAt }: SecretOf, now: Date): readonly SigningKeys[] {
  const isOverlap = rotatedAt !== null && now.getTime() - rotatedAt.getTime() < overlapHours * 3_600_000
  return (isOverlap ? [version, version - 1] : [version]).map((one) => keysOf(master, id, one))
}

export function webhookKeys(master: string, id: string, version = 1): WebhookKeys {
  const { hmacKey, signingKey } = keysOf(master, id, version)
  const publicKey = createPublicKey(signingKey).export({ format: 'der', type: 'spki' }).subarray(spkiPrefixBytes)
  return {
    secret: `whsec_${hmacKey.toString('base64')}`,
    publicKey: `whpk_${publicKey.toString('base64')}`,
    hmacKey,
    signingKey,
  }
}

function keysOf(master: string, id: string, version: number): SigningKeys {
  const whose = version === 1 ? id : `${id} ${version}`
  const derived = (use: string) =>
    Buffer.from(hkdfSync('sha256', master, '', `agent-directory webhook ${use} ${whose}`, secretBytes))
  const hmacKey = derived('v1')
  const der = Buffer.concat([pkcs8Prefix, derived('v1a')])
  return { hmacKey, signingKey: createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }) }
}

/** Headers of a message, signed with all of some keys. The time is that of the attempt. */
export function webhookHeaders(
  keys: readonly SigningKeys[],
  { id, at, body }: { readonly id: string; readonly at: Date; readonly body: string },
) {
  const seconds = String(Math.floor(at.getTime() / 1_000))
  const signed = Buffer.from(`${id}.${seconds}.${body}`)
  const signatures = keys.map(({ hmacKey, signingKey }) => {
    const hmac = createHmac('sha256', hmacKey).update(signed).digest('base64')
    return `v1,${hmac} v1a,${sign(null, signed, signingKey).toString('base64')}`
  })
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': seconds,
    'webhook-signature': signatures.join(' '),
  }
}
