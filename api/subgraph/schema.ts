import { buildSchema, type GraphQLScalarType, type GraphQLSchema, Kind as NodeKind, type ValueNode } from 'graphql'
import { subgraphLimits } from '../../config/limits.protocols.ts'
import { type Entity, entities, type IdField } from '../../db/queries/subgraph/entities.ts'
import { type Field, feedbackFileFields, type Kind } from '../../db/queries/subgraph/fields.ts'
import { filtersOf, takesList } from '../../db/queries/subgraph/filter.ts'

/** Names at the root: one by its id, and lists. The second list of metadata is how graph-node names it. */
const roots = {
  Agent: { one: 'agent', lists: ['agents'] },
  AgentRegistrationFile: { one: 'agentRegistrationFile', lists: ['agentRegistrationFiles'] },
  Feedback: { one: 'feedback', lists: ['feedbacks'] },
  FeedbackResponse: { one: 'feedbackResponse', lists: ['feedbackResponses'] },
  AgentMetadata: { one: 'agentMetadata', lists: ['agentMetadatas', 'agentMetadata_collection'] },
} as const satisfies Record<keyof typeof entities, object>

/** Lists of an entity's row, by the entity that they are of. */
export const nestedLists = {
  Agent: { feedback: 'Feedback', metadata: 'AgentMetadata' },
  AgentRegistrationFile: {},
  Feedback: { responses: 'FeedbackResponse' },
  FeedbackResponse: {},
  AgentMetadata: {},
} as const satisfies Record<keyof typeof entities, Record<string, keyof typeof entities>>

/** Other rows that a row belongs to. */
export const owners = { agent: 'Agent', feedback: 'Feedback' } as const

/** What the public schema has besides, always empty here: nothing says it on a chain, and files are not kept whole. */
const emptyOfFeedbackFile = {
  agentRegistry: 'String',
  createdAtIso: 'String',
  text: 'String',
  mcpTool: 'String',
  mcpPrompt: 'String',
  mcpResource: 'String',
  a2aSkills: '[String!]!',
  a2aContextId: 'String',
  a2aTaskId: 'String',
  oasfSkills: '[String!]!',
  oasfDomains: '[String!]!',
  tag1: 'String',
  tag2: 'String',
} as const

const scalars: Readonly<Record<Kind, string>> = {
  text: 'String',
  bytes: 'Bytes',
  integer: 'BigInt',
  decimal: 'BigDecimal',
  time: 'BigInt',
  flag: 'Boolean',
  texts: 'String',
  addresses: 'Bytes',
}
const isMany = (kind: Kind) => kind === 'texts' || kind === 'addresses'

const fieldLines = (fields: Readonly<Record<string, Field>>, besides: readonly string[] = []) =>
  Object.entries(fields).flatMap(([name, { kind, optional }]) =>
    besides.includes(name)
      ? []
      : [`${name}: ${isMany(kind) ? `[${scalars[kind]}!]!` : scalars[kind] + (optional ? '' : '!')}`],
  )

const filterLines = (fields: Readonly<Record<string, Field>>, ids: Readonly<Record<string, IdField>> = {}) =>
  [...filtersOf(fields, ids)].map(([name, { kind, operator }]) => {
    const type = kind === 'id' ? 'ID' : scalars[kind]
    return `${name}: ${takesList(kind, operator) ? `[${type}!]` : type}`
  })

const listArguments = (name: string) =>
  `(first: Int = ${subgraphLimits.usualPage}, skip: Int = 0, orderBy: ${name}_orderBy, orderDirection: OrderDirection, where: ${name}_filter)`

function typeOf(name: keyof typeof entities, { fields, ids, files }: Entity): string {
  const related = Object.entries(ids).map(([id, _]) => {
    if (id in owners && !(id in fields)) return `${id}: ${owners[id as keyof typeof owners]}!`
    return `${id}: ${id === 'id' ? 'ID' : 'String'}!`
  })
  const lists = Object.entries(nestedLists[name]).map(([field, of]) => `${field}${listArguments(of)}: [${of}!]!`)
  const own = Object.keys(files).map((field) => `${field}: ${fileTypes[field as keyof typeof fileTypes]}`)
  return block('type', name, [...related, ...fieldLines(fields, Object.keys(ids)), ...own, ...lists])
}

/** Types of files by the field that they are in. */
const fileTypes = { registrationFile: 'AgentRegistrationFile', feedbackFile: 'FeedbackFile' } as const

function inputsOf(name: string, { fields, ids, files, filtered, orders }: Entity): string[] {
  const inFiles = Object.keys(files).map((field) => `${field}_: ${fileTypes[field as keyof typeof fileTypes]}_filter`)
  const filters = [...filterLines({ ...fields, ...filtered }, ids), ...inFiles]
  return [
    block('input', `${name}_filter`, [...filters, `and: [${name}_filter!]`, `or: [${name}_filter!]`]),
    block('enum', `${name}_orderBy`, Object.keys(orders)),
  ]
}

const block = (kind: string, name: string, lines: readonly string[]) => `${kind} ${name} {\n  ${lines.join('\n  ')}\n}`

/** The schema as text, by the names of the public subgraph of ERC-8004. */
function schemaText(): string {
  const names = Object.keys(entities) as (keyof typeof entities)[]
  const queries = names.flatMap((name) => [
    `${roots[name].one}(id: ID!): ${name}`,
    ...roots[name].lists.map((list) => `${list}${listArguments(name)}: [${name}!]!`),
  ])
  const emptyLines = Object.entries(emptyOfFeedbackFile).map(([name, type]) => `${name}: ${type}`)
  return [
    'scalar BigInt\nscalar BigDecimal\nscalar Bytes\nenum OrderDirection {\n  asc\n  desc\n}',
    block('type', 'Query', queries),
    ...names.flatMap((name) => [typeOf(name, entities[name]), ...inputsOf(name, entities[name])]),
    block('type', 'FeedbackFile', [...fieldLines(feedbackFileFields), ...emptyLines]),
    block('input', 'FeedbackFile_filter', filterLines(feedbackFileFields)),
  ].join('\n\n')
}

/** The entity that a field at the root is of, and whether it is a list. */
export const rootFields = new Map<string, { readonly entity: keyof typeof entities; readonly isList: boolean }>(
  Object.entries(roots).flatMap(([entity, { one, lists }]) =>
    [one, ...lists].map((name) => [name, { entity: entity as keyof typeof entities, isList: name !== one }] as const),
  ),
)

export const emptyFeedbackFile = Object.fromEntries(
  Object.entries(emptyOfFeedbackFile).map(([name, type]) => [name, type.startsWith('[') ? [] : null]),
)

/** Numbers are decimal text, as those of a chain are too large for JSON; a number in JSON or in a query is as good. */
export function buildSubgraphSchema(): GraphQLSchema {
  const schema = buildSchema(schemaText())
  for (const name of ['BigInt', 'BigDecimal', 'Bytes']) {
    const scalar = schema.getType(name) as GraphQLScalarType
    scalar.parseValue = textOf
    scalar.parseLiteral = (node: ValueNode) =>
      'value' in node && node.kind !== NodeKind.BOOLEAN ? node.value : textOf(node.kind)
  }
  return schema
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number' && Number.isFinite(value))
    return Number.isInteger(value) ? String(BigInt(value)) : String(value)
  throw new TypeError('must be a number or a text')
}
