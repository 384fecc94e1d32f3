import { type Hex, recoverTypedDataAddress } from 'viem'

/** An offer of x402 as its seller signed it. */
export interface SignedOffer {
  readonly version: number
  readonly resourceUrl: string
  readonly scheme: string
  /** CAIP-2. */
  readonly network: string
  readonly asset: string
  readonly payTo: string
  /** Base units of the asset. */
  readonly amount: string
  /** Seconds since 1970; 0: it says no end. */
  readonly validUntil: number
}

const domain = { name: 'x402 offer', version: '1', chainId: 1 } as const
const types = {
  Offer: [
    { name: 'version', type: 'uint256' },
    { name: 'resourceUrl', type: 'string' },
    { name: 'scheme', type: 'string' },
    { name: 'network', type: 'string' },
    { name: 'asset', type: 'string' },
    { name: 'payTo', type: 'string' },
    { name: 'amount', type: 'string' },
    { name: 'validUntil', type: 'uint256' },
  ],
} as const

/**
 * Address whose key signed an offer, lowercase; undefined: it does not have 65 bytes. Any address comes out of a
 * signature over something else, so that one counts only if it is the one that is expected. The end of its validity is not
 * looked at.
 *
 * Source: x402 extension offer-receipt, format eip712.
 */
export async function offerSigner(offer: SignedOffer, signature: unknown): Promise<string | undefined> {
  if (typeof signature !== 'string' || !/^0x[0-9a-f]{130}$/i.test(signature)) return undefined
  const { version, validUntil } = offer
  const message = { ...offer, version: BigInt(version), validUntil: BigInt(validUntil) }
  try {
    const given = { domain, types, primaryType: 'Offer', message, signature: signature as Hex } as const
    return (await recoverTypedDataAddress(given)).toLowerCase()
  } catch {
    return undefined
  }
}
