const defaultPageSize = 1_000

/** A refused request; answered with status 400 whatever the reason, as a hub does. */
export class HubError extends Error {
  override readonly name = 'HubError'
  readonly detail: string | null

  constructor(message: string, detail: string | null = null) {
    super(message)
    this.detail = detail
  }
}

/** The page after the item that the page token names; `indexOf` finds that item faster than comparing every key. */
export function page<T>(
  all: readonly T[],
  keyOf: (item: T) => string,
  query: URLSearchParams,
  indexOf = (items: readonly T[], key: string) => items.findIndex((item) => keyOf(item) === key),
) {
  const ordered = query.get('reverse') === 'true' || query.get('reverse') === '1' ? [...all].reverse() : all
  const token = query.get('pageToken') ?? query.get('page_token') ?? ''
  const after = Buffer.from(token, 'base64').toString()
  const start = token === '' ? 0 : indexOf(ordered, after) + 1
  if (token !== '' && start === 0) throw new HubError('Invalid page token')
  const items = ordered.slice(start, start + pageSize(query))
  const last = items.at(-1)
  const more = last !== undefined && start + items.length < ordered.length
  return { items, nextPageToken: more ? Buffer.from(keyOf(last)).toString('base64') : undefined }
}

/** Page size of a request, capped at the hub's default. */
export function pageSize(query: URLSearchParams): number {
  const size = numberOf(query, 'pageSize') ?? numberOf(query, 'page_size') ?? defaultPageSize
  return Math.min(size, defaultPageSize)
}

/** An unsigned number, undefined when it is not given; throws when it is something else. */
export function numberOf(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name)
  if (text === null) return undefined
  if (!/^\d+$/.test(text))
    throw new HubError(`invalid value for \`${name}\``, `expected an unsigned number, got ${text}`)
  return Number(text)
}
