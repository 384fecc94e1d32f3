import { gzipSync } from 'node:zlib'
import { chains, findChain } from '../../config/chains.ts'
import { addressesOf } from '../chain/genesis.ts'
import { demandFor, paidEndpoint } from './sellers.ts'
import type { Page, WebHost } from './web-host.ts'

/** A seller with one fault, and the codes of the doctor that name it. */
interface FaultySeller {
  readonly name: string
  readonly codes: readonly string[]
  /** The answer of its endpoint at this address. */
  readonly page: (url: string) => Page
  /** Whether its address begins with https, where the host speaks plain HTTP. */
  readonly withoutTls?: true
}

type Demand = ReturnType<typeof demandFor>
type Way = Demand['accepts'][number]

const payTo = '0x209693bc6afc0c5328ba36faf03c514ef312287c'
const dollarOfPolygon = chains.polygon.tokens[0]!.address
const someToken = '0x1111111111111111111111111111111111111111'
const { batcher, keeper, refusingToken, unlistedToken } = addressesOf(findChain(String(chains.base.id))!)

/** An endpoint whose demand says this instead; undefined takes a member away. */
const saying = (url: string, changes: object): Page => answering({ ...demandFor({ url, payTo }), ...changes })
/** An endpoint whose way to pay says this instead. */
const asking = (url: string, changes: Partial<Record<keyof Way | 'maxAmountRequired', unknown>>): Page => {
  const demand = demandFor({ url, payTo })
  return answering({ ...demand, accepts: [{ ...demand.accepts[0], ...changes }] })
}

function answering(demand: object): Page {
  const good = paidEndpoint({ url: '', payTo })
  const header = Buffer.from(JSON.stringify(demand)).toString('base64')
  return { ...good, headers: { ...good.headers, 'payment-required': header }, body: demand }
}

function without(page: Page, header: string): Page {
  const { [header]: _, ...headers } = page.headers ?? {}
  return { ...page, headers }
}

const bazaar = (info: object, schema: unknown = { type: 'object', required: ['input'] }) => ({
  extensions: { bazaar: { info, schema } },
})

/** One row a fault: `npm start` has them on a host of their own, and the doctor is held to them. */
export const faultySellers: readonly FaultySeller[] = [
  { name: 'no fault', codes: [], page: (url) => paidEndpoint({ url, payTo }) },
  { name: 'says nothing', codes: ['demand_missing'], page: () => ({ status: 402, body: 'Pay me' }) },
  { name: 'an empty object', codes: ['demand_missing'], page: () => ({ status: 402, body: {} }) },
  {
    name: 'a header of something else',
    codes: ['demand_unreadable'],
    page: (url) => ({ ...paidEndpoint({ url, payTo }), headers: { 'payment-required': 'pay me' } }),
  },
  {
    name: 'JSON that is not encoded',
    codes: ['demand_unreadable'],
    page: (url) => ({
      status: 402,
      headers: { 'payment-required': JSON.stringify(demandFor({ url, payTo })) },
      body: {},
    }),
  },
  { name: 'no version', codes: ['demand_version'], page: (url) => asVersionOne(url, { x402Version: undefined }) },
  { name: 'version 3', codes: ['demand_version'], page: (url) => asVersionOne(url, { x402Version: 3 }) },
  { name: 'version as a text', codes: ['demand_version'], page: (url) => asVersionOne(url, { x402Version: '1' }) },
  {
    name: 'version 2 in the body alone',
    codes: ['demand_without_header'],
    page: (url) => without(paidEndpoint({ url, payTo }), 'payment-required'),
  },
  {
    name: 'another payee in the body',
    codes: ['demand_differs'],
    page: (url) => ({ ...paidEndpoint({ url, payTo }), body: demandFor({ url, payTo: someToken }) }),
  },
  {
    name: 'another price in the body',
    codes: ['demand_differs'],
    page: (url) => ({ ...paidEndpoint({ url, payTo }), body: demandFor({ url, payTo, amount: '20000' }) }),
  },
  { name: 'a page in the body', codes: [], page: (url) => ({ ...paidEndpoint({ url, payTo }), body: '<p>Pay' }) },
  { name: 'no ways', codes: ['no_way_to_pay'], page: (url) => saying(url, { accepts: [] }) },
  { name: 'ways that are no list', codes: ['no_way_to_pay'], page: (url) => saying(url, { accepts: {} }) },
  { name: 'no scheme', codes: ['field_missing'], page: (url) => asking(url, { scheme: undefined }) },
  { name: 'no network', codes: ['field_missing'], page: (url) => asking(url, { network: undefined }) },
  { name: 'no asset', codes: ['field_missing'], page: (url) => asking(url, { asset: undefined }) },
  { name: 'no payee', codes: ['field_missing'], page: (url) => asking(url, { payTo: undefined }) },
  { name: 'no amount', codes: ['field_missing'], page: (url) => asking(url, { amount: undefined }) },
  {
    name: 'the amount of version 1',
    codes: ['field_missing'],
    page: (url) => asking(url, { amount: undefined, maxAmountRequired: '10000' }),
  },
  {
    name: 'a network of version 1',
    codes: ['network_form'],
    page: (url) => asking(url, { network: chains.base.feedTerm }),
  },
  { name: 'a number as network', codes: ['network_form'], page: (url) => asking(url, { network: '8453' }) },
  {
    name: 'a network of nobody',
    codes: ['network_unknown'],
    page: (url) => asking(url, { network: 'eip155:99999999' }),
  },
  { name: 'a network for tests', codes: ['testnet'], page: (url) => asking(url, { network: 'eip155:84532' }) },
  {
    name: 'Solana',
    codes: [],
    page: (url) =>
      asking(url, {
        network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
        asset: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
        payTo: '7EqQdEULxWcraVx3mXKFjc84LhCkMGZCkRuDpvcMwJeK',
      }),
  },
  { name: 'a symbol as asset', codes: ['asset_malformed'], page: (url) => asking(url, { asset: 'USDC' }) },
  {
    name: 'a cut asset',
    codes: ['asset_malformed'],
    page: (url) => asking(url, { asset: dollarOfPolygon.slice(0, -2) }),
  },
  {
    name: 'the dollar of another network',
    codes: ['asset_elsewhere', 'asset_without_code'],
    page: (url) => asking(url, { asset: dollarOfPolygon }),
  },
  { name: 'a token of its own', codes: ['asset_unknown'], page: (url) => asking(url, { asset: unlistedToken }) },
  {
    name: 'a token that is not there',
    codes: ['asset_unknown', 'asset_without_code'],
    page: (url) => asking(url, { asset: someToken }),
  },
  {
    name: 'a contract that is no token',
    codes: ['asset_unknown', 'asset_method'],
    page: (url) => asking(url, { asset: batcher }),
  },
  {
    name: 'Permit2 from a contract that is no token',
    codes: ['asset_unknown', 'asset_method'],
    page: (url) => asking(url, { asset: batcher, extra: { assetTransferMethod: 'permit2' } }),
  },
  {
    name: 'Permit2 from a token',
    codes: [],
    page: (url) => asking(url, { extra: { assetTransferMethod: 'permit2' } }),
  },
  {
    name: 'a token that moves nothing',
    codes: ['asset_unknown', 'pay_to_refused'],
    page: (url) => asking(url, { asset: refusingToken }),
  },
  {
    name: 'a payee that keeps all it gets',
    codes: ['pay_to_stuck'],
    page: (url) => asking(url, { payTo: keeper }),
  },
  { name: 'a contract as payee', codes: [], page: (url) => asking(url, { payTo: batcher }) },
  { name: 'no name of the token', codes: ['token_domain'], page: (url) => asking(url, { extra: { version: '2' } }) },
  { name: 'nothing of the token', codes: ['token_domain'], page: (url) => asking(url, { extra: undefined }) },
  { name: 'a name as payee', codes: ['pay_to_malformed'], page: (url) => asking(url, { payTo: 'seller.eth' }) },
  { name: 'an unset payee', codes: ['pay_to_malformed'], page: (url) => asking(url, { payTo: '0xYourAddress' }) },
  { name: 'nobody as payee', codes: ['pay_to_zero'], page: (url) => asking(url, { payTo: `0x${'0'.repeat(40)}` }) },
  {
    name: 'its token as payee',
    codes: ['pay_to_token', 'asset_unknown', 'asset_without_code'],
    page: (url) => asking(url, { asset: someToken, payTo: someToken }),
  },
  { name: 'another token as payee', codes: ['pay_to_token'], page: (url) => asking(url, { payTo: dollarOfPolygon }) },
  { name: 'dollars as amount', codes: ['amount_malformed'], page: (url) => asking(url, { amount: '0.01' }) },
  { name: 'a number as amount', codes: ['amount_malformed'], page: (url) => asking(url, { amount: 10_000 }) },
  { name: 'a negative amount', codes: ['amount_malformed'], page: (url) => asking(url, { amount: '-1' }) },
  { name: 'a sign of dollars', codes: ['amount_malformed'], page: (url) => asking(url, { amount: '$0.01' }) },
  { name: 'nothing to pay', codes: ['amount_zero'], page: (url) => asking(url, { amount: '0' }) },
  { name: 'eighteen decimals', codes: ['amount_large'], page: (url) => asking(url, { amount: '10000000000000000' }) },
  { name: 'no time to pay', codes: ['time_to_pay'], page: (url) => asking(url, { maxTimeoutSeconds: undefined }) },
  { name: 'time that is over', codes: ['time_to_pay'], page: (url) => asking(url, { maxTimeoutSeconds: 0 }) },
  { name: 'a time of expiry', codes: ['time_to_pay'], page: (url) => asking(url, { maxTimeoutSeconds: '2026-12-01' }) },
  { name: 'three seconds', codes: ['time_to_pay_short'], page: (url) => asking(url, { maxTimeoutSeconds: 3 }) },
  {
    name: 'a resource behind the proxy',
    codes: ['resource_elsewhere'],
    page: (url) => saying(url, { resource: { url: 'http://localhost:4021/paid' } }),
  },
  { name: 'a catalog entry without input', codes: ['discovery_malformed'], page: (url) => saying(url, bazaar({})) },
  {
    name: 'a catalog entry with an unknown method',
    codes: ['discovery_malformed'],
    page: (url) => saying(url, bazaar({ input: { type: 'http', method: 'FETCH' } })),
  },
  {
    name: 'a catalog entry without a type of body',
    codes: ['discovery_malformed'],
    page: (url) => saying(url, bazaar({ input: { type: 'http', method: 'POST' } })),
  },
  {
    name: 'a catalog entry without a tool’s name',
    codes: ['discovery_malformed'],
    page: (url) => saying(url, bazaar({ input: { type: 'mcp', inputSchema: {} } })),
  },
  {
    name: 'a catalog entry with a schema elsewhere',
    codes: ['discovery_malformed'],
    page: (url) =>
      saying(
        url,
        bazaar(
          { input: { type: 'http', method: 'GET' } },
          { required: ['input'], $ref: 'https://elsewhere.example/schema' },
        ),
      ),
  },
  {
    name: 'a catalog entry whose schema asks for nothing',
    codes: ['discovery_malformed'],
    page: (url) => saying(url, bazaar({ input: { type: 'http', method: 'GET' } }, { type: 'object' })),
  },
  {
    name: 'a catalog entry against its own schema',
    codes: ['discovery_malformed'],
    page: (url) =>
      saying(
        url,
        bazaar(
          { input: { type: 'http', method: 'GET' } },
          { required: ['input'], properties: { input: { required: ['queryParams'] } } },
        ),
      ),
  },
  {
    name: 'a good catalog entry',
    codes: [],
    page: (url) => saying(url, bazaar({ input: { type: 'http', method: 'GET' } })),
  },
  {
    name: 'nothing for browsers',
    codes: ['cors_closed'],
    page: (url) => without(paidEndpoint({ url, payTo }), 'access-control-allow-origin'),
  },
  {
    name: 'a header that is not exposed',
    codes: ['cors_closed'],
    page: (url) => without(paidEndpoint({ url, payTo }), 'access-control-expose-headers'),
  },
  { name: 'version 1', codes: [], page: (url) => asVersionOne(url) },
  {
    name: 'version 1 without an amount',
    codes: ['field_missing'],
    page: (url) => asVersionOne(url, {}, { maxAmountRequired: undefined }),
  },
  { name: 'a server that fails', codes: ['http_5xx'], page: () => ({ status: 500, body: 'Oh no' }) },
  { name: 'a place that is gone', codes: ['not_found'], page: () => ({ status: 404, body: 'Gone' }) },
  { name: 'a wall', codes: ['http_4xx'], page: () => ({ status: 403, body: 'Are you human?' }) },
  { name: 'a question for credentials', codes: ['auth_required'], page: () => ({ status: 401, body: {} }) },
  { name: 'a page', codes: ['not_json'], page: () => ({ body: '<!doctype html><p>Soon' }) },
  { name: 'something else', codes: ['schema_mismatch'], page: () => ({ body: { hello: 'world' } }) },
  {
    name: 'a compressed body',
    codes: ['encoded'],
    page: () => ({ headers: { 'content-encoding': 'gzip' }, body: gzipSync('{}') }),
  },
  { name: 'a page without an end', codes: ['too_large'], page: () => ({ body: ' '.repeat(2 * 1024 * 1024 + 1) }) },
  { name: 'no TLS behind https', codes: ['tls_error'], page: () => ({ body: '' }), withoutTls: true },
  { name: 'a redirect without a place', codes: ['redirect_refused'], page: () => ({ status: 302, body: '' }) },
]

/** The terms in version 1 of x402, which has them in the body. */
function asVersionOne(url: string, changes: object = {}, ofWay: object = {}): Page {
  const { accepts } = demandFor({ url, payTo, network: chains.base.feedTerm })
  const ways = accepts.map(({ amount, ...way }) => ({ ...way, maxAmountRequired: amount, resource: url, ...ofWay }))
  const page = without(paidEndpoint({ url, payTo }), 'payment-required')
  return { ...page, body: { x402Version: 1, accepts: ways, ...changes } }
}

/** Serves every seller at a path made of its name, and a list of their addresses with the codes that name their faults. */
export function publishFaultySellers({ url, pages }: Pick<WebHost, 'url' | 'pages'>): void {
  const listed = faultySellers.map(({ name, codes, page, withoutTls }) => {
    const path = `/${name.replaceAll(/\W+/g, '-')}`
    const address = `${withoutTls ? url.replace(/^http:/, 'https:') : url}${path}`
    pages.set(path, page(address))
    return { url: address, codes }
  })
  pages.set('/', { body: listed })
}
