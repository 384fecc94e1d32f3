import { randomBytes } from 'node:crypto'
import { ed25519 } from '@noble/curves/ed25519.js'
import { privateKeyToAccount } from 'viem/accounts'
import type { Action, Challenge, ClaimBody } from './api-client.ts'

interface SignedFields {
  readonly fid: number
  readonly address: string
  readonly chainId: number
  readonly nonce: string
  readonly timestamp: string
}

/** Body of an eip191 claim or withdrawal with a signature that was made elsewhere. */
export function unsignedBody({ chainId, ...fields }: SignedFields, signature: string): ClaimBody {
  return { method: 'eip191', ...fields, chain_id: chainId, signature }
}

/**
 * Body of an eip191 claim or withdrawal signed with a private key. The text comes from the service, so it is checked
 * before it is signed: throws when it is not exactly the text for this action, fid and address.
 */
export async function withSignature(
  privateKey: `0x${string}`,
  { fid, chainId, action }: { fid: number; chainId: number; action: Action },
  ask: (address: string) => Promise<Challenge>,
): Promise<ClaimBody> {
  const account = privateKeyToAccount(privateKey)
  const { text, nonce, timestamp } = await ask(account.address)
  const fields = { fid, address: account.address, chainId, nonce, timestamp }
  if (!isTextOf(action, text, fields)) {
    throw new Error(`the service asks for a signature of something else; it was not signed:\n\n${text}`)
  }
  return unsignedBody(fields, await account.signMessage({ message: text }))
}

/** Statement of the text to sign, up to the service's name, and path of the endpoint, by action. */
const wordings = {
  claim: { statement: (fid: number) => `Claim FID ${fid} on `, path: '/api/claim' },
  withdraw: { statement: (fid: number) => `Withdraw the claim of FID ${fid} on `, path: '/api/claim/withdraw' },
} as const

/** Whether a text is exactly the one for the action and fields; only the names of site and service are free. */
function isTextOf(action: Action, text: string, { fid, address, chainId, nonce, timestamp }: SignedFields): boolean {
  const [site, ...lines] = text.split('\n')
  const { statement, path } = wordings[action]
  const service = / on ([a-z0-9-]+)\.$/.exec(lines[2] ?? '')?.[1]
  const base = /^URI: (https?:\/\/\S+?)\/api\/claim\S*$/.exec(lines[4] ?? '')?.[1]
  const expected = [
    address,
    '',
    `${statement(fid)}${service}.`,
    '',
    `URI: ${base}${path}`,
    'Version: 1',
    `Chain ID: ${chainId}`,
    `Nonce: ${nonce}`,
    `Issued At: ${timestamp}`,
    'Resources:',
    `- farcaster://fid/${fid}`,
  ]
  const asks = /^\S+ wants you to sign in with your Ethereum account:$/.test(site ?? '')
  return asks && service !== undefined && base !== undefined && lines.join('\n') === expected.join('\n')
}

/** Body with a token signed by an app key. `secret`: its Ed25519 secret; `audience`: base URL of the service. */
export function jfsBody({
  fid,
  audience,
  secret,
  action,
}: {
  fid: number
  audience: string
  secret: `0x${string}`
  action: Action
}): ClaimBody {
  const bytes = Buffer.from(secret.slice(2), 'hex')
  const key = `0x${Buffer.from(ed25519.getPublicKey(bytes)).toString('hex')}`
  const timestamp = new Date().toISOString()
  const header = segment({ fid, type: 'app_key', key })
  const payload = segment({ aud: audience, action, fid, nonce: freshNonce(), timestamp })
  const signature = ed25519.sign(Buffer.from(`${header}.${payload}`), bytes)
  return { method: 'jfs', fid, jfs: `${header}.${payload}.${Buffer.from(signature).toString('base64url')}` }
}

export function wellKnownBody(fid: number, host: string): ClaimBody {
  return { method: 'well-known', fid, host, nonce: freshNonce() }
}

const segment = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const freshNonce = () => randomBytes(16).toString('hex')
