import type { Request, RequestHandler } from 'express'
import { rateLimit, type Store } from 'express-rate-limit'
import { requestLimits } from '../../config/limits.ts'
import { ApiError } from '../http/errors.ts'
import { clientOf } from '../http/rate-limit-key.ts'
import { MemoryStore } from './memory-store.ts'
import { type Limits, minuteMs } from './window.ts'

/** Limits of a client for pages, agents' feeds and sitemaps, counted apart from the API; there is none for the day. */
export const pageLimits: Limits = { perMinute: requestLimits.pagesPerMinute, perDay: Number.MAX_SAFE_INTEGER }
/** Limits of a client for the pictures on pages: a page has many, and the browser caches them. */
const pictureLimits: Limits = { ...pageLimits, perMinute: requestLimits.picturesPerMinute }

interface PageLimiterOptions {
  /** Where requests are counted; absent: in this process. */
  readonly store?: Store | undefined
  /** Current time, in milliseconds since the epoch. */
  readonly now: () => number
}

/** Rate limit of pages. Refusals are passed on as ApiErrors, for the error page to show. */
export const pageLimiter = (options: PageLimiterOptions) => minuteLimiter('pages', pageLimits, options)
export const pictureLimiter = (options: PageLimiterOptions) => minuteLimiter('pictures', pictureLimits, options)

function minuteLimiter(name: string, limits: Limits, { store, now }: PageLimiterOptions): RequestHandler {
  return rateLimit({
    store: store ?? new MemoryStore(limits, now),
    windowMs: minuteMs,
    limit: limits.perMinute,
    keyGenerator: (req) => clientOf(req.ip),
    handler: (req, _res, next) => {
      const { resetTime } = (req as Request & { rateLimit: { resetTime: Date } }).rateLimit
      const retryAfterSeconds = Math.max(1, Math.ceil((resetTime.getTime() - now()) / 1_000))
      next(new ApiError('ERR_RATE_LIMIT', `at most ${limits.perMinute} ${name} a minute`, { retryAfterSeconds }))
    },
    standardHeaders: false,
    legacyHeaders: false,
    // Its warnings are about headers any client can send, and about keys other than its own.
    validate: { xForwardedForHeader: false, forwardedHeader: false, keyGeneratorIpFallback: false },
  })
}
