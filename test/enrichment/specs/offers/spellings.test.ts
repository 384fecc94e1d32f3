import { expect, test } from 'vitest'
import { chains } from '../../../../config/chains.ts'
import { readContent } from '../../../../enrichment/specs/kinds.ts'
import { moneyIn } from '../../../../enrichment/specs/offers/money.ts'
import { inDollars, pricesIn } from '../../../../enrichment/specs/prices.ts'

// Documents as the world writes them, besides those in test/fixtures/documents: one row for each spelling.

const payTo = `0x${'11'.repeat(20)}`
const usdc = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'

/** Prices in a document, as dollars or as an amount with its currency, with who is paid where that is known. */
const pricesOf = (document: unknown) =>
  pricesIn(document).prices.map((price) => {
    const { resource, amount, currency, minUsd, maxUsd } = inDollars(price, chains)
    const range = minUsd === maxUsd ? `$${Number(minUsd)}` : `$${Number(minUsd)}-${Number(maxUsd)}`
    return `${resource} ${maxUsd === null ? `${amount} ${currency ?? 'base units'}` : range}`
  })

test.each<[string, string | undefined]>([
  ['$0.01/request', '0.01 $'],
  ['US$0.05', '0.05 $'],
  ['USD$0.05', '0.05 $'],
  ['0,01 USDC', '0.01 USDC'],
  ['0,001 USD', '0.001 USD'],
  ['1,5 EUR', '1.5 EUR'],
  ['1,000 USD', '1000 USD'],
  ['A$5', '5 A$'],
  ['CA$0.05', '0.05 CA$'],
  ['$0.05 CAD', '0.05 CAD'],
  ['$0.05 CAD per 1k tokens', '0.05 per 1k tokens CAD'],
  ['$0.05 per 1k tokens', '0.05 per 1k tokens USD'],
  ['$5 API calls included', '5 API calls included USD'],
  ['from $0.05', 'from 0.05 $'],
  ['up to 2 SOL', 'up to 2 SOL'],
  ['~$0.05', '~ 0.05 $'],
  ['$VIRTUAL 5', '5 $VIRTUAL'],
  ['5 $DEGEN', '5 $DEGEN'],
  ['5¢', '5 ¢'],
  ['free', undefined],
])('the text %s names an amount of money as it is written', (text, meant) => {
  const named = moneyIn(text)
  expect(named && `${named.amount} ${named.currency}`).toBe(meant)
})

test('a number is read without its exponent', () => {
  expect(moneyIn(1e-7)?.amount).toBe('0.0000001')
  expect(moneyIn(0.25)?.amount).toBe('0.25')
})

const sold = (entry: object) => ({ items: [{ resource: '/a', network: 'base', payTo, ...entry }] })

test.each<[string, object, string[]]>([
  ['a key that names USDC', sold({ price_usdc: 0.01 }), ['/a $0.01']],
  ['another key that names USDC', sold({ amountUSDC: '0.05' }), ['/a $0.05']],
  ['a key that names cents of a dollar', sold({ price_usd_cents: 5 }), ['/a $0.05']],
  ['a key that names cents of nothing', sold({ price_cents: 5 }), ['/a 5 cents']],
  ['a key that names ETH', sold({ price_eth: '0.001' }), ['/a 0.001 ETH']],
  ['a key that names sats', sold({ price: { sats: 100 } }), ['/a 100 sats']],
  ['credits', sold({ credits: 5 }), ['/a 5 credits']],
  ['an amount behind `value`', sold({ price: { value: '0.01', currency: 'USDC' } }), ['/a $0.01']],
  ['euros behind `value`', sold({ price: { value: '0.01', currency: 'EUR' } }), ['/a 0.01 EUR']],
  ['a unit that is no currency', sold({ price: '0.02', unit: 'request' }), ['/a $0.02']],
  ['base units of USDC', sold({ price_micro_usdc: '20000' }), ['/a $0.02']],
  ['tiers', sold({ tiers: [{ price: '$0.01' }, { price: '$0.10' }] }), ['/a $0.01', '/a $0.1']],
  ['a map of paths', { payTo, network: 'base', pricing: { '/a': '$0.01', '/b': '€2' } }, ['/a $0.01', '/b 2 €']],
  [
    'terms at the top and wallets by network',
    {
      wallets: { base: payTo, solana: 'So1a' },
      network: 'base',
      currency: 'USDC',
      endpoints: [{ path: '/a', price: 0.01 }],
    },
    ['/a $0.01'],
  ],
  ['offerings', { offerings: [{ endpoint: '/a', price: '$0.01', payment_address: payTo }] }, ['/a $0.01']],
])('a manifest with %s is read, and sells for what it says', (_, document, meant) => {
  expect(readContent.x402(document)).toBeDefined()
  expect(pricesOf(document)).toEqual(meant)
})

test.each<[object, string[]]>([
  [{ price: '$2', unit: '1M tokens' }, ['/a 2 per 1M tokens USD']],
  [{ price: 2, currency: 'USD', unit: '1M tokens' }, ['/a 2 per 1M tokens USD']],
  [{ price: 2, currency: 'USDC', unit: '1M tokens' }, ['/a 2 per 1M tokens USDC']],
  [{ amount: '2000000', asset: usdc, unit: '1M tokens' }, ['/a 2000000 per 1M tokens base units']],
  [{ priceUsd: 20, unit: 'month' }, ['/a 20 per month USD']],
  [{ price: '$2', unit: 'token' }, ['/a 2 per token USD']],
  [{ price: '$2', unit: 'MONTH' }, ['/a 2 per MONTH USD']],
  [{ price: '$2', per: 1000 }, ['/a 2 per 1000 USD']],
  [{ price: '$5', quantity: 1000, unit: 'calls' }, ['/a 5 per 1000 calls USD']],
  [{ price: { amount: 2, currency: 'USD', per: { unit: 'tokens', quantity: 1000 } } }, ['/a 2 per 1000 tokens USD']],
  [{ price: '$2', per: { of: 'tokens' } }, ['/a 2 per unit USD']],
  [{ minPriceUsd: 1, maxPriceUsd: 5, per: 'month' }, ['/a 1-5 per month USD']],
  [{ price: '$20', payment: { interval: 'month', asset: usdc } }, ['/a 20 per month USD']],
  [{ amount: 5, currency: 'USD', unit: 'cents' }, ['/a 5 cents USD']],
  [{ amount: '500', currency: 'USDC', unit: 'atomic' }, ['/a 500 atomic USDC']],
  [{ price: 5, unit: 'VIRTUAL' }, ['/a 5 VIRTUAL']],
  [{ price: '€2', unit: 'EUR' }, ['/a 2 €']],
  [{ price: '0.5', unit: 'USDC' }, ['/a $0.5']],
  [{ price: '$2', unit: '1 request' }, ['/a $2']],
  [{ price: { amount: 2, currency: 'USD', per: { unit: 'request', quantity: 1 } } }, ['/a $2']],
  [{ price: { usd: 0.01, unit: 'per_call' } }, ['/a $0.01']],
  [{ price: { amount: '0.01', currency: 'USDC', type: 'per_minute' } }, ['/a 0.01 per minute USDC']],
  [{ price: '0.01', currency: 'USD', pricingModel: 'per_token' }, ['/a 0.01 per token USD']],
  [{ pricing: { amount: 20, currency: 'USD', billing: 'monthly' } }, ['/a 20 per monthly USD']],
  [{ price: '$1', type: 'http', model: 'gpt-4o' }, ['/a $1']],
  [{ pricing: { price: '$1', model: 'per-request' } }, ['/a $1']],
  [
    {
      plans: [
        { price: '$20', interval: 'month' },
        { price: '$0.01', per: 'request' },
      ],
    },
    ['/a 20 per month USD', '/a $0.01'],
  ],
  [
    { interval: 'month', plans: [{ price: '$20' }, { price: '$0.01', unit: 'call' }] },
    ['/a 20 per month USD', '/a $0.01'],
  ],
])('a price is one of a single use where nothing next to it says otherwise: %j', (terms, meant) => {
  expect(pricesOf(sold(terms))).toEqual(meant)
})

test.each<[object, string[]]>([
  [{ price: 5, currency: { code: 'EUR', name: 'Euro' } }, ['/a 5 EUR']],
  [{ price: { value: 5, currency: { symbol: 'JPY' } } }, ['/a 5 JPY']],
  [{ price: 5, currencies: ['EUR'] }, ['/a 5 EUR']],
  [{ price: 5, acceptedTokens: ['DAI'] }, ['/a 5 DAI']],
  [{ price: 5, acceptedTokens: ['USDC', 'EURC'] }, ['/a 5 USDC, EURC']],
  [{ price: 5, acceptedTokens: ['USDC'] }, ['/a $5']],
  [{ amount: '10000', acceptedTokens: ['USDC'] }, ['/a $0.01']],
  [{ price: 5, currency: 'USD', acceptedTokens: ['DAI'] }, ['/a $5']],
  [{ cost: 5, costUnit: 'credits' }, ['/a 5 credits']],
  [{ amount: '10000', currency: 'USD' }, ['/a 10000 USD']],
  [{ price: '$10000' }, ['/a $10000']],
])('a price is in no dollars where what it is in is said in another form: %j', (terms, meant) => {
  expect(pricesOf(sold(terms))).toEqual(meant)
})

test('what a map of prices says of all of them holds for each that does not say it', () => {
  const pricing = { currency: 'EUR', unit: 'month', basic: { price: 5 }, pro: { price: '$9', unit: 'call' } }
  expect(pricesOf({ network: 'base', payTo, pricing })).toEqual(['basic 5 per month EUR', 'pro $9'])
  expect(pricesOf({ network: 'base', endpoints: { currency: 'EUR', '/a': 5 } })).toEqual(['/a 5 EUR'])
})

test('of several wallets the one on the network is to be paid, and none of another network', () => {
  const payee = (wallets: object, network?: string) =>
    pricesIn({ wallets, ...(network && { network }), items: [{ resource: '/a', price: '$1' }] }).prices[0]?.payTo
  expect(payee({ solana: 'So1a', base: payTo }, 'eip155:8453')).toBe(payTo)
  expect(payee({ solana: 'So1a' }, 'base')).toBeNull()
  expect(payee({ address: payTo }, 'base')).toBe(payTo)
  expect(payee({ base: payTo, solana: 'So1a' })).toBeNull()
})

const described = (operation: object) => ({
  openapi: '3.1.0',
  info: { title: 'Shop', version: '1' },
  paths: { '/a': { get: operation } },
})

test.each<[object, string[]]>([
  [{ 'x-price-usdc': '0.02' }, ['GET /a $0.02']],
  [{ 'x-price-eur': '0.02' }, ['GET /a 0.02 EUR']],
  [{ 'x-cost': { amount: '0.02', currency: 'USDC' } }, ['GET /a $0.02']],
  [{ 'x-price-per-call': '$0.02' }, ['GET /a $0.02']],
  [{ 'x-price': 0.02, 'x-network': 'base' }, ['GET /a $0.02']],
  [{ 'x-price': { credits: 5 } }, ['GET /a 5 credits']],
  [{ 'x-payment-required': { price: '0.02', currency: 'USDC', network: 'base' } }, ['GET /a $0.02']],
  [{ 'x-payment-info': { price: '0.02', unit: 'call' } }, ['GET /a $0.02']],
  [{ responses: { 402: { 'x-payment-info': { price: '0.02' } } } }, ['GET /a $0.02']],
  [{ 'x-price': 5, 'x-unit': '1M tokens', 'x-network': 'base' }, ['GET /a 5 per 1M tokens USDC']],
  [{ 'x-price': 0.02 }, []],
])('an operation with %j has its price', (operation, meant) => {
  expect(pricesOf(described(operation))).toEqual(meant)
})

const server = 'https://a.test/mcp'

test.each<[string, object, string[], string[]]>([
  ['all of it in `mcp`', { name: 'x', mcp: { url: server, tools: [{ name: 'a' }] } }, [server], ['a']],
  ['servers in `mcp`', { mcp: { version: '1', servers: [{ name: 'x', url: server }] } }, [server], []],
  ['the server as a text', { name: 'x', mcp_server: server, tools: ['a'] }, [server], ['a']],
  ['`serverUrl` in a map', { servers: { one: { serverUrl: server } } }, [server], []],
  ['a client’s program', { mcpServers: { one: { command: 'npx', args: ['mcp-remote', server] } } }, [server], []],
  [
    'tools as functions',
    { name: 'x', url: server, tools: [{ type: 'function', function: { name: 'a' } }] },
    [server],
    ['a'],
  ],
  ['tools by other keys', { name: 'x', url: server, tools: [{ tool: 'a' }, { toolName: 'b' }] }, [server], ['a', 'b']],
])('a card of an MCP server with %s is read', (_, document, places, tools) => {
  const content = readContent.mcp(document)
  expect(content?.details.interfaces?.map(({ url }) => url)).toEqual(places)
  expect(content?.tools).toEqual(tools)
})

const skills = [{ id: 'a', name: 'A', tags: ['x'] }]

test.each<[string, object, string[]]>([
  ['one level further in', { agentCard: { name: 'n', url: server, skills } }, ['A']],
  ['with its name shown', { displayName: 'n', url: server, skills }, ['A']],
  ['with skills among its capabilities', { name: 'n', endpoint: server, capabilities: { skills } }, ['A']],
  ['without skills', { name: 'n', url: server, capabilities: {}, defaultInputModes: ['text'] }, []],
])('an agent card %s is read', (_, document, meant) => {
  const content = readContent.a2a(document)
  expect(content).toMatchObject({ title: 'n', skills: meant, details: { interfaces: [{ url: server }] } })
})

test('what has a name and an address alone is neither a card nor a manifest', () => {
  for (const document of [
    { name: 'n', url: server },
    { name: 'n', url: server, data: { name: 'm' } },
    { services: [{ name: 'n', price: '5' }], currency: 'EUR' },
    { name: 'n', value: 5, asset: usdc },
  ])
    for (const kind of ['a2a', 'mcp', 'x402', 'openapi', 'web'] as const)
      expect(readContent[kind](document)).toBeUndefined()
})
