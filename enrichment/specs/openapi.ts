import type { SpecContent } from '../../db/queries/sources/agent-specs.ts'
import { shortText } from './content.ts'
import { contentOf, interfacesIn, securityIn } from './listing.ts'
import { fieldsOf } from './offers/spellings.ts'

/** Parts one of which a description of version 3.1 has; those before have paths. Source: OpenAPI 3.1.1, 4.8.1. */
const parts = ['paths', 'webhooks', 'components']

/** Reads an OpenAPI description, version 2 (Swagger) or 3; undefined: not one. */
export function toOpenApi(value: unknown): SpecContent | undefined {
  const { openapi, swagger, info, servers, components, ...fields } = { ...fieldsOf(value) }
  const all = { ...fields, components }
  const isDescribed = /^3\.\d/.test(shortText(openapi) ?? '') || /^2(\.0)?$/.test(shortText(swagger) ?? '')
  const { title: named, version } = fieldsOf(info)
  const title = shortText(named)
  if (!isDescribed || title === null || !parts.some((part) => typeof all[part as 'components'] === 'object'))
    return undefined
  return contentOf({
    title,
    version: shortText(version),
    pathCount: Object.keys(fieldsOf(fields.paths)).length,
    interfaces: [...interfacesIn(servers), ...interfacesIn(oldPlace(fields))],
    security: securityIn(fieldsOf(components).securitySchemes ?? fields.securityDefinitions),
  })
}

/** Where an API of version 2 is: `host` with `basePath`; undefined: it does not say. */
function oldPlace({ host, basePath, schemes }: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof host !== 'string') return undefined
  const isPlain = Array.isArray(schemes) && !schemes.includes('https') && schemes.includes('http')
  return `${isPlain ? 'http' : 'https'}://${host}${typeof basePath === 'string' ? basePath : ''}`
}
