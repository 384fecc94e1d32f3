import { type ASTNode, type DocumentNode, Kind, visit } from 'graphql'
import { Refused } from './cost.ts'

/** What a document may hold at most, whatever it asks for: what validates it compares and follows all of it. */
export interface FormLimits {
  /** Operations and fragments. */
  readonly definitions: number
  /** Fields, as they are written. */
  readonly fields: number
  /** Objects in its arguments; each is held against every field that it could have. */
  readonly objects: number
  /** Comparisons of fields of one name, which a document may ask for again and again, with their arguments. */
  readonly overlaps: number
}

/** Throws Refused for a document that it would cost too much to weigh. */
export function checkForm(document: DocumentNode, limits: FormLimits): void {
  if (document.definitions.length > limits.definitions)
    throw new Refused(`a document may have ${limits.definitions} operations and fragments`)
  let fields = 0
  let objects = 0
  visit(document, {
    Field() {
      fields++
    },
    ObjectValue() {
      objects++
    },
  })
  if (fields > limits.fields) throw new Refused(`a document may have ${limits.fields} fields`)
  if (objects > limits.objects) throw new Refused(`arguments may have ${limits.objects} objects in them`)
}

/** Throws Refused for a document that it would cost too much to validate. */
export function checkOverlaps(document: DocumentNode, limits: FormLimits): void {
  const fields = new Map<string, { count: number; size: number }>()
  visit(document, {
    Field(node) {
      const name = (node.alias ?? node.name).value
      const known = fields.get(name) ?? { count: 0, size: 0 }
      const size = known.size + (node.arguments ?? []).reduce((sum, one) => sum + sizeOf(one), 1)
      fields.set(name, { count: known.count + 1, size })
    },
  })
  const overlaps = [...fields.values()].reduce((sum, { count, size }) => sum + (count - 1) * size, 0)
  if (overlaps > limits.overlaps)
    throw new Refused('fields are asked for under the same name too often: give them aliases, or write a fragment')
}

function sizeOf(node: ASTNode): number {
  let size = 0
  visit(node, {
    enter({ kind }) {
      if (kind !== Kind.NAME) size++
    },
  })
  return size
}

/** Objects in a JSON value. */
export function objectsIn(value: unknown): number {
  let objects = 0
  for (let level = [value]; level.length > 0; ) {
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : []))
    objects += level.filter((one) => typeof one === 'object' && one !== null && !Array.isArray(one)).length
  }
  return objects
}
