import type { RequestHandler } from 'express'
import { type Options, rateLimit, type Store } from 'express-rate-limit'
import { ApiError, type ErrorCode } from '../errors.ts'
import { clientOf } from './client.ts'
import { DenyList } from './deny-list.ts'
import { currentRequest, DayStore, dayMs, type Limits, metered, minuteMs, nextUtcMidnight } from './window.ts'

export interface LimiterOptions {
  readonly limits: Limits
  /** Counts both windows; tells the day's hits by `currentRequest().day`. */
  readonly store: Store
  readonly now: () => number
}

/** Told to everybody who exceeds the minute, whatever is left of it: SPEC, "Limits". */
const minuteRetryAfterSeconds = 60

/** The two limits of a client, in the order they are judged. Refusals are thrown as ApiErrors. */
export function limiter({ limits, store, now }: LimiterOptions): RequestHandler[] {
  const denied = new DenyList()
  const judge = (name: string, windowMs: number, limit: number, counts: Store, code: ErrorCode, wait: () => number) =>
    rateLimit({
      ...common,
      identifier: name,
      windowMs,
      limit,
      store: counts,
      retryAfter: wait,
      handler(req, res, next) {
        const retryAfterSeconds = wait()
        const error = new ApiError(code, `at most ${limit} requests a ${name}`, { limits, retryAfterSeconds })
        const until = (req as { rateLimit?: { resetTime?: Date } }).rateLimit?.resetTime?.getTime() ?? 0
        const policy = String([res.getHeader('RateLimit-Policy')].flat().at(-1))
        denied.add(currentRequest().client, { error, name, policy, until })
        next(error)
      },
    })
  const midnight = () => Math.ceil((nextUtcMidnight(now()) - now()) / 1_000)
  return [
    (req, res, next) => {
      const client = clientOf(req.ip)
      const denial = denied.find(client, now())
      if (!denial) return metered.run({ client, day: 0 }, next)
      const { error, name, policy, until } = denial
      const resetSeconds = Math.ceil((until - now()) / 1_000)
      res.setHeader('RateLimit-Policy', policy)
      res.setHeader('RateLimit', `"${name}"; r=0; t=${resetSeconds}`)
      if (error.code === 'ERR_RATE_LIMIT') return next(error)
      next(new ApiError(error.code, error.detail, { limits, retryAfterSeconds: midnight() }))
    },
    judge('minute', minuteMs, limits.perMinute, store, 'ERR_RATE_LIMIT', () => minuteRetryAfterSeconds),
    judge('day', dayMs, limits.perDay, new DayStore(now), 'ERR_RATE_LIMIT_DAILY', midnight),
  ]
}

const common: Partial<Options> = {
  keyGenerator: () => currentRequest().client,
  standardHeaders: 'draft-8',
  legacyHeaders: false,
  // Its warnings are about headers any client can send; ours are the hops of TRUST_PROXY_HOPS.
  validate: { xForwardedForHeader: false, forwardedHeader: false },
}
