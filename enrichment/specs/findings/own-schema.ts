import { documentWork } from '../../../config/limits.ts'
import { textOf } from '../../../trust/strict-json.ts'
import { fieldsOf } from '../offers/spellings.ts'

const { schemaSteps, schemaLevels, schemaCharacters, referenceCharacters } = documentWork

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const types = new Map<unknown, (value: unknown) => boolean>([
  ['object', isObject],
  ['array', Array.isArray],
  ['string', (value) => typeof value === 'string'],
  ['number', (value) => typeof value === 'number'],
  ['integer', Number.isInteger],
  ['boolean', (value) => typeof value === 'boolean'],
  ['null', (value) => value === null],
])

/**
 * Where a value does not fit a JSON Schema that stays in itself, as a path; undefined: nowhere, as far as is looked. Looked at
 * are type, const, enum, required, properties, additionalProperties, items, allOf, anyOf, oneOf and `$ref`; what other
 * keywords forbid goes unseen, so that a path is never told in vain. Never throws.
 *
 * Both are a stranger's, and a part of either may be come to again and again: whatever is gone through there counts as a step,
 * and where the steps are used up, everything fits.
 *
 * Source: JSON Schema 2020-12, Core and Validation.
 */
export function misfit(value: unknown, schema: unknown): string | undefined {
  const isLong = [value, schema].some((one) => textOf(one).length > schemaCharacters)
  return isLong ? undefined : new Comparison(schema).at(value, schema, '', 0)
}

type Part = Readonly<Record<string, unknown>>

class Comparison {
  readonly #schema: unknown
  #left: number = schemaSteps

  constructor(schema: unknown) {
    this.#schema = schema
  }

  /** Whether so many steps were left. */
  #spend(steps: number): boolean {
    this.#left -= steps
    return this.#left >= 0
  }

  at(value: unknown, part: unknown, path: string, depth: number): string | undefined {
    if (!this.#spend(1) || depth > schemaLevels) return undefined
    if (part === false) return path
    if (!isObject(part)) return undefined
    // Older drafts pass over whatever stands next to a reference.
    if (typeof part.$ref === 'string') return this.at(value, this.#pointed(part.$ref), path, depth + 1)
    if (!this.#isOfType(value, part.type) || !this.#isAmong(value, part)) return path
    const choices = [part.anyOf, part.oneOf].filter(Array.isArray)
    // A choice that was not looked at to its end may be the right one.
    if (choices.some((list) => list.every((one) => this.at(value, one, path, depth + 1) !== undefined))) return path
    for (const one of Array.isArray(part.allOf) ? part.allOf : []) {
      const found = this.at(value, one, path, depth + 1)
      if (found !== undefined || this.#left < 0) return found
    }
    return Array.isArray(value) ? this.#inItems(value, part, path, depth) : this.#inMembers(value, part, path, depth)
  }

  #inItems(list: readonly unknown[], { items, prefixItems }: Part, path: string, depth: number): string | undefined {
    if (prefixItems !== undefined || Array.isArray(items) || !this.#spend(list.length)) return undefined
    for (const [place, one] of list.entries()) {
      const found = this.at(one, items, `${path}/${place}`, depth + 1)
      if (found !== undefined) return found
    }
    return undefined
  }

  #inMembers(value: unknown, part: Part, path: string, depth: number): string | undefined {
    if (!isObject(value)) return undefined
    const required = Array.isArray(part.required) ? part.required : []
    const members = Object.entries(value)
    if (!this.#spend(required.length + members.length)) return undefined
    const missing = required.find((name) => typeof name === 'string' && !Object.hasOwn(value, name))
    if (missing !== undefined) return `${path}/${missing}`
    const named = fieldsOf(part.properties)
    const rest = part.patternProperties === undefined ? part.additionalProperties : undefined
    for (const [name, one] of members) {
      const found = this.at(one, Object.hasOwn(named, name) ? named[name] : rest, `${path}/${name}`, depth + 1)
      if (found !== undefined) return found
    }
    return undefined
  }

  #isOfType(value: unknown, type: unknown): boolean {
    const names: readonly unknown[] = type === undefined ? [] : Array.isArray(type) ? type : [type]
    if (names.length === 0 || !this.#spend(names.length)) return true
    // An unknown name is a fault of the schema, and forbids nothing here.
    return names.some((name) => types.get(name)?.(value) ?? true)
  }

  #isAmong(value: unknown, part: Part): boolean {
    if ('const' in part && !this.#isSame(value, part.const)) return false
    return !Array.isArray(part.enum) || part.enum.some((one) => this.#isSame(value, one))
  }

  /** Whether two JSON values are equal; they are when they cannot be compared to their end. */
  #isSame(one: unknown, other: unknown): boolean {
    if (!this.#spend(1) || one === other) return true
    if (Array.isArray(one) && Array.isArray(other))
      return one.length === other.length && one.every((item, place) => this.#isSame(item, other[place]))
    if (!isObject(one) || !isObject(other)) return false
    const keys = Object.keys(one)
    const isOtherSize = keys.length !== Object.keys(other).length
    if (!this.#spend(keys.length)) return true
    return !isOtherSize && keys.every((key) => Object.hasOwn(other, key) && this.#isSame(one[key], other[key]))
  }

  /** The part of the schema that a reference names; undefined: none, which fits everything. Source: RFC 6901. */
  #pointed(reference: string): unknown {
    if (reference.length > referenceCharacters || !/^#(\/|$)/.test(reference)) return undefined
    const names = reference.split('/').slice(1)
    if (!this.#spend(names.length)) return undefined
    return names.reduce<unknown>((part, name) => {
      const key = name.replaceAll('~1', '/').replaceAll('~0', '~')
      return typeof part === 'object' && part !== null && Object.hasOwn(part, key) ? fieldsOf(part)[key] : undefined
    }, this.#schema)
  }
}
