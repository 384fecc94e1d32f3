import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server'
import { mcpLimits } from '../../config/limits.protocols.ts'
import { openApiDocument } from '../docs/openapi.ts'
import { invalidRequest } from '../http/errors.ts'
import type { Route } from '../http/route.ts'
import { routes } from '../routes.ts'

const { rows } = mcpLimits

type Json = Record<string, unknown>

/** A route as an MCP tool: its arguments are the route's parameters by name, its result is the route's answer. */
export interface Tool {
  readonly name: string
  readonly description: string
  readonly route: Route
  readonly input: StandardSchemaWithJSON<Json>
  readonly output: StandardSchemaWithJSON<Json>
}

/** The MCP tools: one for each route whose definition has `tool`. */
export function createTools(): Tool[] {
  const { paths, components } = openApiDocument() as unknown as OpenApi
  return routes.flatMap((route) => {
    const operation = paths[route.path]?.get
    if (!route.tool || !operation) return []
    return {
      name: route.tool.name,
      description: route.tool.use,
      route,
      input: described(inputOf(operation, route.tool.untold)),
      output: described(outputOf(operation, components)),
    }
  })
}

interface OpenApi {
  readonly paths: Record<string, { readonly get?: OpenApiGet }>
  readonly components: { readonly schemas: Record<string, Json> }
}

interface OpenApiGet {
  readonly parameters?: readonly {
    readonly name: string
    readonly in: string
    readonly schema: Json
    readonly description?: string
  }[]
  readonly responses: { readonly '200': { readonly content: Record<string, { readonly schema: Json }> } }
}

/** Keywords of a parameter's schema that are shown to callers; the route itself refuses or corrects wrong values. */
const told = ['type', 'enum', 'items', 'default', 'maximum', 'description'] as const

const toldOf = (schema: Json): Json =>
  Object.fromEntries(told.filter((key) => key in schema).map((key) => [key, schema[key]]))

function inputOf({ parameters: all = [] }: OpenApiGet, untold: readonly string[] = []): Json {
  const parameters = all.filter(({ name }) => !untold.includes(name))
  const properties = parameters.map(({ name, schema, description }) => {
    const [said] = String(description ?? schema.description).split(/\. |; also /)
    const bounds = name === 'limit' ? { maximum: rows.maximum, default: rows.fallback } : {}
    const items = 'items' in schema ? { items: toldOf(schema.items as Json) } : {}
    return [name, toldOf({ ...schema, ...items, ...bounds, description: said })]
  })
  const required = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name)
  return { type: 'object', properties: Object.fromEntries(properties), required }
}

/** Schema with the names of the fields that every answer has: whole schemas would fill a model's context window. */
function outputOf({ responses }: OpenApiGet, { schemas }: OpenApi['components']): Json {
  const resolved = (schema: Json): Json => {
    const name = typeof schema.$ref === 'string' ? schema.$ref.split('/').at(-1) : undefined
    return name === undefined ? schema : resolved(schemas[name] ?? {})
  }
  const [content] = Object.values(responses['200'].content)
  const answer = resolved(content?.schema ?? {})
  const [first = [], ...others] = ((answer.anyOf ?? [answer]) as Json[]).map(
    (shape) => (resolved(shape).required ?? []) as string[],
  )
  return { type: 'object', required: first.filter((name) => others.every((names) => names.includes(name))) }
}

/** A schema that is shown to clients and checks nothing: the route corrects or refuses arguments as for any request. */
function described(schema: Json): StandardSchemaWithJSON<Json> {
  const tell = () => schema
  return {
    '~standard': {
      version: 1,
      vendor: 'agent-directory',
      validate: (value) => ({ value: value as Json }),
      jsonSchema: { input: tell, output: tell },
    },
  }
}

/** Parameters that are a list in one text, between commas; a call may give them as lists. */
const commaLists = ['fields', 'fids', 'addresses']
const isText = (value: unknown): value is string => typeof value === 'string'
const isWhole = (value: unknown) => Number.isInteger(value) || (typeof value === 'string' && /^-?\d+$/.test(value))

/** What is wrong about the type of an argument, by its schema; undefined: nothing. The route judges a path's own texts. */
function wrongType(name: string, value: unknown, type: unknown, isPath: boolean): string | undefined {
  if (type === undefined) return undefined
  if (type === 'integer') return isWhole(value) || (isPath && isText(value)) ? undefined : 'must be a whole number'
  if (commaLists.includes(name) && Array.isArray(value)) {
    return value.every((one) => isText(one) || isWhole(one)) ? undefined : 'must be a list of texts'
  }
  if (type === 'array') return [value].flat().every(isText) ? undefined : 'must be a list of texts'
  return isText(value) || (commaLists.includes(name) && isWhole(value)) ? undefined : 'must be a text'
}

/** Never throws: what a value holds that no schema asks for, however deep, is left out. */
const textOf = (value: unknown) => (typeof value === 'object' ? '{}' : String(value))

/**
 * Arguments of a call as query parameters: texts, or lists where a parameter may be repeated; `limit` is bounded. Throws
 * when an argument is of another type than its schema says.
 */
export function asQuery({ route: { query }, input }: Tool, args: Json): Record<string, string | string[]> {
  const schema = input['~standard'].jsonSchema.input({ target: 'draft-2020-12' })
  const { properties, required } = schema as { properties: Record<string, Json>; required: string[] }
  const given = Object.entries(args).filter(([, value]) => value !== undefined && value !== null)
  const texts = given.map(([name, value]): [string, string | string[]] => {
    const type = Object.hasOwn(properties, name) ? properties[name]?.type : undefined
    const wrong = wrongType(name, value, type, required.includes(name))
    if (wrong !== undefined) throw invalidRequest(`argument ${name}`, wrong)
    if (!Array.isArray(value)) return [name, textOf(value)]
    return [name, type === 'array' || type === undefined ? value.map(textOf) : value.map(textOf).join(',')]
  })
  const asked = Object.fromEntries(texts)
  if (!('limit' in query.shape)) return asked
  const wanted = Number(asked.limit ?? rows.fallback)
  return { ...asked, limit: String(Number.isInteger(wanted) ? Math.min(wanted, rows.maximum) : rows.fallback) }
}
