import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isInterfaceType,
  isObjectType,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql'
import { graphqlLimits } from '../../config/limits.protocols.ts'

/** Cost, in fields, of opening a list, and of counting all of its rows (`totalCount`), which may scan a whole table. */
const connectionPrice = 100
const countPrice = 2_000

/** An operation that is refused before its execution; the message says what would be right. */
export class Refused extends Error {}

/** What an operation may be at most. */
export interface OperationLimits {
  readonly cost: number
  readonly depth: number
  readonly introspectionCost: number
  readonly introspectionDepth: number
}

interface Measure {
  /** Cost, in fields, that a list around it pays for each row. */
  readonly cost: number
  /** Cost, in fields, that a list around it pays once, however long the page. */
  readonly once: number
  readonly depth: number
}

/** What is asked for of a document. */
interface Asked {
  readonly variables: Record<string, unknown>
  /** Name of the operation; undefined: its only one. */
  readonly operationName: string | undefined
}

/**
 * Weighs the operation that a document is asked for, with its variables. Throws Refused. Fragments are weighed once each,
 * however often they are spread, so that the weighing itself cannot be made expensive. Unknown names are left to the
 * validation that follows.
 */
export function weigh(
  schema: GraphQLSchema,
  document: DocumentNode,
  { variables, operationName }: Asked,
  limits: OperationLimits,
): void {
  const fragments = new Map<string, FragmentDefinitionNode>()
  for (const node of document.definitions) if (node.kind === 'FragmentDefinition') fragments.set(node.name.value, node)
  const node = askedOf(document, operationName)
  if (!node) return
  const scales = new Scales(schema, fragments, withDefaults(node, variables))
  const root = schema.getRootType(node.operation)
  if (!root) throw new Refused(`there is no ${node.operation} here, only queries`)
  const { introspection, data } = scales.weighRoot(node.selectionSet, root)
  check('depth', data.depth, limits.depth)
  check('cost', data.cost, limits.cost)
  check('depth of introspection', introspection.depth, limits.introspectionDepth)
  check('cost of introspection', introspection.cost, limits.introspectionCost)
}

/** The operation that is asked for; undefined: the document has none. Throws Refused where it is not told which one. */
function askedOf(document: DocumentNode, operationName: string | undefined): OperationDefinitionNode | undefined {
  const all = document.definitions.filter((node) => node.kind === 'OperationDefinition')
  const [only, ...others] = all
  if (others.length === 0) return only
  const [named, ...alike] = all.filter(({ name }) => name?.value === operationName)
  if (!named || alike.length > 0) throw new Refused('operationName must be the name of one operation of the document')
  return named
}

function check(what: string, value: number, most: number) {
  if (value > most) throw new Refused(`the ${what} of an operation must be at most ${most}, and is ${value}`)
}

function withDefaults(node: OperationDefinitionNode, variables: Record<string, unknown>): Record<string, unknown> {
  const defaults = (node.variableDefinitions ?? []).flatMap(({ variable, defaultValue }) =>
    defaultValue?.kind === 'IntValue' ? [[variable.name.value, Number(defaultValue.value)] as const] : [],
  )
  return { ...Object.fromEntries(defaults), ...variables }
}

/** Assumed lengths of the lists in introspection, by field. */
const introspectionLists: ReadonlyMap<string, number> = new Map([
  ['types', 100],
  ['fields', 20],
  ['args', 10],
  ['inputFields', 10],
  ['enumValues', 20],
  ['interfaces', 5],
  ['possibleTypes', 5],
  ['directives', 10],
])

/** Types of the fields at the root that introspection begins with. */
const metaTypes: ReadonlyMap<string, string> = new Map([
  ['__schema', '__Schema'],
  ['__type', '__Type'],
])

const nothing: Measure = { cost: 0, once: 0, depth: 0 }

class Scales {
  readonly #fragments = new Map<string, Measure | 'being weighed'>()

  constructor(
    readonly schema: GraphQLSchema,
    readonly definitions: ReadonlyMap<string, FragmentDefinitionNode>,
    readonly variables: Record<string, unknown>,
  ) {}

  weighRoot(set: SelectionSetNode, root: GraphQLNamedType | undefined) {
    const data = this.#weigh(set, root, ({ name: { value } }) => !metaTypes.has(value))
    this.#fragments.clear()
    const introspection = this.#weigh(set, root, (field) => !isRootField(root, field))
    return { data, introspection }
  }

  #weigh(set: SelectionSetNode, type: GraphQLNamedType | undefined, counts: (field: FieldNode) => boolean): Measure {
    const parts = set.selections.map((selection): Measure => {
      if (selection.kind === 'Field') return counts(selection) ? this.#weighField(selection, type, counts) : nothing
      if (selection.kind === 'FragmentSpread') return this.#weighFragment(selection.name.value, counts)
      const on = selection.typeCondition ? this.schema.getType(selection.typeCondition.name.value) : type
      return this.#weigh(selection.selectionSet, on, counts)
    })
    return {
      cost: parts.reduce((sum, { cost }) => sum + cost, 0),
      once: parts.reduce((sum, { once }) => sum + once, 0),
      depth: parts.reduce((deepest, { depth }) => Math.max(deepest, depth), 0),
    }
  }

  #weighFragment(name: string, counts: (field: FieldNode) => boolean): Measure {
    const known = this.#fragments.get(name)
    if (known === 'being weighed') throw new Refused(`fragment ${name} must not contain itself`)
    if (known) return known
    const definition = this.definitions.get(name)
    if (!definition) return nothing
    this.#fragments.set(name, 'being weighed')
    const on = this.schema.getType(definition.typeCondition.name.value)
    const measure = this.#weigh(definition.selectionSet, on, counts)
    this.#fragments.set(name, measure)
    return measure
  }

  #weighField(node: FieldNode, type: GraphQLNamedType | undefined, counts: (field: FieldNode) => boolean): Measure {
    const field = fieldOf(this.schema, type, node.name.value)
    const named = field && getNamedType(field.type)
    // Its lists have more entries than they are taken to have, which one name for each field holds within bounds.
    if (node.alias && (type?.name.startsWith('__') || named?.name.startsWith('__')))
      throw new Refused('fields of introspection have no aliases here')
    const rows = isList(named) ? this.#pageSize(node) : (introspectedLength(named, node) ?? 1)
    const inner = node.selectionSet ? this.#weigh(node.selectionSet, named, counts) : nothing
    const depth = 1 + inner.depth
    if (isList(named)) return { cost: 1 + connectionPrice + inner.once + rows * inner.cost, once: 0, depth }
    const isCount = node.name.value === 'totalCount' && isList(type)
    return { cost: 1 + rows * inner.cost, once: inner.once + (isCount ? countPrice : 0), depth }
  }

  #pageSize(node: FieldNode): number {
    const name = node.name.value
    const offset = this.#argument(node, 'offset')
    if (offset !== undefined && !isWithin(offset, graphqlLimits.offset)) {
      throw new Refused(`${name}: offset must be from 0 to ${graphqlLimits.offset}; use a cursor beyond`)
    }
    const sizes = ['first', 'last'].flatMap((argument) => this.#argument(node, argument) ?? [])
    const [size] = sizes
    if (sizes.length !== 1 || !isWithin(size, graphqlLimits.pageSize)) {
      throw new Refused(`${name} needs one of first and last, from 0 to ${graphqlLimits.pageSize}`)
    }
    return Number(size)
  }

  /** Value of a numeric argument. Undefined: not given, or null; NaN: given, and no number. */
  #argument(node: FieldNode, name: string): number | undefined {
    const value = node.arguments?.find((argument) => argument.name.value === name)?.value
    if (!value || value.kind === 'NullValue') return undefined
    if (value.kind === 'IntValue') return Number(value.value)
    const given = value.kind === 'Variable' ? this.variables[value.name.value] : Number.NaN
    if (given === undefined || given === null) return undefined
    return typeof given === 'number' ? given : Number.NaN
  }
}

const isList = (type: GraphQLNamedType | undefined) => type?.name.endsWith('Connection') === true

const isWithin = (value: unknown, most: number) =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) <= most

/** Whether a field is one of data at the root: introspection is weighed without those, from __schema and __type on. */
const isRootField = (root: GraphQLNamedType | undefined, { name: { value } }: FieldNode) =>
  isObjectType(root) && value in root.getFields()

function introspectedLength(named: GraphQLNamedType | undefined, node: FieldNode): number | undefined {
  return named?.name.startsWith('__') ? introspectionLists.get(node.name.value) : undefined
}

function fieldOf(schema: GraphQLSchema, type: GraphQLNamedType | undefined, name: string) {
  const meta = metaTypes.get(name)
  if (meta) return { type: schema.getType(meta) } as GraphQLField<unknown, unknown>
  return isObjectType(type) || isInterfaceType(type) ? type.getFields()[name] : undefined
}
