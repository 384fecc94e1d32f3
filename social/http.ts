import type { z } from 'zod'
import {
  contentOf,
  createJsonHost,
  failureOf,
  firstOf,
  type JsonHostOptions,
  placeOf,
  type Question,
} from '../hosts/json-host.ts'
import { retryAfterMs, unnamedSocialRestMs } from '../hosts/retry-after.ts'

export interface SocialHttpOptions extends Omit<JsonHostOptions, 'name'> {
  /** Awaited before every request: the caller's rate limit. Absent: none. */
  readonly slot?: () => Promise<void>
}

export interface SocialHttp {
  /**
   * Sends a GET and parses the 200 answer. Undefined when `isNothing` reads status and body of another answer as "there
   * is none". `bounds` are those of a long answer. Throws NoAnswer otherwise.
   */
  get<T>(
    path: string,
    query: Query,
    schema: z.ZodType<T>,
    isNothing?: IsNothing,
    bounds?: Bounds,
  ): Promise<T | undefined>
  close(): Promise<void>
}

export type Query = Record<string, string | number | boolean | undefined>
export type Bounds = Pick<Question, 'mostBytes' | 'isAboutOne'>
export type IsNothing = (status: number, body: string) => boolean

/** Requests to one host of the social network. */
export function createSocialHttp({ slot, ...options }: SocialHttpOptions): SocialHttp {
  const name = new URL(options.url).host
  const host = createJsonHost({ ...options, name })
  return {
    async get(path, query, schema, isNothing, bounds) {
      await slot?.()
      const received = await host.send({ path: `${path}${search(query)}`, ...bounds })
      const place = placeOf(name, path)
      const { status, text } = received
      if (status === 200) return contentOf(place, received, schema)
      if (isNothing?.(status, text)) return undefined
      const restMs = retryAfterMs(firstOf(received.headers['retry-after']), new Date())
      const isLimited = status === 429 || (status === 503 && restMs !== undefined)
      throw failureOf(place, status, isLimited ? (restMs ?? unnamedSocialRestMs) : undefined)
    },
    close: () => host.close(),
  }
}

function search(query: Query): string {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') params.set(name, String(value))
  }
  return params.size > 0 ? `?${params}` : ''
}
