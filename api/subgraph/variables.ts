import {
  GraphQLError,
  type GraphQLType,
  isListType,
  isNonNullType,
  isScalarType,
  isTypeSubTypeOf,
  typeFromAST,
  type ValidationRule,
} from 'graphql'

/**
 * In place of the specification's rule that a variable has the type of the place it is used at: all that is written as
 * text is one type here. The field's clients declare the `ID!` of an agent as `String!`, and numbers as texts.
 */
export const variablesFit: ValidationRule = (context) => ({
  OperationDefinition: {
    leave(operation) {
      const declared = new Map((operation.variableDefinitions ?? []).map((node) => [node.variable.name.value, node]))
      for (const { node, type, defaultValue } of context.getRecursiveVariableUsages(operation)) {
        const definition = declared.get(node.name.value)
        const given = definition && typeFromAST(context.getSchema(), definition.type)
        if (!definition || !given || !type) continue
        const hasValue = (definition.defaultValue ?? defaultValue) !== undefined
        const wanted = isNonNullType(type) && !isNonNullType(given) && hasValue ? type.ofType : type
        if (isTypeSubTypeOf(context.getSchema(), given, wanted) || isAsGood(given, wanted)) continue
        const problem = `Variable "$${node.name.value}" of type "${given}" used in position expecting type "${type}".`
        context.reportError(new GraphQLError(problem, { nodes: [definition, node] }))
      }
    },
  },
})

const texts = new Set(['ID', 'String', 'Bytes', 'BigInt', 'BigDecimal'])

function isAsGood(given: GraphQLType, wanted: GraphQLType): boolean {
  if (isNonNullType(wanted)) return isNonNullType(given) && isAsGood(given.ofType, wanted.ofType)
  if (isNonNullType(given)) return isAsGood(given.ofType, wanted)
  if (isListType(given) && isListType(wanted)) return isAsGood(given.ofType, wanted.ofType)
  return (
    given === wanted || (isScalarType(given) && isScalarType(wanted) && texts.has(given.name) && texts.has(wanted.name))
  )
}
