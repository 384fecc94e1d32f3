import { chains } from '../../config/chains.ts'
import type { Page } from './web-host.ts'

/** What a seller asks for; the rest of its demand is always the same. */
export interface Sale {
  /** Address of the paid endpoint. */
  readonly url: string
  readonly payTo: string
  /** CAIP-2. Default: Base. */
  readonly network?: string
  /** The token. Default: USDC on Base. */
  readonly asset?: string
  /** Base units. Default: a cent. */
  readonly amount?: string
  readonly extra?: object
}

const { id, tokens } = chains.base
const dollar = tokens[0]!.address

/** A demand for payment by x402, version 2. */
export function demandFor({ url, payTo, network = `eip155:${id}`, asset = dollar, amount = '10000', extra }: Sale) {
  return {
    x402Version: 2,
    error: 'PAYMENT-SIGNATURE header is required',
    resource: { url, description: 'An answer.', mimeType: 'application/json' },
    accepts: [
      {
        scheme: 'exact',
        network,
        asset,
        amount,
        payTo,
        maxTimeoutSeconds: 60,
        extra: { name: 'USD Coin', version: '2', ...extra },
      },
    ],
  }
}

/** The 402 answer of a paid endpoint: the demand in the header, as version 2 has it, and in the body for people. */
export function paidEndpoint(sale: Sale): Page {
  const demand = demandFor(sale)
  return {
    status: 402,
    headers: {
      'payment-required': Buffer.from(JSON.stringify(demand)).toString('base64'),
      'access-control-allow-origin': '*',
      'access-control-expose-headers': 'PAYMENT-REQUIRED, PAYMENT-RESPONSE',
    },
    body: demand,
  }
}
