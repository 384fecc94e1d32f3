import type { ContractFunction, ContractView } from './views.ts'

/** The SQL contract: views by name and functions by signature, each with its columns in order, as `name type`. */
type Contract = Record<string, readonly string[]>

export function contractOf(views: readonly ContractView[], functions: readonly ContractFunction[]): Contract {
  return Object.fromEntries([
    ...views.map((view) => [view.name, view.columns.map((column) => `${column.name} ${column.type}`)]),
    ...functions.map(({ call, columns }) => [call, columns]),
  ])
}

/** Breaking changes from `recorded` to `present`: views, functions and columns that are gone, moved or retyped. */
export function lostFrom(recorded: Contract, present: Contract): string[] {
  return Object.entries(recorded).flatMap(([view, columns]) => {
    const now = present[view]
    if (!now) return [view.includes('(') ? `function ${view}` : `view ${view}`]
    return columns.flatMap((column, place) => (now[place] === column ? [] : [`${view}: ${column}`]))
  })
}
