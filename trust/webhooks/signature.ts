import { createHmac, createPrivateKey, createPublicKey, hkdfSync, type KeyObject, sign } from 'node:crypto'

// Signatures of Standard Webhooks: `v1`, HMAC-SHA256 with a shared secret, and `v1a`, Ed25519.

const secretBytes = 32
/** What stands before the 32 bytes of an Ed25519 private key in its PKCS #8 form, of a public key in its SPKI form. */
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex')
const spkiPrefixBytes = 12

/** What an endpoint's messages are signed with, derived from one secret of the service: none is stored. */
interface WebhookKeys {
  /** For whoever checks `v1`: `whsec_` and base64. */
  readonly secret: string
  /** For whoever checks `v1a`: `whpk_` and base64. */
  readonly publicKey: string
  readonly hmacKey: Buffer
  readonly signingKey: KeyObject
}

export function webhookKeys(master: string, id: string): WebhookKeys {
  const derived = (use: string) =>
    Buffer.from(hkdfSync('sha256', master, '', `agent-directory webhook ${use} ${id}`, secretBytes))
  const hmacKey = derived('v1')
  const der = Buffer.concat([pkcs8Prefix, derived('v1a')])
  const signingKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  const publicKey = createPublicKey(signingKey).export({ format: 'der', type: 'spki' }).subarray(spkiPrefixBytes)
  return {
    secret: `whsec_${hmacKey.toString('base64')}`,
    publicKey: `whpk_${publicKey.toString('base64')}`,
    hmacKey,
    signingKey,
  }
}

/** Headers of a message. The time is that of the attempt. */
export function webhookHeaders(
  { hmacKey, signingKey }: Pick<WebhookKeys, 'hmacKey' | 'signingKey'>,
  { id, at, body }: { readonly id: string; readonly at: Date; readonly body: string },
) {
  const seconds = String(Math.floor(at.getTime() / 1_000))
  const signed = Buffer.from(`${id}.${seconds}.${body}`)
  const hmac = createHmac('sha256', hmacKey).update(signed).digest('base64')
  const signature = sign(null, signed, signingKey).toString('base64')
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': seconds,
    'webhook-signature': `v1,${hmac} v1a,${signature}`,
  }
}
