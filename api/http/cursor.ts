import { createHash } from 'node:crypto'
import { z } from 'zod'
import { queryLimits } from '../../config/limits.ts'
import { ApiError } from './errors.ts'

/** How the values of an order are written: digits (times as microseconds since 1970, flags as 0 and 1) or a word. */
const forms = {
  integer: /^[0-9]{1,15}$/,
  time: /^[0-9]{1,17}$/,
  token: /^[0-9]{1,78}$/,
  word: /^[a-z0-9_-]{1,40}$/,
} as const

/** Types of the columns a list is ordered by, the unique one last. */
type Order = readonly (keyof typeof forms)[]

/** A list with keyset pagination: a page begins after the last row of the page before, in the list's order. */
interface List {
  /** Route, order and filters: a cursor of another list is refused. */
  readonly name: readonly unknown[]
  readonly order: Order
}

const version = 1
const markBytes = 8

/** The query parameter `cursor`. Undefined: not given, so no paging by cursor; empty: the first page. */
export const cursorParameter = z
  .unknown()
  .optional()
  .transform((value) => {
    const text = Array.isArray(value) ? value[0] : value
    return text === undefined ? undefined : String(text).slice(0, queryLimits.cursorCharacters + 1)
  })
  .meta({
    description:
      'Turns on paging by cursor: empty for the first page, then the `next_cursor` of the page before; also in the ' +
      'header `Link`. An unreadable one, or one of another list or filter, is answered with 404. Rows that arrive on ' +
      'top are not met by a walk that has begun.',
    override: { type: 'string', maxLength: queryLimits.cursorCharacters },
  })

/** The cursor of the page that begins after a row; `values` are that row's values of the order, as text. */
function writeCursor(list: List, values: readonly string[]): string {
  const bytes = Buffer.concat([Buffer.of(version), markOf(list), Buffer.from(values.join(' '))])
  return bytes.toString('base64url')
}

/**
 * The values after which a page begins; undefined: it is the first. A cursor carries values and no row's id, so that it
 * outlives its row, and no signature: a forged one is just another place in a list that anybody may read.
 *
 * Throws ERR_NOT_FOUND if it is not a cursor of this list: given the first page instead, a client would loop forever.
 */
export function readCursor(list: List, cursor: string | undefined): string[] | undefined {
  if (cursor === undefined || cursor === '') return undefined
  const bytes = Buffer.from(cursor.length > queryLimits.cursorCharacters ? '' : cursor, 'base64url')
  const values = bytes
    .subarray(1 + markBytes)
    .toString('latin1')
    .split(' ')
  const isOurs =
    bytes.toString('base64url') === cursor &&
    bytes[0] === version &&
    bytes.subarray(1, 1 + markBytes).equals(markOf(list)) &&
    values.length === list.order.length &&
    values.every((value, index) => forms[list.order[index] as keyof typeof forms].test(value))
  if (!isOurs) {
    throw new ApiError(
      'ERR_NOT_FOUND',
      'the cursor is not one of this list with these filters; begin again with an empty one',
    )
  }
  return values
}

function markOf({ name, order }: List): Buffer {
  const text = JSON.stringify([name, order], (_key, value) => value ?? null)
  return createHash('sha256').update(text).digest().subarray(0, markBytes)
}

/** One page of a list. */
interface ListPage {
  /** The rows, as text of a JSON array. */
  readonly rows: string
  readonly count: number
  /** The last row's values of the order, as text, after which the next page begins; null: this is the last page. */
  readonly next: readonly string[] | null
  /** Time from which on all rows are present, older ones having been archived; null or absent: none were archived. */
  readonly availableSince?: string | null
}

/** A body, and what the header `Link` says about the next page. */
export interface PagedBody {
  readonly body: string
  /** Absolute URL of the next page; undefined: this is the last one. */
  readonly next: string | undefined
  /** Further headers of the answer; scripts on other origins may read them. */
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * The answer of one page: `fields` are the members of its body, JSON texts by name, to which `next_cursor` is added
 * as the last. `url` is the list's absolute URL without a query, `query` its parameters besides the cursor.
 */
export function pagedBody(
  list: List,
  page: ListPage,
  { fields, url, query }: { fields: Record<string, string>; url: string; query: Record<string, unknown> },
): PagedBody {
  const cursor = page.next && writeCursor(list, page.next)
  const body = objectText({ ...withSince(fields, page), next_cursor: JSON.stringify(cursor) })
  return { body, next: cursor === null ? undefined : `${url}?${queryText({ ...query, cursor })}` }
}

/** Members of a body, with `available_since` added if rows of its list were archived. */
export function withSince(
  members: Record<string, string>,
  { availableSince }: Pick<ListPage, 'availableSince'>,
): Record<string, string> {
  return availableSince ? { ...members, available_since: JSON.stringify(availableSince) } : members
}

/** Text of a JSON object whose members are given as JSON texts. */
export function objectText(members: Record<string, string>): string {
  return `{${Object.entries(members)
    .map(([name, value]) => `${JSON.stringify(name)}:${value}`)
    .join(',')}}`
}

/** Query string of the parameters as they were parsed, so that the link to the next page asks for the same list. */
function queryText(query: Record<string, unknown>): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value]
      .flat()
      .flatMap((one): [string, string][] => (one === null || one === undefined ? [] : [[name, String(one)]])),
  )
  return new URLSearchParams(pairs).toString()
}
