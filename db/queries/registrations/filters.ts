import { createHash } from 'node:crypto'
import type { ChainName } from '../../../config/chains.ts'
import { grouped, readingLimits } from '../../../config/limits.ts'
import { lexeme, partOf } from '../directory/query-text.ts'
import { type Acting, actsFor } from './acting.ts'

/** What a filter takes. `terms`: any of some words, `metadata`: any of `key` or `key=value`. */
interface FilterValues {
  readonly chains: readonly ChainName[]
  readonly terms: readonly string[]
  readonly metadata: readonly string[]
  readonly term: string
  readonly flag: boolean
  readonly part: string
  readonly count: string
  readonly number: string
  readonly time: string
}

interface Filter {
  readonly type: keyof FilterValues
  /** SQL over `s`, a row of `searched_registration`, given the value as SQL. Absent: the terms of the row say it. */
  readonly fits?: (value: string) => string
  readonly says: string
}

const ofNewest = `its newest ${grouped(readingLimits.feedbackSearched)} feedback, without what was revoked`

/**
 * Filters of the search over all registrations, combined with AND. A term has the name of its filter in
 * db/queries/registrations/searched.ts. All of them have the index of terms and texts, those of numbers and times the
 * index of their column.
 */
export const registrationFilters = {
  chain: { type: 'chains', says: '' },
  name: {
    type: 'part',
    fits: (value) => `s.name like ${value}`,
    says: 'Part of the name in the document, in any case.',
  },
  description: {
    type: 'part',
    fits: (value) => `s.description like ${value}`,
    says: 'Part of the description in the document, in any case.',
  },
  owner: { type: 'term', says: 'Who holds it.' },
  operator: {
    type: 'term',
    says: 'Who may act for the holder: an operator of all that it holds there, or approved for this registration.',
  },
  wallet: { type: 'term', says: 'The wallet that the registry stores for it.' },
  fid: { type: 'count', says: 'The agent that verifies the holder.' },
  human: { type: 'flag', says: 'Whether an agent verifies the holder.' },
  active: { type: 'flag', says: 'Whether the document says that it is active.' },
  x402: { type: 'flag', says: 'Whether the document says that x402 payments are taken.' },
  trust: { type: 'terms', says: 'Trust model that the document names, in any case.' },
  service: { type: 'terms', says: 'Name of a service in the document, such as mcp or a2a, in any case.' },
  oasf_skill: { type: 'terms', says: 'Skill that a service of OASF declares, in any case.' },
  oasf_domain: { type: 'terms', says: 'Domain that a service of OASF declares, in any case.' },
  skill: { type: 'terms', says: 'Skill that any service declares, in any case.' },
  tool: { type: 'terms', says: 'Tool that a service declares, in any case.' },
  prompt: { type: 'terms', says: 'Prompt that a service declares, in any case.' },
  resource: { type: 'terms', says: 'Resource that a service declares, in any case.' },
  metadata: {
    type: 'metadata',
    says: `Key of its metadata on the chain, one of the first ${readingLimits.metadataSearched}, or \`key=value\` with a text or 0x and hex digits.`,
  },
  min_feedback: {
    type: 'count',
    fits: (value) => `s.feedback_count >= ${value}::bigint`,
    says: 'Feedback that was not revoked, at least.',
  },
  max_feedback: {
    type: 'count',
    fits: (value) => `s.feedback_count <= ${value}::bigint`,
    says: 'Feedback that was not revoked, at most.',
  },
  feedback_client: { type: 'term', says: `Who gave ${ofNewest}.` },
  feedback_tag: { type: 'terms', says: `Tag of ${ofNewest}, in any case.` },
  min_feedback_value: {
    type: 'number',
    fits: (value) => `s.feedback_value >= ${value}::numeric`,
    says: `Mean value of ${ofNewest}, at least.`,
  },
  max_feedback_value: {
    type: 'number',
    fits: (value) => `s.feedback_value <= ${value}::numeric`,
    says: `Mean value of ${ofNewest}, at most.`,
  },
  registered_since: {
    type: 'time',
    fits: (value) => `s.registered_at >= ${value}::timestamptz`,
    says: '`deployed_at`: ISO 8601 with a zone, inclusive.',
  },
  updated_since: {
    type: 'time',
    fits: (value) => `s.updated_at >= ${value}::timestamptz`,
    says: '`updated_at`: ISO 8601 with a zone, inclusive.',
  },
} as const satisfies Record<string, Filter>

type FilterName = keyof typeof registrationFilters
/** Filters that the terms of a row say, and what `metadata` looks for with a value. */
export type TermName =
  | { [name in FilterName]: (typeof registrationFilters)[name] extends { fits: unknown } ? never : name }[FilterName]
  | 'metadata_value'
export type RegistrationFilter = {
  readonly [name in FilterName]: FilterValues[(typeof registrationFilters)[name]['type']] | null
}

interface Conditions {
  /** Query over the terms of a row; null: no filter is about them. */
  readonly terms: string | null
  /** Parts that an index can look for; null: none. */
  readonly name: string | null
  readonly description: string | null
  readonly feedback: string | null
  /** SQL over `s` of all that is not said by terms. */
  readonly others: readonly string[]
}

/** What a filter asks of a row; `parameter` adds a value to those of the statement and returns its SQL. */
export function registrationConditions(
  filter: RegistrationFilter,
  parameter: (value: unknown, type: string) => string,
  acting: Acting,
): Conditions {
  const given = Object.entries(registrationFilters).flatMap(([name, row]: [string, Filter]) => {
    const value = filter[name as FilterName]
    return value === null ? [] : [{ name, row, value }]
  })
  const operator = filter.operator
  const found = operator === null ? undefined : acting.get(operator)
  const terms = given.flatMap(({ name, row, value }) => {
    if (row.fits) return []
    if (name === 'operator') return found ?? []
    const any = [value].flat().map((one) => lexeme(termOf(name, `${one}`)))
    return [any.join(' | ')]
  })
  return {
    terms: terms.length === 0 ? null : terms.map((any) => `(${any})`).join(' & '),
    name: lookedFor(filter.name),
    description: lookedFor(filter.description),
    feedback: filter.min_feedback === '0' ? null : (filter.min_feedback as string | null),
    others: [
      ...given.flatMap(({ row, value }) =>
        row.fits
          ? [
              row.fits(
                row.type === 'part' ? `lower(${parameter(partOf(`${value}`), 'text')})` : parameter(value, 'text'),
              ),
            ]
          : [],
      ),
      ...(operator === null || found
        ? []
        : [
            actsFor(
              parameter(lexeme(`operator:${operator}`), 'tsquery'),
              parameter(Buffer.from(operator.slice(2), 'hex'), 'bytea'),
            ),
          ]),
    ],
  }
}

function termOf(name: string, value: string): string {
  if (name === 'fid') return `fid:${BigInt(value)}`
  const cut = value.indexOf('=')
  if (name !== 'metadata' || cut < 0) return `${name}:${value}`
  const key = value.slice(0, cut)
  const said = value.slice(cut + 1)
  const bytes = /^0x([0-9a-f]{2})+$/i.test(said) ? Buffer.from(said.slice(2), 'hex') : Buffer.from(said)
  return `metadata_value:${createHash('sha256').update(`${key}\0`).update(bytes).digest('hex')}`
}

/** The index has parts of three letters or digits, and would be read whole for anything without. */
export const lookedFor = (text: string | null) => (text !== null && /[\p{L}\p{N}]{3}/u.test(text) ? text : null)
