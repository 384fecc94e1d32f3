import fc from 'fast-check'
import { expect, test } from 'vitest'
import { chains } from '../../../config/chains.ts'
import { inDollars, pricesIn, withAgent } from '../../../enrichment/specs/prices.ts'
import { fixture } from '../../support/fixture.ts'

const usdc = chains.base.tokens[0]!.address
const none = {
  resource: null,
  description: null,
  scheme: null,
  network: null,
  chain: null,
  asset: null,
  amount: null,
  payTo: null,
  minUsd: null,
  maxUsd: null,
}
const priced = (document: unknown) => pricesIn(document).prices.map((price) => inDollars(price, chains))

test('a demand for payment of the second version names a resource, and what it takes on which network', () => {
  const offer = {
    ...none,
    resource: 'https://api.example.com/premium-data',
    scheme: 'exact',
    network: 'eip155:84532',
    asset: '0x036cbd53842c5426634e7929541ec2318f3dcf7e',
    amount: '10000',
    payTo: '0x209693bc6afc0c5328ba36faf03c514ef312287c',
    testnet: true,
  }
  const description = 'Access to premium market data'
  // Of a test network, which no row of the table is: its token may be anything.
  const file = (name: string) => priced(fixture(`sources/spec_discovery/${name}`))
  expect(file('x402.payment-required.v2-spec.json')).toEqual([{ ...offer, description }])
  expect(file('x402.discovery-resources.v2-spec.json')).toEqual([offer])
  expect(file('x402.skim402.json')).toEqual([])
  expect(file('openapi.rugsense.json')).toEqual([])
})

test('an offer may name the seller’s registration, in every spelling; the chain is told where its registry is indexed', () => {
  const { address } = chains.base.registry
  const agentOf = (erc8004: unknown) => {
    const way = { scheme: 'exact', network: 'base', amount: '1', asset: usdc, payTo: 'somebody', extra: { erc8004 } }
    return priced({ x402Version: 2, accepts: [way] }).map((price) => withAgent(price, chains).agent)
  }
  expect(agentOf({ agentRegistry: `eip155:8453:${address}`, agentId: 17 })).toEqual(['base:17'])
  expect(agentOf({ agentRegistry: `eip155:8453:${address}`, agentId: '017' })).toEqual(['base:17'])
  expect(agentOf({ agentRegistry: `eip155:5:${address}`, agentId: '17' })).toEqual([`eip155:5:${address}:17`])
  for (const none of [undefined, null, 17, {}, { agentId: 17 }, { agentRegistry: address, agentId: 17 }])
    expect(agentOf(none)).toEqual([undefined])
})

test('dollars are told of dollar tokens of the chain that is named; of a most, no least is', () => {
  const way = {
    scheme: 'exact',
    network: 'base',
    maxAmountRequired: '1500',
    asset: usdc.toUpperCase().replace('X', 'x'),
  }
  const of = (changes: object) => priced({ x402Version: 1, accepts: [{ ...way, ...changes }] })
  const dollars = (changes: object) => of(changes).map(({ chain, minUsd, maxUsd }) => [chain, minUsd, maxUsd])
  expect(of({ resource: '/report', payTo: 'somebody' })).toEqual([
    {
      ...none,
      resource: '/report',
      scheme: 'exact',
      network: 'base',
      chain: 'base',
      asset: usdc,
      amount: '1500',
      payTo: 'somebody',
      minUsd: '0.001500',
      maxUsd: '0.001500',
    },
  ])
  expect(dollars({ scheme: 'upto', maxAmountRequired: 12_345_678 })).toEqual([['base', null, '12.345678']])
  expect(dollars({ network: 'eip155:1' })).toEqual([['ethereum', null, null]])
  expect(dollars({ network: 'solana' })).toEqual([[null, null, null]])
  expect(dollars({ maxAmountRequired: '000' })).toEqual([['base', '0.000000', '0.000000']])
  expect(dollars({ maxAmountRequired: '1.5' })).toEqual([['base', '1.5', '1.5']])
  for (const amount of ['-1', '1e3', '0x10', '', ' 7', '9'.repeat(79), null, [], 1e30]) {
    expect([amount, dollars({ maxAmountRequired: amount })]).toEqual([amount, []])
  }
})

test('operations of an OpenAPI description say what they cost, fixed or within a range', () => {
  const paths = {
    '/answer': {
      parameters: [],
      get: { summary: 'An answer', 'x-payment-info': { price: { mode: 'fixed', currency: 'USD', amount: '0.02' } } },
      post: { 'x-payment-info': { protocols: ['x402'], pricingMode: 'range', minPrice: 0.01, maxPrice: '$2' } },
      put: { 'x-payment-info': { price: '0.05' } },
    },
    '/euro': { get: { 'x-payment-info': { price: { mode: 'fixed', currency: 'EUR', amount: '1' } } } },
    '/odd': { get: { 'x-payment-info': { price: { amount: '0.0000001' } } }, post: { 'x-payment-info': 'free' } },
    '/free': { get: {} },
  }
  expect(priced({ openapi: '3.1.0', info: { title: 'x' }, paths })).toEqual([
    { ...none, resource: 'GET /answer', description: 'An answer', minUsd: '0.02', maxUsd: '0.02' },
    { ...none, resource: 'POST /answer', minUsd: '0.01', maxUsd: '2' },
    { ...none, resource: 'PUT /answer', minUsd: '0.05', maxUsd: '0.05' },
    { ...none, resource: 'GET /euro', amount: '1', currency: 'EUR' },
  ])
})

test('twenty prices of a document are kept, clean and short, whatever else it holds', () => {
  const accepts = Array.from({ length: 5_000 }, () => ({ amount: '1', asset: `a\u0000${'b'.repeat(500)}` }))
  const { prices: kept, isCut } = pricesIn({ resources: [{ resource: 'r'.repeat(900), accepts }] })
  expect([kept.length, isCut]).toEqual([20, true])
  expect(kept[0]).toMatchObject({ resource: 'r'.repeat(200), asset: `a\ufffd${'b'.repeat(198)}` })

  const key = fc.constantFrom(
    'accepts',
    'resource',
    'resources',
    'items',
    'paths',
    'get',
    'x-payment-info',
    'price',
    'amount',
  )
  const { tree } = fc.letrec((tie) => ({
    leaf: fc.oneof(fc.string({ unit: 'binary', maxLength: 9 }), fc.integer(), fc.constant(null), fc.constant('7')),
    list: fc.array(tie('tree'), { maxLength: 3 }),
    tree: fc.oneof(
      { maxDepth: 4, depthSize: 'small' },
      tie('leaf'),
      tie('list'),
      fc.dictionary(key, tie('tree'), { maxKeys: 4 }),
    ),
  }))
  fc.assert(
    fc.property(tree, (value) => {
      const read = JSON.stringify(priced(value))
      expect(read).not.toMatch(/(?<!\\)(\\\\)*\\u(0000|d[89a-f])/i)
    }),
  )
})
