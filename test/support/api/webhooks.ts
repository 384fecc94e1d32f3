import { createHmac, createPublicKey, verify } from 'node:crypto'
import { expect } from 'vitest'

/** A message that an endpoint was sent. */
export interface Message {
  readonly id: string
  readonly timestamp: string
  readonly signature: string
  readonly body: string
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
}
/** What the answer to a registration gives. */
export interface Registered {
  readonly id: string
  readonly secret: string
  readonly public_key: string
  readonly manage_token: string
}
/** Checks both signatures as Standard Webhooks says, by what the registration gave. */
export function expectSigned(
  { id, timestamp, signature, body }: Message,
  { secret, public_key }: Registered,
  now: number,
): void {
  const signed = Buffer.from(`${id}.${timestamp}.${body}`)
  const [v1, v1a] = signature.split(' ')
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  expect(v1).toBe(`v1,${createHmac('sha256', key).update(signed).digest('base64')}`)
  const raw = Buffer.from(public_key.replace('whpk_', ''), 'base64')
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: raw.toString('base64url') }
  const theirs = Buffer.from(v1a!.replace('v1a,', ''), 'base64')
  expect(verify(null, signed, createPublicKey({ key: jwk, format: 'jwk' }), theirs)).toBe(true)
  expect(Math.abs(Number(timestamp) * 1_000 - now)).toBeLessThan(2_000)
}
