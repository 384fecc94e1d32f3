import { randomBytes } from 'node:crypto'
import { ed25519 } from '@noble/curves/ed25519.js'
import { getAddress } from 'viem'
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

interface Wanted {
  readonly fid: number
  readonly chainId: number
  readonly action: Action
  /** Address of the service, which the text has to name. */
  readonly api: string
}

/**
 * Body of an eip191 claim or withdrawal signed with a private key. The text comes from the service, so it is checked
 * before it is signed. `show` is given the domain of the site that the text is for.
 */
export async function withSignature(
  privateKey: `0x${string}`,
  wanted: Wanted,
  ask: (address: string) => Promise<Challenge>,
  show: (domain: string) => void,
): Promise<ClaimBody> {
  const account = privateKeyToAccount(privateKey)
  const challenge = await ask(account.address)
  show(domainOf(challenge, account.address, wanted))
  const { text, nonce, timestamp } = challenge
  const { fid, chainId } = wanted
  const signature = await account.signMessage({ message: text })
  return unsignedBody({ fid, address: account.address, chainId, nonce, timestamp }, signature)
}

/** Statement of the text to sign, up to the service's name, and path of the endpoint, by action. */
const wordings = {
  claim: { statement: (fid: number) => `Claim FID ${fid} on `, path: '/api/claim' },
  withdraw: { statement: (fid: number) => `Withdraw the claim of FID ${fid} on `, path: '/api/claim/withdraw' },
} as const

/**
 * Domain of the site in a challenge's text. Throws unless the text is exactly the one for what is wanted, from the service
 * at `api`: only the names of site and service are free.
 */
export function domainOf(
  { text, nonce, timestamp }: Challenge,
  address: string,
  { fid, chainId, action, api }: Wanted,
): string {
  const [site, ...lines] = text.split('\n')
  const { statement, path } = wordings[action]
  const service = / on ([a-z0-9-]+)\.$/.exec(lines[2] ?? '')?.[1]
  const expected = [
    getAddress(address),
    '',
    `${statement(fid)}${service}.`,
    '',
    `URI: ${api}${path}`,
    'Version: 1',
    `Chain ID: ${chainId}`,
    `Nonce: ${nonce}`,
    `Issued At: ${timestamp}`,
    'Resources:',
    `- farcaster://fid/${fid}`,
  ]
  const domain = /^(\S+) wants you to sign in with your Ethereum account:$/.exec(site ?? '')?.[1]
  if (domain && lines.join('\n') === expected.join('\n')) return domain
  const problem = `the service asks for a signature of something else, or is known by another address than ${api}`
  throw new Error(`${problem}; it was not signed:\n\n${text}`)
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
