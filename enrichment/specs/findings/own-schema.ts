import { isDeepStrictEqual } from 'node:util'
import { fieldsOf } from '../offers/spellings.ts'

/** Most comparisons of a part of a value with a part of a schema, and levels of them: both are a stranger's. */
const mostSteps = 2_000
const deepest = 32

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const types: Readonly<Record<string, (value: unknown) => boolean>> = {
  object: isObject,
  array: Array.isArray,
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
}

/**
 * Where a value does not fit a JSON Schema that stays in itself, as a path; undefined: nowhere, as far as is looked. Looked at
 * are type, const, enum, required, properties, additionalProperties, items, allOf, anyOf, oneOf and `$ref`; what other
 * keywords forbid goes unseen, so that a path is never told in vain.
 *
 * Source: JSON Schema 2020-12, Core and Validation.
 */
export function misfit(value: unknown, schema: unknown): string | undefined {
  let steps = 0

  function all(value: unknown, schemas: readonly unknown[], path: string, depth: number): string | undefined {
    for (const one of schemas) {
      const found = at(value, one, path, depth)
      if (found !== undefined) return found
    }
    return undefined
  }

  function at(value: unknown, part: unknown, path: string, depth: number): string | undefined {
    if (++steps > mostSteps || depth > deepest) return undefined
    if (part === false) return path
    if (!isObject(part)) return undefined
    // Older drafts pass over whatever stands beside a reference.
    if (typeof part.$ref === 'string') return at(value, pointed(schema, part.$ref), path, depth + 1)
    if (!isOfType(value, part.type)) return path
    if ('const' in part && !isDeepStrictEqual(value, part.const)) return path
    if (Array.isArray(part.enum) && !part.enum.some((one) => isDeepStrictEqual(value, one))) return path
    const choices = [part.anyOf, part.oneOf].filter(Array.isArray)
    // A choice that was not looked at to its end may be the right one.
    if (choices.some((list) => list.every((one) => at(value, one, path, depth + 1) !== undefined))) return path
    const deeper = all(value, Array.isArray(part.allOf) ? part.allOf : [], path, depth + 1)
    return deeper ?? (Array.isArray(value) ? inItems(value, part, path, depth) : inMembers(value, part, path, depth))
  }

  function inItems(
    list: readonly unknown[],
    { items, prefixItems }: Record<string, unknown>,
    path: string,
    depth: number,
  ) {
    if (prefixItems !== undefined || Array.isArray(items)) return undefined
    for (const [place, one] of list.entries()) {
      const found = steps > mostSteps ? undefined : at(one, items, `${path}/${place}`, depth + 1)
      if (found !== undefined) return found
    }
    return undefined
  }

  function inMembers(value: unknown, part: Record<string, unknown>, path: string, depth: number): string | undefined {
    if (!isObject(value)) return undefined
    const required = Array.isArray(part.required) ? part.required : []
    const missing = required.find((name) => typeof name === 'string' && !Object.hasOwn(value, name))
    if (missing !== undefined) return `${path}/${missing}`
    const named = fieldsOf(part.properties)
    for (const [name, one] of Object.entries(value)) {
      const isNamed = Object.hasOwn(named, name)
      const rest = part.patternProperties === undefined ? part.additionalProperties : undefined
      const found = at(one, isNamed ? named[name] : rest, `${path}/${name}`, depth + 1)
      if (found !== undefined) return found
    }
    return undefined
  }

  return at(value, schema, '', 0)
}

function isOfType(value: unknown, type: unknown): boolean {
  const names = [type ?? []].flat()
  // An unknown name is a fault of the schema, and forbids nothing here.
  return names.length === 0 || names.some((name) => types[String(name)]?.(value) ?? true)
}

/** The part of a schema that a reference names; undefined: none, which fits everything. Source: RFC 6901. */
function pointed(schema: unknown, reference: string): unknown {
  if (!/^#(\/|$)/.test(reference)) return undefined
  const names = reference.split('/').slice(1)
  return names.reduce<unknown>((part, name) => {
    const key = name.replaceAll('~1', '/').replaceAll('~0', '~')
    return typeof part === 'object' && part !== null && Object.hasOwn(part, key) ? fieldsOf(part)[key] : undefined
  }, schema)
}
