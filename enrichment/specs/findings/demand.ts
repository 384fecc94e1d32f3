import type { Fetched } from '../../../net/door.ts'
import { textOf } from '../../../trust/strict-json.ts'
import { parsed } from '../content.ts'
import { leadsAway } from '../offers/resources.ts'
import { fieldsOf } from '../offers/spellings.ts'
import { demandOf, isOfMcp } from '../x402.ts'
import { type Finding, finding } from './finding.ts'
import { misfit } from './own-schema.ts'
import { findingsOfWay } from './way.ts'

/** Ways to pay that are looked at. */
const mostWays = 20

type Answer = Pick<Fetched, 'headers' | 'body'>

/**
 * What is wrong with a 402 answer of this endpoint; none: a client can pay it, as far as the answer tells. Never throws.
 *
 * Source: x402 specification v2 (5.1; transports-v2/http) and v1.
 */
export function findingsOfDemand(answer: Answer, endpoint: URL): Finding[] {
  const header = answer.headers.get('payment-required')
  const named = header === undefined ? undefined : parsed(Buffer.from(header, 'base64'))
  if (header !== undefined && !isObject(named)) return [finding('demand_unreadable', header)]
  const demand = demandOf(answer)
  if (!isObject(demand) || (fieldsOf(demand).accepts === undefined && fieldsOf(demand).x402Version === undefined))
    return [finding('demand_missing')]
  const { x402Version: version, accepts } = fieldsOf(demand)
  const ways = Array.isArray(accepts) ? accepts.slice(0, mostWays) : []
  const isSecond = version === 2
  return [
    ...(isSecond || version === 1 ? [] : [finding('demand_version', version)]),
    ...(isSecond && named === undefined && !isOfMcp(answer) ? [finding('demand_without_header')] : []),
    ...(named !== undefined ? difference(named, parsed(answer.body)) : []),
    ...(ways.length === 0 ? [finding('no_way_to_pay')] : []),
    ...ways.flatMap((way) => findingsOfWay(way, isSecond)),
    ...elsewhere(demand, ways, endpoint),
    ...discovery(demand),
    ...closedToBrowsers(answer, named !== undefined),
  ]
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A body that demands nothing, as a page for people, differs in nothing. */
function difference(header: unknown, body: unknown): Finding[] {
  const terms = (demand: unknown) => {
    const { accepts } = fieldsOf(demand)
    return (Array.isArray(accepts) ? accepts : []).slice(0, mostWays).map((way) => {
      const { asset, payTo, amount, maxAmountRequired } = fieldsOf(way)
      return [asset, payTo, amount ?? maxAmountRequired].map((one) => textOf(one).toLowerCase()).join(' ')
    })
  }
  const said = new Set(terms(header))
  const other = terms(body).find((one) => !said.has(one))
  return other === undefined ? [] : [finding('demand_differs', other)]
}

function elsewhere(demand: object, ways: readonly unknown[], endpoint: URL): Finding[] {
  const { resource } = fieldsOf(demand)
  const named = fieldsOf(resource).url ?? fieldsOf(ways[0]).resource
  const url = typeof named === 'string' ? URL.parse(named) : null
  return url && url.origin !== endpoint.origin ? [finding('resource_elsewhere', named)] : []
}

const ways = { http: ['GET', 'HEAD', 'DELETE', 'POST', 'PUT', 'PATCH'] }

/** Source: x402 extension bazaar. */
function discovery(demand: object): Finding[] {
  const { bazaar } = fieldsOf(fieldsOf(demand).extensions)
  if (bazaar === undefined) return []
  const { info, schema } = fieldsOf(bazaar)
  const { type, method, toolName, inputSchema, bodyType } = fieldsOf(fieldsOf(info).input)
  const isCallable =
    (type === 'http' && (method === undefined || ways.http.includes(textOf(method)))) ||
    (type === 'mcp' && typeof toolName === 'string' && isObject(inputSchema))
  const hasBody = type === 'http' && ['POST', 'PUT', 'PATCH'].includes(textOf(method))
  if (!isCallable) return [finding('discovery_malformed', 'info.input')]
  if (hasBody && !['json', 'form-data', 'text'].includes(textOf(bodyType)))
    return [finding('discovery_malformed', 'info.input.bodyType')]
  if (!isObject(schema) || leadsAway(schema)) return [finding('discovery_malformed', 'schema')]
  const { required } = fieldsOf(schema)
  const isRequired = Array.isArray(required) && required.includes('input')
  if (!isRequired) return [finding('discovery_malformed', 'schema does not require input')]
  const place = misfit(info, schema)
  return place === undefined ? [] : [finding('discovery_malformed', `info does not fit its schema: ${place || '/'}`)]
}

/** Source: WHATWG Fetch, 3.3; a header that is not exposed cannot be read by a script of another origin. */
function closedToBrowsers({ headers }: Answer, isInHeader: boolean): Finding[] {
  const allowed = headers.get('access-control-allow-origin')
  const exposed = headers.get('access-control-expose-headers')?.toLowerCase() ?? ''
  if (allowed === undefined) return [finding('cors_closed', 'no Access-Control-Allow-Origin')]
  const isExposed = !isInHeader || /(^|[\s,])(payment-required|\*)($|[\s,])/.test(exposed)
  return isExposed ? [] : [finding('cors_closed', 'PAYMENT-REQUIRED is not exposed')]
}
