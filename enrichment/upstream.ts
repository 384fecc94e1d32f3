import type pg from 'pg'
import type { z } from 'zod'
import { trimmedText } from '../db/text.ts'
import { type Host, HostClosed } from '../hosts/host.ts'
import {
  type Question as AnyQuestion,
  contentOf,
  createJsonHost,
  failureOf,
  firstOf,
  placeOf,
  type Received,
} from '../hosts/json-host.ts'
import { bearableRest, retryAfterMs, unnamedRestMs } from '../hosts/retry-after.ts'
import { second } from '../ops/time.ts'
import { createSharedHost } from './host-budget.ts'

interface UpstreamOptions {
  /** Name of the host, under which processes share its state in the database. */
  readonly name: string
  /** Base address, which the operator chose. */
  readonly url: string
  readonly requestsPerSecond: number
  /** Requests in a UTC day, over all processes and restarts; null: any number. */
  readonly perDay: number | null
  readonly headers?: Readonly<Record<string, string>>
  readonly pool: pg.Pool
  readonly now: () => Date
  /** Milliseconds for one answer, from the request to its last byte. */
  readonly timeoutMs?: number
}

interface Question extends AnyQuestion {
  /** ETag of the known version, for a conditional request; without it the answer is never `unchanged`. */
  readonly etag?: string | null
}

export type Answer<T> =
  | { readonly status: 'ok'; readonly content: T; readonly etag: string | null }
  | { readonly status: 'unchanged' }
  /** The host answered that it does not know the subject. */
  | { readonly status: 'nothing' }

/** Client for one host with a fixed address: keeps its rate limit, daily budget and Retry-After, validates answers. */
export interface Upstream {
  readonly host: Host
  /** Throws NoAnswer when there is no valid answer, HostClosed when the host may not be asked now. */
  ask<T>(question: Question, schema: z.ZodType<T>): Promise<Answer<T>>
}

export function createUpstream(options: UpstreamOptions): Upstream {
  const { name, now } = options
  const host = createSharedHost(options)
  const json = createJsonHost(options)

  async function send({ etag, ...question }: Question): Promise<Received> {
    const headers = { ...question.headers, ...(etag && { 'if-none-match': etag }) }
    try {
      return await json.send({ ...question, headers })
    } catch (error) {
      if (host.state() === 'stopped') throw new HostClosed('this process is stopping', now())
      throw error
    }
  }

  return {
    host: {
      ...host,
      stop() {
        host.stop()
        json.destroy()
      },
    },

    async ask(question, schema) {
      await host.slot()
      const received = await send(question)
      const wishMs = wishOf(received, now())
      if (wishMs !== undefined) await host.rest(wishMs)
      const place = placeOf(`${name} `, question.path)
      const { status, headers, text } = received
      if (status === 200) return { status: 'ok', content: contentOf(place, received, schema), etag: etagOf(headers) }
      if (status === 304 && question.etag) return { status: 'unchanged' }
      if (status === 404 && saysNothing(text)) return { status: 'nothing' }
      throw failureOf(place, status, status >= 400 ? wishMs : undefined)
    },
  }
}

/**
 * Milliseconds of pause that the host's rate limit demands; undefined: it is not rate limiting. Sources: RFC 9110
 * 10.2.3; GitHub's `x-ratelimit-reset` is in Unix seconds and its secondary limit a 403; Blockscout's is in
 * milliseconds from now.
 */
function wishOf(received: Received, now: Date): number | undefined {
  const { status, headers, text } = received
  const exhausted = firstOf(headers['x-ratelimit-remaining'])?.trim() === '0'
  const after = headers['retry-after'] !== undefined
  const limited = status === 429 || (status === 403 && (after || exhausted || /rate limit/i.test(text)))
  if (!limited && !exhausted && !(status === 503 && after)) return undefined
  if (after) return retryAfterMs(firstOf(headers['retry-after']), now) ?? unnamedRestMs
  return bearableRest(resetMs(firstOf(headers['x-ratelimit-reset']), now) ?? unnamedRestMs)
}

/** From this number on a reset is a Unix time in seconds: as milliseconds to wait it would be absurd. */
const aUnixTime = 1_000_000_000

function resetMs(text: string | undefined, now: Date): number | undefined {
  if (!text || !/^\d+$/.test(text)) return undefined
  const reset = Number(text)
  return reset >= aUnixTime ? reset * second - now.getTime() : reset
}

/** Whether a 404 is the service's own, in JSON: an answer about the subject, which a proxy's error page is not. */
function saysNothing(text: string): boolean {
  return /^\s*\{/.test(text) && /not found|invalid identity/i.test(text)
}

function etagOf(headers: Received['headers']): string | null {
  const etag = firstOf(headers.etag)
  return etag !== undefined && /^[\x20-\x7e]{1,256}$/.test(etag) ? etag : null
}

/** A source's text, made storable and cut to `codePoints`; null: there is none. */
export function cleanText(text: string | null | undefined, codePoints: number): string | null {
  return text == null ? null : trimmedText(text, codePoints)
}

/** A source's text as an http(s) address; null: it is not one. */
export function cleanUrl(text: string | null | undefined): string | null {
  const clean = cleanText(text, longestUrl + 1)
  if (clean === null || clean.length > longestUrl || !/^https?:\/\//i.test(clean)) return null
  return URL.canParse(clean) ? clean : null
}

/** A source's number as a count; null: not known, or not a whole number from zero. */
export function cleanCount(count: number | null | undefined): number | null {
  return count != null && Number.isSafeInteger(count) && count >= 0 ? count : null
}

const longestUrl = 2_048
