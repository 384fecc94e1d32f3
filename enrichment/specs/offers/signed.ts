import { z } from 'zod'
import { signedPayload } from '../../../trust/offer-jws.ts'
import { offerSigner, type SignedOffer } from '../../../trust/offer-signature.ts'
import { networkOf } from '../../networks.ts'
import type { Signers } from './signers.ts'
import { fieldsOf } from './spellings.ts'

/** Signed offers of a demand that are looked at. */
const mostOffers = 20
const seconds = z.int().nonnegative().max(253_402_300_799)
const terms = z.object({
  version: z.literal(1),
  resourceUrl: z.string(),
  scheme: z.string(),
  network: z.string(),
  asset: z.string(),
  payTo: z.string(),
  amount: z.string(),
  validUntil: seconds.default(0),
})
const given = z.discriminatedUnion('format', [
  z.object({ format: z.literal('eip712'), signature: z.string(), payload: terms }),
  z.object({ format: z.literal('jws'), signature: z.string() }),
])

/** Terms by which an offer is found; those of a price. */
type Terms = {
  readonly [member in 'resource' | 'scheme' | 'network' | 'asset' | 'amount' | 'payTo']: string | null
} & {
  readonly currency?: string
}

/** An offer and whose key signed it: that of `payTo`, or another that may sign for the endpoint, by its DID URL. */
interface Known {
  readonly offer: SignedOffer
  readonly by: string | undefined
}

/** What marks a price that is signed. */
interface Signed {
  readonly signedUntil?: string
  readonly signedBy?: string
}

/**
 * Prices of a demand of this endpoint, with a mark on those that the key of `payTo`, or another that may sign for the
 * endpoint, has signed. An offer signed by another key says nothing here, nor one for another resource: it may be
 * copied from there.
 *
 * Source: x402 extension offer-receipt; offers are found by their fields, as `acceptIndex` is not signed.
 */
export async function withSignatures<P extends Terms>(
  prices: readonly P[],
  demand: unknown,
  endpoint: URL,
  signers: Signers,
): Promise<(P & Signed)[]> {
  const { offers } = fieldsOf(fieldsOf(fieldsOf(fieldsOf(demand).extensions)['offer-receipt']).info)
  const known: Known[] = []
  for (const one of (Array.isArray(offers) ? offers : []).slice(0, mostOffers)) {
    const signed = await signedOf(one, signers)
    if (signed && URL.parse(signed.offer.resourceUrl)?.href === endpoint.href) known.push(signed)
  }
  return prices.map((price) => {
    const isElsewhere = price.resource !== null && URL.parse(price.resource)?.href !== endpoint.href
    const found = isElsewhere ? undefined : known.find(({ offer }) => isOf(offer, price))
    if (!found) return price
    const { offer, by } = found
    const signedUntil = offer.validUntil === 0 ? 'always' : String(offer.validUntil)
    return { ...price, signedUntil, ...(by !== undefined && { signedBy: by }) }
  })
}

/** Undefined: nobody who may sign for the endpoint signed it. */
async function signedOf(one: unknown, { keyOf, didOf }: Signers): Promise<Known | undefined> {
  const { data } = given.safeParse(one)
  if (data?.format === 'eip712') {
    const signer = await offerSigner(data.payload, data.signature)
    if (signer === data.payload.payTo.toLowerCase()) return { offer: data.payload, by: undefined }
    const by = signer && (await didOf(signer))
    return by ? { offer: data.payload, by } : undefined
  }
  const signed = data && (await signedPayload(data.signature, keyOf))
  const offer = terms.safeParse(signed?.payload).data
  return signed && offer && { offer, by: signed.kid }
}

/** What is signed is in base units, which an amount with a currency is not. */
function isOf(offer: SignedOffer, { scheme, network, asset, amount, currency, payTo }: Terms): boolean {
  return (
    currency === undefined &&
    offer.scheme === scheme &&
    isSameNetwork(offer.network, network) &&
    offer.asset.toLowerCase() === asset?.toLowerCase() &&
    offer.payTo.toLowerCase() === payTo?.toLowerCase() &&
    offer.amount === amount
  )
}

/** What is signed names the network by CAIP-2, where version 1 of x402 has a name of its own. */
function isSameNetwork(signed: string, asked: string | null): boolean {
  const chain = networkOf(signed).chain
  return signed === asked || (chain !== null && asked !== null && networkOf(asked).chain === chain)
}
