import { spellings } from './spelling-rows.ts'

export type Meaning = keyof typeof spellings

/** The members of an object by what they mean. */
export interface Members {
  /** The first member with this meaning, in the order of the row; undefined: none. */
  get(meaning: Meaning): unknown
  /** All members with this meaning. */
  all(meaning: Meaning): readonly unknown[]
  /** The member with this key, which is one of a row. */
  at(key: string): unknown
}

/** Reads an object by meaning; anything else has no members. Of two keys that are spelt alike the first counts. */
export function membersOf(value: unknown): Members {
  const object = fieldsOf(value)
  const known = read.get(object) ?? readMembers(object)
  read.set(object, known)
  return known
}

/** Objects are read once: each is looked at for several meanings, from inside and outside. */
const read = new WeakMap<object, Members>()

function readMembers(object: Readonly<Record<string, unknown>>): Members {
  const members = new Map<string, unknown>()
  for (const [key, member] of Object.entries(object)) {
    const plain = plainKey(key)
    if (member != null && !members.has(plain)) members.set(plain, member)
  }
  return byMeaning((key) => members.get(key))
}

function byMeaning(at: (key: string) => unknown): Members {
  const all = (meaning: Meaning) => spellings[meaning].map(at).filter((member) => member !== undefined)
  return { all, get: (meaning) => all(meaning)[0], at }
}

/**
 * An object with the members of all of these by what they mean; of two that are spelt alike the first counts. Nothing is
 * copied: what holds for a whole document is next to each part of it. A currency does not hold for an object that names
 * an asset instead.
 */
export function combined(...objects: readonly object[]): object {
  const all = objects.map(membersOf)
  const object = {}
  const at = (key: string) => {
    for (const members of all) {
      const member = members.at(key)
      if (member !== undefined) return member
      if (currencies.has(key) && members.get('asset') !== undefined) return undefined
    }
    return undefined
  }
  read.set(object, byMeaning(at))
  return object
}

const currencies: ReadonlySet<string> = new Set(spellings.currency)

/** Whether a key has one of these meanings. */
export function means(key: string, ...meanings: readonly Meaning[]): boolean {
  const plain = plainKey(key)
  return meanings.some((meaning) => (spellings[meaning] as readonly string[]).includes(plain))
}

const plainKey = (key: string) => key.toLowerCase().replaceAll(/[_\-\s]/g, '')

export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : nothing
}

const nothing = {}
