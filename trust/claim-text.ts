import { getAddress, type Hex } from 'viem'

/** Names and addresses of a service, which proofs contain so that they hold for no other. */
export interface Terms {
  readonly serviceName: string
  /** Without a slash at the end. */
  readonly siteUrl: string
  readonly baseUrl: string
}

interface MessageFields {
  readonly fid: number
  readonly address: Hex
  readonly chainId: number
  readonly nonce: string
  /** Exactly as the claimant sent it. */
  readonly timestamp: string
  /** Address of an endpoint; of a webhook alone. */
  readonly url?: string | undefined
}

/** What the signer of a text asks for. Each has its own wording and URI, so that one is never read as another. */
export const claimActions = ['claim', 'withdraw', 'unlist', 'relist', 'webhook'] as const
export type ClaimAction = (typeof claimActions)[number]

const wordings: Readonly<
  Record<ClaimAction, { statement: (fid: number, service: string, url?: string) => string; path: string }>
> = {
  claim: { statement: (fid: number, service: string) => `Claim FID ${fid} on ${service}.`, path: '/api/claim' },
  withdraw: {
    statement: (fid: number, service: string) => `Withdraw the claim of FID ${fid} on ${service}.`,
    path: '/api/claim/withdraw',
  },
  unlist: {
    statement: (fid: number, service: string) => `Unlist FID ${fid} on ${service}.`,
    path: '/api/claim/unlist',
  },
  relist: {
    statement: (fid: number, service: string) => `List FID ${fid} on ${service} again.`,
    path: '/api/claim/relist',
  },
  webhook: {
    statement: (fid: number, service: string, url = '') => `Send events to ${url} for FID ${fid} on ${service}.`,
    path: '/api/webhooks',
  },
}

/**
 * The text an eip191 claim signs: ERC-4361, so that wallets warn when another site asks for it. Built from fields that
 * have been checked; no part of it is the claimant's own wording.
 */
export function claimMessage(
  { serviceName, siteUrl, baseUrl }: Terms,
  { fid, address, chainId, nonce, timestamp, url }: MessageFields,
  action: ClaimAction = 'claim',
): string {
  const { statement, path } = wordings[action]
  return [
    `${new URL(siteUrl).host} wants you to sign in with your Ethereum account:`,
    getAddress(address),
    '',
    statement(fid, serviceName, url),
    '',
    `URI: ${baseUrl}${path}`,
    'Version: 1',
    `Chain ID: ${chainId}`,
    `Nonce: ${nonce}`,
    `Issued At: ${timestamp}`,
    'Resources:',
    `- farcaster://fid/${fid}`,
  ].join('\n')
}
