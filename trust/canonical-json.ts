import { createHash } from 'node:crypto'

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }

/**
 * Canonical JSON, one text for one value: keys sorted by UTF-16 code units, no whitespace.
 *
 * Source: RFC 8785. Numbers are as JavaScript writes them, which is what it asks for.
 */
export function canonicalJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const entries = Object.entries(value).filter(([, part]) => part !== undefined)
  const sorted = entries.sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${sorted.map(([key, part]) => `${JSON.stringify(key)}:${canonicalJson(part)}`).join(',')}}`
}

/** SHA-256 of the canonical JSON, as lowercase hex. */
export function jsonSha256(value: Json): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex')
}
