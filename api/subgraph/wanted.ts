import { GraphQLError, type GraphQLResolveInfo, type SelectionSetNode } from 'graphql'
import type { Wanted } from '../../db/queries/subgraph/list.ts'

/** What is selected below a field. */
interface Selected {
  readonly wanted: Wanted
  /** Fields of one row, at most. */
  readonly fields: number
}

const known = new WeakMap<GraphQLResolveInfo['fieldNodes'], Selected>()

/**
 * The fields that are selected below a field, whatever directives say. A fragment is looked at once for each place, however
 * often it is spread there. Throws GraphQLError for a value that is asked for under many names, as an answer would repeat it.
 */
export function selectedIn(info: GraphQLResolveInfo): Selected {
  const found = known.get(info.fieldNodes) ?? readSelected(info)
  known.set(info.fieldNodes, found)
  return found
}

type Place = Map<string, Place>

function readSelected({ fieldNodes, fragments }: GraphQLResolveInfo): Selected {
  const spread = new Map<Place, Set<string>>()
  const names = new Map<Place, string>()
  let fields = 0

  function add(set: SelectionSetNode, to: Place) {
    for (const node of set.selections) {
      if (node.kind === 'InlineFragment') add(node.selectionSet, to)
      else if (node.kind === 'FragmentSpread') {
        const fragment = fragments[node.name.value]
        const seen = spread.get(to) ?? new Set()
        if (fragment && !seen.has(node.name.value)) {
          spread.set(to, seen.add(node.name.value))
          add(fragment.selectionSet, to)
        }
      } else {
        const inside: Place = to.get(node.name.value) ?? new Map()
        const name = (node.alias ?? node.name).value
        to.set(node.name.value, inside)
        fields++
        if (node.selectionSet) add(node.selectionSet, inside)
        else if ((names.get(inside) ?? name) !== name)
          throw new GraphQLError(`${node.name.value} may be asked for under one name`)
        else names.set(inside, name)
      }
    }
  }

  const wanted: Place = new Map()
  for (const { selectionSet } of fieldNodes) if (selectionSet) add(selectionSet, wanted)
  return { wanted, fields }
}
