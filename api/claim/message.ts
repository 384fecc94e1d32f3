import { getAddress, type Hex } from 'viem'

/** What proofs are bound to: this service and no other. */
export interface Terms {
  readonly serviceName: string
  /** Without a slash at the end. */
  readonly siteUrl: string
  readonly baseUrl: string
}

export interface MessageFields {
  readonly fid: number
  readonly address: Hex
  readonly chainId: number
  readonly nonce: string
  /** Exactly as the claimant sent it. */
  readonly timestamp: string
}

/**
 * The text an eip191 claim signs: ERC-4361, so that wallets warn when another site asks for it. Built from fields that
 * have been checked; no part of it is the claimant's own wording.
 */
export function claimMessage(
  { serviceName, siteUrl, baseUrl }: Terms,
  { fid, address, chainId, nonce, timestamp }: MessageFields,
): string {
  return [
    `${new URL(siteUrl).host} wants you to sign in with your Ethereum account:`,
    getAddress(address),
    '',
    `Claim FID ${fid} on ${serviceName}.`,
    '',
    `URI: ${baseUrl}/api/claim`,
    'Version: 1',
    `Chain ID: ${chainId}`,
    `Nonce: ${nonce}`,
    `Issued At: ${timestamp}`,
    'Resources:',
    `- farcaster://fid/${fid}`,
  ].join('\n')
}
