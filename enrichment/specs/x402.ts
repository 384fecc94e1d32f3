import { z } from 'zod'
import type { Fetched } from '../../net/door.ts'
import { parsed, type SpecContent, shortText } from './content.ts'

const version = z.union([z.string(), z.number()])
const list = z.array(z.union([z.string(), z.record(z.string(), z.unknown())]))

/** Forms of a manifest: a list of addresses, of offers as the discovery API sends them, or of ways to pay for one. */
const manifest = z
  .object({
    x402Version: version.optional(),
    version: version.optional(),
    name: z.string().optional(),
    resources: list.optional(),
    items: list.optional(),
    accepts: list.optional(),
  })
  .refine((fields) => (fields.x402Version ?? fields.version) !== undefined)

/** Reads an x402 manifest; undefined: not one. Source: x402 specification v2, 8; files in use have more shapes. */
export function toX402Manifest(value: unknown): SpecContent | undefined {
  const parsed = manifest.safeParse(value)
  if (!parsed.success) return undefined
  const { x402Version, version, name, resources, items, accepts } = parsed.data
  const offers = resources ?? items ?? accepts
  if (!offers) return undefined
  return {
    title: shortText(name),
    version: shortText(x402Version ?? version),
    skills: [],
    tools: [],
    pathCount: offers.length,
  }
}

const rpcError = z.object({ error: z.object({ data: z.record(z.string(), z.unknown()) }) })

/**
 * Payment that a 402 answer demands, not validated: from the header in version 2 of x402, from the body in version 1,
 * where an MCP server may put it in the data of an error. Undefined: the answer does not say.
 *
 * Source: x402 specification, transports-v2/http (PAYMENT-REQUIRED) and transports-v1/http and mcp.
 */
export function demandOf({ headers, body }: Pick<Fetched, 'headers' | 'body'>): unknown {
  const header = headers.get('payment-required')
  const named = header === undefined ? undefined : parsed(Buffer.from(header, 'base64'))
  if (named !== undefined) return named
  const value = parsed(body)
  return rpcError.safeParse(value).data?.error.data ?? value
}
