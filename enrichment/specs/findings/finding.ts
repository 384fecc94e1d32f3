import type { FindingCode } from '../../../net/findings.ts'
import { shortText } from '../content.ts'

/** Something that keeps callers or buyers from an endpoint. */
export interface Finding {
  readonly code: FindingCode
  /** What was seen, clean and short; null: the code says all. */
  readonly detail: string | null
}

/** Findings with when each was first found; one that went and came back counts from when it came back. */
export interface StoredFinding extends Finding {
  /** ISO 8601. */
  readonly since: string
}

/** Findings of one document that are kept; and characters of what was seen. */
const mostFindings = 30
const longestDetail = 200

export function finding(code: FindingCode, seen?: unknown): Finding {
  const text = typeof seen === 'string' || seen === undefined ? seen : JSON.stringify(seen)
  return { code, detail: shortText(text, longestDetail) }
}

/** Findings of a look with when they began; `before`: those of the look before. */
export function sinceWhen(
  found: readonly Finding[],
  before: readonly StoredFinding[],
  now: Date,
): readonly StoredFinding[] {
  const known = new Map(before.map((one) => [`${one.code} ${one.detail}`, one.since]))
  const once = new Map(found.map((one) => [`${one.code} ${one.detail}`, one]))
  return [...once].slice(0, mostFindings).map(([key, one]) => ({ ...one, since: known.get(key) ?? now.toISOString() }))
}
