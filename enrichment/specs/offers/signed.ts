import { z } from 'zod'
import { offerSigner, type SignedOffer } from '../../../trust/offer-signature.ts'
import { fieldsOf } from './spellings.ts'

/** Signed offers of a demand that are looked at. */
const mostOffers = 20
const seconds = z.int().nonnegative().max(253_402_300_799)
const eip712 = z.object({
  format: z.literal('eip712'),
  signature: z.string(),
  payload: z.object({
    version: z.literal(1),
    resourceUrl: z.string(),
    scheme: z.string(),
    network: z.string(),
    asset: z.string(),
    payTo: z.string(),
    amount: z.string(),
    validUntil: seconds.default(0),
  }),
})

/** Terms by which an offer is found; those of a price. */
type Terms = {
  readonly [member in 'resource' | 'scheme' | 'network' | 'asset' | 'amount' | 'payTo']: string | null
} & {
  readonly currency?: string
}

/**
 * Prices of a demand of this endpoint, with a mark on those that the key of `payTo` has signed for it. An offer signed by
 * another key says nothing here, nor one for another resource: it may be copied from there.
 *
 * Source: x402 extension offer-receipt; offers are found by their fields, as `acceptIndex` is not signed.
 */
export async function withSignatures<P extends Terms>(
  prices: readonly P[],
  demand: unknown,
  endpoint: URL,
): Promise<(P & { readonly signedUntil?: string })[]> {
  const { offers } = fieldsOf(fieldsOf(fieldsOf(fieldsOf(demand).extensions)['offer-receipt']).info)
  const known: SignedOffer[] = []
  for (const one of (Array.isArray(offers) ? offers : []).slice(0, mostOffers)) {
    const { data } = eip712.safeParse(one)
    if (!data || URL.parse(data.payload.resourceUrl)?.href !== endpoint.href) continue
    const signer = await offerSigner(data.payload, data.signature)
    if (signer === data.payload.payTo.toLowerCase()) known.push(data.payload)
  }
  return prices.map((price) => {
    const isElsewhere = price.resource !== null && URL.parse(price.resource)?.href !== endpoint.href
    const offer = isElsewhere ? undefined : known.find((one) => isOf(one, price))
    return offer ? { ...price, signedUntil: offer.validUntil === 0 ? 'always' : String(offer.validUntil) } : price
  })
}

/** What is signed is in base units, which an amount with a currency is not. */
function isOf(offer: SignedOffer, { scheme, network, asset, amount, currency, payTo }: Terms): boolean {
  return (
    currency === undefined &&
    offer.scheme === scheme &&
    offer.network === network &&
    offer.asset.toLowerCase() === asset?.toLowerCase() &&
    offer.payTo.toLowerCase() === payTo?.toLowerCase() &&
    offer.amount === amount
  )
}
