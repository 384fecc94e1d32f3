import {
  type DocumentNode,
  type ExecutionResult,
  execute,
  GraphQLError,
  type GraphQLObjectType,
  type GraphQLSchema,
  specifiedRules,
  VariablesInAllowedPositionRule,
  validate,
} from 'graphql'
import { type EntityName, entities } from '../../db/queries/subgraph/entities.ts'
import { type ListArguments, ownerOf, type SubgraphReading } from './read.ts'
import { buildSubgraphSchema, emptyFeedbackFile, nestedLists, owners, rootFields } from './schema.ts'
import { unservedIn } from './unserved.ts'
import { variablesFit } from './variables.ts'

type Row = Record<string, unknown>

/** The schema with how its fields are answered; the context of an operation is its SubgraphReading. */
export function subgraphSchema(): GraphQLSchema {
  const schema = buildSubgraphSchema()
  const query = schema.getQueryType() as GraphQLObjectType
  for (const [name, field] of Object.entries(query.getFields())) {
    const { entity, isList } = rootFields.get(name) as { entity: EntityName; isList: boolean }
    field.resolve = (_: unknown, given: ListArguments & { id: string }, reading: SubgraphReading, info) =>
      isList ? reading.list(entity, given, info) : reading.one(entity, given.id, info)
  }
  for (const entity of Object.keys(entities) as EntityName[]) answerRelations(schema, entity)
  return schema
}

function answerRelations(schema: GraphQLSchema, entity: EntityName): void {
  const fields = (schema.getType(entity) as GraphQLObjectType).getFields()
  const lists: Readonly<Record<string, EntityName>> = nestedLists[entity]
  for (const [name, field] of Object.entries(fields)) {
    const list = lists[name]
    if (list !== undefined) {
      field.resolve = (row: Row, given: ListArguments, reading: SubgraphReading, info) =>
        reading.nested(list, entity, String(row.id), given, info)
    } else if (name in owners && name in entities[entity].ids) {
      field.resolve = (row: Row, _given: unknown, reading: SubgraphReading, info) =>
        ownerOf(reading, name as keyof typeof owners, String(row[name]), info)
    } else if (name === 'feedbackFile') {
      field.resolve = (row: Row) => row.feedbackFile && { ...emptyFeedbackFile, ...(row.feedbackFile as Row) }
    }
  }
}

const rules = [...specifiedRules.filter((rule) => rule !== VariablesInAllowedPositionRule), variablesFit]
/** Errors of one document that are named. */
const mostErrors = 5

interface Operation {
  readonly document: DocumentNode
  readonly variables: Record<string, unknown> | undefined
  readonly operationName: string | undefined
}

/** The errors of a document that cannot be executed; empty: it can. */
export function problemsOf(schema: GraphQLSchema, document: DocumentNode): readonly GraphQLError[] {
  const unserved = unservedIn(document)
  if (unserved !== undefined) return [new GraphQLError(unserved)]
  return validate(schema, document, rules, { maxErrors: mostErrors })
}

export const run = (schema: GraphQLSchema, reading: SubgraphReading, operation: Operation): Promise<ExecutionResult> =>
  Promise.resolve(
    execute({
      schema,
      document: operation.document,
      variableValues: operation.variables,
      operationName: operation.operationName,
      contextValue: reading,
    }),
  )
