import type { Request, RequestHandler } from 'express'
import { rateLimit, type Store } from 'express-rate-limit'
import { requestLimits } from '../../limits.config.ts'
import { clientOf } from '../http/client.ts'
import { ApiError } from '../http/errors.ts'
import { MemoryStore } from './memory.ts'
import { type Limits, minuteMs } from './window.ts'

/** Pages, agents' feeds and sitemaps of a client, apart from what it asks of the API; a day has no bound. */
export const pageLimits: Limits = { perMinute: requestLimits.pagesPerMinute, perDay: Number.MAX_SAFE_INTEGER }
/** Pictures on them: a page has many, and the browser keeps them. */
const pictureLimits: Limits = { ...pageLimits, perMinute: requestLimits.picturesPerMinute }

interface PageLimiterOptions {
  /** Absent: counts in this process. */
  readonly store?: Store | undefined
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** The limit of what people read. Refusals are passed on as ApiErrors, for the page that says so. */
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
