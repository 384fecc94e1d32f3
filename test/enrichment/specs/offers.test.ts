import { expect, test } from 'vitest'
import { chains } from '../../../config/chains.ts'
import { readContent } from '../../../enrichment/specs/kinds.ts'
import { inDollars, pricesIn } from '../../../enrichment/specs/prices.ts'
import { fixture } from '../../support/fixture.ts'

const usdc = chains.base.tokens[0]!.address
const payTo = '0x00000000000000000000000000000000000000aa'
const priced = (document: unknown) => pricesIn(document).prices.map((price) => inDollars(price, chains))
/** A price in short: what, chain, asset, amount, currency, least and most dollars, as far as they are known. */
const told = (document: unknown) =>
  priced(document).map(({ resource, chain, asset, amount, currency, minUsd, maxUsd, testnet }) => [
    resource,
    chain,
    asset === usdc ? 'USDC' : asset,
    amount,
    currency ?? null,
    minUsd === null ? null : Number(minUsd),
    maxUsd === null ? null : Number(maxUsd),
    ...(testnet ? ['testnet'] : []),
  ])

test.each([
  ['x402__01-no-version', 1, [['https://shop.test/api/1', 'base', 'USDC', '10000', null, 0.01, 0.01]]],
  ['x402__02-services-accepts', 1, [['https://shop.test/api/screen', 'base', 'USDC', '5000', null, 0.005, 0.005]]],
  ['x402__04-endpoints-map', 1, [['GET /api/price', 'base', 'USDC', '300', null, 0.0003, 0.0003]]],
  ['x402__05-price-object-atomic', 1, [['GET /orderbook', 'base', 'USDC', '10000', null, 0.01, 0.01]]],
  ['x402__07-network-base-mainnet', 1, [['https://shop.test/a', 'base', 'USDC', '5000', null, 0.005, 0.005]]],
  ['x402__09-decimal-maxAmountRequired', 1, [['https://shop.test/search', 'base', 'USDC', '1000', null, 0.001, 0.001]]],
  ['x402__10-symbol-asset', 1, [['POST /rates', 'base', 'USDC', '3000', null, 0.003, 0.003]]],
  ['x402__11-terms-on-the-resource', 1, [['https://shop.test/report/1', 'base', 'USDC', null, null, 0.13, 0.13]]],
  [
    'x402__13-other-currency',
    2,
    [
      ['https://shop.test/x', null, null, '0.5', 'SOL', null, null],
      ['https://shop.test/y', null, null, '1000', 'sats', null, null],
    ],
  ],
  ['x402__16-document-level-accepts', 1, [['GET /agents', 'base', 'USDC', '1000', null, 0.001, 0.001]]],
])('the manifest %s is read with all it sells', (file, count, prices) => {
  const document = fixture(`documents/${file}.json`)
  expect(readContent.x402(document)?.pathCount).toBe(count)
  expect(told(document)).toEqual(prices)
})

test.each([
  ['openapi__01-offers', [['GET /scores', 'base', 'USDC', null, null, 0.01, 0.01]]],
  ['openapi__02-x-price', [['GET /scores', null, null, null, null, 0.001, 0.001]]],
  ['openapi__03-x-price-usd', [['GET /scores', null, null, null, null, 0.01, 0.01]]],
  ['openapi__05-x-x402-price', [['GET /scores', null, 'USDC', '0.001000', 'USDC', 0.001, 0.001]]],
  ['openapi__07-usdc-currency', [['GET /scores', null, null, '0.02', 'USDC', 0.02, 0.02]]],
  [
    'openapi__12-other-currency',
    [
      ['GET /a', null, null, '0.5', 'SOL', null, null],
      ['GET /b', null, null, '1-3', 'EURC', null, null],
    ],
  ],
])('the description %s is read with the prices of its paths', (file, prices) => {
  expect(told(fixture(`documents/${file}.json`))).toEqual(prices)
})

const manifest = (resource: object, around: object = {}) => told({ x402Version: 1, resources: [resource], ...around })

test.each([
  ['half a SOL', { price: '0.5 SOL' }, ['/x', null, null, '0.5', 'SOL', null, null]],
  ['SOL as symbol', { price: { amount: '0.5', symbol: 'SOL' } }, ['/x', null, null, '0.5', 'SOL', null, null]],
  ['euros', { price: '€2' }, ['/x', null, null, '2', '€', null, null]],
  ['a euro token of a chain', { price: '2 EURC', network: 'base' }, ['/x', 'base', null, '2', 'EURC', null, null]],
  [
    'a bridged dollar',
    { price: '2', currency: 'USDC.e', network: 'base' },
    ['/x', 'base', null, '2', 'USDC.e', null, null],
  ],
  [
    'a dollar token of an unknown chain',
    { price: '2 USDC', network: 'solana' },
    ['/x', null, null, '2', 'USDC', null, null],
  ],
  [
    'a dollar token for tests',
    { price: '2 USDC on base-sepolia' },
    ['/x', null, null, '2', 'USDC', null, null, 'testnet'],
  ],
  ['dollars on a network for tests', { price: '$2', network: 84532 }, ['/x', null, null, null, null, 2, 2, 'testnet']],
  [
    'a price for many',
    { price: '$2 per million tokens' },
    ['/x', null, null, '2 per million tokens', 'USD', null, null],
  ],
  [
    'a price of a token for many',
    { price: '2 USDC per 1000 calls' },
    ['/x', null, null, '2 per 1000 calls', 'USDC', null, null],
  ],
  ['a range', { price: '$0.01-$0.05' }, ['/x', null, null, null, null, 0.01, 0.05]],
  ['thousands', { price: '$1,250.50' }, ['/x', null, null, null, null, 1250.5, 1250.5]],
  ['dollars by the key', { price_usd: 0.25 }, ['/x', null, null, null, null, 0.25, 0.25]],
  [
    'a token by the key that says dollars',
    { price_usd: '2 SOL', price: '2 SOL' },
    ['/x', null, null, '2', 'SOL', null, null],
  ],
  [
    'whole or base units',
    { price: { amount: 10_000, currency: 'USDC' } },
    ['/x', null, null, '10000', 'USDC', null, null],
  ],
  [
    'whole units',
    { price: { amount: 1, currency: 'USDC' }, network: 'eip155:8453' },
    ['/x', 'base', 'USDC', '1000000', null, 1, 1],
  ],
  [
    'an asset in CAIP-19',
    { asset: `eip155:8453/erc20:${usdc}`, amount: '70' },
    ['/x', 'base', 'USDC', '70', null, 0.00007, 0.00007],
  ],
  [
    'an asset as object',
    { network: 'Base Mainnet', asset: { address: usdc, symbol: 'USDC', decimals: 6 }, max_amount_required: '70' },
    ['/x', 'base', 'USDC', '70', null, 0.00007, 0.00007],
  ],
  [
    'an asset that is another one, called USDC',
    { network: 'base', asset: payTo, price: '2 USDC' },
    ['/x', 'base', payTo, '2', 'USDC', null, null],
  ],
  ['a chain id in hex', { network: '0x2105', price: 0.02 }, ['/x', 'base', 'USDC', '20000', null, 0.02, 0.02]],
  [
    'snake case',
    { pay_to: payTo, payment_options: { network_id: 8453, amount_atomic: '20' } },
    ['/x', 'base', 'USDC', '20', null, 0.00002, 0.00002],
  ],
])('a price is what it says, and dollars only where it says so: %s', (_, terms, price) => {
  expect(manifest({ path: '/x', ...terms })).toEqual([price])
})

test('a number alone, of which nothing says what it is in, is no price', () => {
  expect(manifest({ path: '/x', price: '0.5' })).toEqual([])
  expect(manifest({ path: '/x', price: 'free' })).toEqual([])
  expect(manifest({ path: '/x', price: '0.5', network: 'solana' })).toEqual([])
})

test('terms of the document hold for all it lists, and ways to pay for each way of each', () => {
  const around = { network: 'base', payTo, currency: 'USD' }
  expect(manifest({ url: '/a', price: 1 }, around)).toEqual([['/a', 'base', null, null, null, 1, 1]])
  const accepts = [
    { network: 'base', asset: usdc },
    { network: 'solana', asset: 'mint' },
  ]
  expect(told({ paid_endpoints: { 'GET /a': '$1', 'GET /b': { price: '2 SOL' } }, accepts })).toEqual([
    ['GET /a', 'base', 'USDC', null, null, 1, 1],
    ['GET /a', null, 'mint', null, null, 1, 1],
    ['GET /b', 'base', 'USDC', '2', 'SOL', null, null],
    ['GET /b', null, 'mint', '2', 'SOL', null, null],
  ])
  const shop = { name: 'shop', payTo, endpoints: [{ path: '/a', method: 'post', price: '$1' }] }
  expect(told({ services: [shop], network: 'base' })).toEqual([['POST /a', 'base', null, null, null, 1, 1]])
  expect(readContent.x402({ services: [shop] })).toMatchObject({ title: null, pathCount: 1 })
  expect(told({ manifest: { resources: [{ path: '/a', price: '$1' }] } })).toEqual([
    ['/a', null, null, null, null, 1, 1],
  ])
})

test('a price next to an asset is in that asset, whatever currency is named around', () => {
  const thing = { resource: '/a', price: '0.5', asset: 'ETH', network: 'base' }
  expect(told({ currency: 'USD', resources: [thing] })).toEqual([['/a', 'base', 'ETH', '0.5', 'ETH', null, null]])
  const range = { resource: '/a', min: 0.1, max: 0.5, asset: 'ETH' }
  expect(told({ currency: 'USD', resources: [range] })).toEqual([['/a', null, 'ETH', '0.1-0.5', 'ETH', null, null]])
  const dollars = { resource: '/a', price: 1, asset: usdc }
  expect(told({ currency: 'USD', resources: [dollars] })).toEqual([['/a', null, 'USDC', null, null, 1, 1]])
  // The way costs what it is a way to pay.
  const way = { price: '0.000004', asset: 'ETH' }
  expect(told({ currency: 'USD', price: '0.01', resources: [{ accepts: [way] }] })).toEqual([
    [null, null, 'ETH', '0.000004', 'ETH', 0.01, 0.01],
  ])
})

test.each([
  [{ price: '$10-$5' }, [null, null, '10-5', '$', null, null]],
  [{ price: '$5 - 2' }, [null, null, '5-2', '$', null, null]],
  [{ minPriceUsd: 10, maxPriceUsd: 5 }, [null, null, '10-5', 'USD', null, null]],
  [{ price: '10-5 USDC', network: 'base' }, ['base', null, '10-5', 'USDC', null, null]],
])('a range from more to less is kept as it is written, without dollars: %j', (terms, price) => {
  expect(manifest({ path: '/x', ...terms })).toEqual([['/x', ...price]])
})

test('lists of services that nobody is paid for are no manifest', () => {
  const file = { name: 'Ada', version: '1', services: [{ name: 'web', endpoint: 'https://a.test' }], x402Support: true }
  expect(readContent.x402(file)).toBeUndefined()
  expect(readContent.x402({ openapi: '3.1.0', version: 1, resources: [] })).toBeUndefined()
})

const described = (operation: object) =>
  told({ openapi: '3.1.0', info: { title: 'x' }, paths: { '/x': { get: operation } } })

test.each([
  [
    'cents of MPP',
    { 'x-payment-info': { offers: [{ method: 'stripe', amount: '100', currency: 'usd' }] } },
    ['GET /x', null, null, '100', 'usd', null, null],
  ],
  [
    'cents of MPP without offers, as draft-payment-discovery-00 has them',
    { 'x-payment-info': { intent: 'charge', method: 'stripe', amount: '500', currency: 'usd' } },
    ['GET /x', null, null, '500', 'usd', null, null],
  ],
  [
    'dollars of MPP with a point',
    { 'x-payment-info': { intent: 'charge', method: 'stripe', amount: '5.00', currency: 'usd' } },
    ['GET /x', null, null, null, null, 5, 5],
  ],
  [
    'base units of MPP by the symbol',
    { 'x-payment-info': { intent: 'session', amount: '500', currency: 'USDC', network: 'base' } },
    ['GET /x', 'base', 'USDC', '500', null, 0.0005, 0.0005],
  ],
  [
    'base units of MPP',
    {
      'x-payment-info': {
        offers: [{ amount: '100', currency: usdc.toUpperCase().replace('X', 'x'), network: 'base' }],
      },
    },
    ['GET /x', 'base', 'USDC', '100', null, 0.0001, 0.0001],
  ],
  [
    'x-x402',
    { 'x-x402': { network: 'base', asset: 'USDC', price: '0.02', payTo } },
    ['GET /x', 'base', 'USDC', '20000', null, 0.02, 0.02],
  ],
  ['x-pricing', { 'x-pricing': { amount: 0.02, currency: 'USD' } }, ['GET /x', null, null, null, null, 0.02, 0.02]],
  ['x-pricing as text', { 'x-pricing': '$0.02/call' }, ['GET /x', null, null, null, null, 0.02, 0.02]],
])('operations tell their price in each extension: %s', (_, operation, price) => {
  expect(described(operation)).toEqual([price])
})

test.each([
  ['yen', { 'x-price': '500', 'x-currency': 'JPY', 'x-network': 'base' }, ['base', null, '500', 'JPY', null, null]],
  ['credits', { 'x-price': '5', 'x-currency': 'credits' }, [null, null, '5', 'credits', null, null]],
  [
    'euros where dollars are usual',
    { 'x-price': '5', 'x-currency': 'EUR', 'x-payment-info': { protocols: ['x402'] } },
    [null, null, '5', 'EUR', null, null],
  ],
  [
    'base units',
    { 'x-price': '500', 'x-decimals': 6, 'x-asset': 'USDC', 'x-network': 'base' },
    ['base', 'USDC', '500', null, 0.0005, 0.0005],
  ],
])('what extensions of its own say next to the price of an operation holds for it: %s', (_, operation, price) => {
  expect(described(operation)).toEqual([['GET /x', ...price]])
})

test('an operation that names an asset is not in the currency of the whole description', () => {
  const paths = { '/x': { get: { 'x-price': '0.5', 'x-asset': 'ETH' } }, '/y': { get: { 'x-price': '0.5' } } }
  expect(told({ openapi: '3.1.0', info: { title: 'x' }, 'x-currency': 'USD', paths })).toEqual([
    ['GET /x', null, 'ETH', '0.5', 'ETH', null, null],
    ['GET /y', null, null, null, null, 0.5, 0.5],
  ])
})

test('x-price alone names no currency', () => expect(described({ 'x-price': 0.02 })).toEqual([]))
