import { z } from 'zod'
import type { SpecContent } from '../../db/queries/sources/agent-specs.ts'
import type { Fetched } from '../../net/door.ts'
import { textOf } from '../../trust/strict-json.ts'
import { parsed, shortText } from './content.ts'
import { contentOf, interfacesIn, isRegistrationFile } from './listing.ts'
import { fieldsOf, membersOf } from './offers/spellings.ts'
import { commonTerms, isPriced, thingsOf } from './offers/walk.ts'

/** Keys of other documents that hold lists of services or resources, too. */
const otherKinds = ['openapi', 'swagger', 'skills', 'serverInfo', 'mcpServers', 'jsonrpc']
/** Things of a list that are looked at to tell whether it is a manifest. */
const mostLooked = 200
/** Lists that make a manifest of whatever has a version; others do where something in them can be paid for. */
const ownLists = ['resources', 'items', 'accepts']

/**
 * Reads an x402 manifest, by what its keys mean (offers/spellings.ts); undefined: not one. Source: x402 specification v2,
 * 8; files in use have more shapes than it.
 */
export function toX402Manifest(value: unknown): SpecContent | undefined {
  const fields = fieldsOf(value)
  if (otherKinds.some((key) => key in fields) || isRegistrationFile(value)) return undefined
  const things = thingsOf(value)
  const members = membersOf(value)
  const version =
    members.get('version') ??
    things
      .slice(0, mostLooked)
      .map((thing) => membersOf(thing).get('version'))
      .find((one) => one != null)
  const isVersioned = shortText(version) !== null && ownLists.some((key) => Array.isArray(fields[key]))
  const around = commonTerms(value)
  const isPaid = (one: unknown) => membersOf(one).get('payTo') !== undefined || isPriced(one, around)
  if (
    things.length === 0 ||
    !(isVersioned || members.get('payTo') !== undefined || isPriced(value) || things.slice(0, mostLooked).some(isPaid))
  )
    return undefined
  const title = shortText(members.get('title'))
  return contentOf({
    title,
    version: shortText(version),
    pathCount: things.length,
    interfaces: interfacesIn(things.slice(0, mostLooked).map(placeIn)),
  })
}

/** Where a thing is sold, and how it is asked for, as a place that requests are taken at. */
function placeIn(thing: unknown): object {
  const members = membersOf(thing)
  const resource = members.get('resource')
  const url = typeof thing === 'string' ? thing : (membersOf(resource).get('resource') ?? resource)
  const [, method = members.get('method'), path = url] = /^([A-Z]{3,7}) (\/.*)$/.exec(textOf(url)) ?? []
  return { url: path, binding: method }
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

/** Whether an answer demands payment in an error of MCP, where no header is needed. Source: x402, transports-v1/mcp, v2/mcp. */
export const isOfMcp = ({ body }: Pick<Fetched, 'body'>) => rpcError.safeParse(parsed(body)).success
