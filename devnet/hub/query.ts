const defaultPageSize = 1_000

/** Answered as the hub does: status 400, whatever the reason. */
export class HubError extends Error {
  override readonly name = 'HubError'
  readonly detail: string | null

  constructor(message: string, detail: string | null = null) {
    super(message)
    this.detail = detail
  }
}

/** A page after the item that the token names; `indexOf` finds it, where that is quicker than to look at every key. */
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

/** Asked for more, a hub gives its usual page. */
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
