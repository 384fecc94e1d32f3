import type { Request, RequestHandler, Response } from 'express'
import { rateLimit, type Store } from 'express-rate-limit'
import { requestLimits } from '../../config/limits.ts'
import { ApiError } from '../http/errors.ts'
import { clientOf } from '../http/rate-limit-key.ts'
import { type Denial, DenyList } from './deny-list.ts'
import { CountedWindow, daySeconds, type Limits, minuteMs, nextUtcMidnight } from './window.ts'

export interface LimiterOptions {
  readonly limits: Limits
  /** Counts a client's minute and its UTC day; the `resetTime` that it gives has to be a CountedWindow. */
  readonly store: Store
  /** Counts the pages of a client by the minute; absent: they are counted in this process. */
  readonly pageStore?: Store
  /** Current time, in milliseconds since the epoch. */
  readonly now: () => number
  /** Whether the store would answer now; absent: always. */
  readonly isReady?: () => boolean
}

/** Paths under the rate limit, with all paths below them: the API, GraphQL, MCP, the bulk data, feeds and badges. */
export const meteredPrefixes = [
  '/api',
  '/data',
  '/graphql',
  '/mcp',
  '/subgraph',
  '/feed',
  '/feed.atom',
  '/badge',
] as const
export const meteredPath = new RegExp(
  `^(${meteredPrefixes.map((prefix) => prefix.replace('.', '\\.')).join('|')})(/|$)`,
)

/** Limits each client's requests by the minute, then by the UTC day. Refusals are passed on as ApiErrors. */
export function limiter({ limits, store, now }: LimiterOptions): RequestHandler {
  const denied = new DenyList()
  const secondsTo = (time: number) => Math.max(0, Math.ceil((time - now()) / 1_000))

  const refuse = (res: Response, denial: Denial) => {
    const { name, until } = denial
    const limit = name === 'minute' ? limits.perMinute : limits.perDay
    const windowSeconds = name === 'minute' ? minuteMs / 1_000 : daySeconds
    res.setHeader('RateLimit-Policy', `"${name}"; q=${limit}; w=${windowSeconds}`)
    res.setHeader('RateLimit', `"${name}"; r=0; t=${secondsTo(until)}`)
    const retryAfterSeconds = name === 'minute' ? requestLimits.retrySeconds : secondsTo(until)
    const code = name === 'minute' ? 'ERR_RATE_LIMIT' : 'ERR_RATE_LIMIT_DAILY'
    return new ApiError(code, `at most ${limit} requests a ${name}`, { limits, retryAfterSeconds })
  }
  const deny = (res: Response, denial: Denial) => {
    denied.add(res.locals.client, denial)
    return refuse(res, denial)
  }

  const minute = rateLimit({
    store,
    windowMs: minuteMs,
    limit: limits.perMinute,
    keyGenerator: (_req, res) => (res as Response).locals.client,
    handler: (req, res, next) => next(deny(res, { name: 'minute', until: windowOf(req).getTime() })),
    // The library's headers know one window; ours name both.
    standardHeaders: false,
    legacyHeaders: false,
    // The library warns of forwarding headers, which any client can send; only TRUST_PROXY_HOPS decides about them.
    validate: { xForwardedForHeader: false, forwardedHeader: false },
  })
  const policy = `"minute"; q=${limits.perMinute}; w=${minuteMs / 1_000}, "day"; q=${limits.perDay}; w=${daySeconds}`

  return (req, res, next) => {
    if (!meteredPath.test(req.path)) return next()
    const client = clientOf(req.ip)
    const denial = denied.find(client, now())
    if (denial) return next(refuse(res, denial))
    res.locals.client = client
    minute(req, res, (error) => {
      if (error) return next(error)
      const { remaining } = infoOf(req)
      const { dayHits } = windowOf(req)
      const midnight = nextUtcMidnight(now())
      if (dayHits > limits.perDay) return next(deny(res, { name: 'day', until: midnight }))
      const minuteLeft = `"minute"; r=${remaining}; t=${secondsTo(windowOf(req).getTime())}`
      res.setHeader('RateLimit', `${minuteLeft}, "day"; r=${limits.perDay - dayHits}; t=${secondsTo(midnight)}`)
      res.setHeader('RateLimit-Policy', policy)
      next()
    })
  }
}

const infoOf = (req: unknown) => (req as Request & { rateLimit: { remaining: number; resetTime: Date } }).rateLimit

function windowOf(req: unknown): CountedWindow {
  const { resetTime } = infoOf(req)
  if (resetTime instanceof CountedWindow) return resetTime
  throw new Error('the store of the limiter does not tell the hits of the day')
}
