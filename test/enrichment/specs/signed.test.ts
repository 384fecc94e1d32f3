import { concat, keccak256, pad, stringToBytes } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { demandFor } from '../../../devnet/hosts/sellers.ts'
import { withSignatures } from '../../../enrichment/specs/offers/signed.ts'
import { saleIn } from '../../../enrichment/specs/sale.ts'
import { offerSigner } from '../../../trust/offer-signature.ts'

const seller = privateKeyToAccount(`0x${'11'.repeat(32)}`)
const other = privateKeyToAccount(`0x${'22'.repeat(32)}`)
const url = 'https://seller.example/paid'
const field = (name: string, type = 'string') => ({ name, type })
const types = {
  Offer: [
    field('version', 'uint256'),
    ...['resourceUrl', 'scheme', 'network', 'asset', 'payTo', 'amount'].map((name) => field(name)),
    field('validUntil', 'uint256'),
  ],
}

/**
 * Until when the one price of a demand is signed, if its offer says `changes` instead of what the demand says. `asked`:
 * members of its way to pay that are not signed.
 */
async function signedUntil(
  changes: object = {},
  by = seller,
  tamper: (offer: object) => object = (offer) => offer,
  asked: object = {},
) {
  const demand = demandFor({ url, payTo: seller.address })
  const [way] = demand.accepts
  const { scheme, network, asset, payTo, amount } = way!
  const payload = {
    version: 1,
    resourceUrl: url,
    scheme,
    network,
    asset,
    payTo,
    amount,
    validUntil: 1_800_000_000,
    ...changes,
  }
  const domain = { name: 'x402 offer', version: '1', chainId: 1 } as const
  const signature = await by.signTypedData({ domain, types, primaryType: 'Offer', message: payload })
  const offer = tamper({ format: 'eip712', payload, signature, acceptIndex: 0 })
  const whole = {
    ...demand,
    accepts: [{ ...way, ...asked }],
    extensions: { 'offer-receipt': { info: { offers: [offer] } } },
  }
  const [price] = await withSignatures(saleIn(whole).prices, whole, new URL(url))
  return price?.signedUntil
}

test('what is signed is hashed as the extension writes it: by its own separator and type', async () => {
  // Separator of the domain and hash of the type as they stand in the specification.
  const separator = '0x5dc92544087ab60aa57c539b9543f9282416b0dcf2c2ae0d4d0051052a9e61b6'
  const type = '0x85143d3249b5e62ed5edd3d59a352d4e1181c775ff4f762f9c8a617f6bf1e97d'
  const texts = [url, 'exact', 'eip155:8453', '0xasset', seller.address, '10000'] as const
  const hashes = texts.map((text) => keccak256(stringToBytes(text)))
  const words = [type, pad('0x01'), ...hashes, pad('0x07')] as const
  const hash = keccak256(concat(['0x1901', separator, keccak256(concat(words))]))
  const [resourceUrl, scheme, network, asset, payTo, amount] = texts
  const offer = { version: 1, resourceUrl, scheme, network, asset, payTo, amount, validUntil: 7 }
  expect(await offerSigner(offer, await seller.sign({ hash }))).toBe(seller.address.toLowerCase())
})

test('a price is signed if the key of its payee signed the same terms for the same endpoint', async () => {
  expect(await signedUntil()).toBe('1800000000')
  expect(await signedUntil({ validUntil: 0 })).toBe('always')
  expect(await signedUntil({}, seller, same, { resource: url })).toBe('1800000000')
})

const same = (offer: object) => offer
test.for<[string, object]>([
  ['that is asked for in whole units', { amount: undefined, price: '10000' }],
  ['of another resource', { resource: 'https://seller.example/other' }],
  ['of a path on its host', { resource: '/other', method: 'GET' }],
])('a price %s is not signed by an offer with the same figure', async ([, asked]) => {
  expect(await signedUntil({}, seller, same, asked)).toBeUndefined()
})

test.for<[string, () => Promise<string | undefined>]>([
  ['another key', () => signedUntil({}, other)],
  ['the terms of another resource', () => signedUntil({ resourceUrl: 'https://seller.example/other' })],
  ['another amount', () => signedUntil({ amount: '1' })],
  ['another network', () => signedUntil({ network: 'eip155:1' })],
  ['another payee', () => signedUntil({ payTo: other.address }, other)],
  ['another version', () => signedUntil({ version: 2 })],
  ['half a signature', () => signedUntil({}, seller, (offer) => ({ ...offer, signature: `0x${'11'.repeat(32)}` }))],
  [
    'no signature of any key',
    () => signedUntil({}, seller, (offer) => ({ ...offer, signature: `0x${'ff'.repeat(65)}` })),
  ],
  ['another format', () => signedUntil({}, seller, (offer) => ({ ...offer, format: 'jws' }))],
  ['nothing', () => signedUntil({}, seller, () => ({}))],
])('an offer with %s signs nothing', async ([, until]) => {
  expect(await until()).toBeUndefined()
})
