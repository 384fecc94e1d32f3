import { createHash } from 'node:crypto'
import type { ClientRateLimitInfo } from 'express-rate-limit'
import { type RedisReply, RedisStore } from 'rate-limit-redis'
import { requestLimits } from '../../config/limits.ts'
import { ApiError } from '../http/errors.ts'
import { CountedWindow, type Limits, minuteMs, nextUtcMidnight, utcDay } from './window.ts'

/** Sends one command and gives its reply; rejects soon when there is none. */
type SendCommand = (...command: string[]) => Promise<RedisReply>

/** Milliseconds that a key outlives its UTC day, which ends by the clock of the API: it must never expire early. */
const dayKeySlackMs = 60_000

/**
 * Counts both windows of a client atomically: a request that the minute refuses does not use up the day.
 * Replies hits of the minute, milliseconds the minute has left, hits of the day (0: refused by the minute).
 */
const script = `
local minute = redis.call('INCR', KEYS[1])
local left = redis.call('PTTL', KEYS[1])
if left < 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  left = tonumber(ARGV[1])
end
if minute > tonumber(ARGV[2]) then return { minute, left, 0 } end
local day = redis.call('INCR', KEYS[2])
if day == 1 then redis.call('PEXPIRE', KEYS[2], ARGV[3]) end
return { minute, left, day }
`
const scriptSha1 = createHash('sha1').update(script).digest('hex')

/** Counts in Redis, shared by all API processes. Keeps no state of the connection, so that Redis may start later or restart. */
export class FusedRedisStore extends RedisStore {
  readonly #limits: Limits
  readonly #now: () => number

  constructor(sendCommand: SendCommand, limits: Limits, now: () => number, prefix = 'limit:') {
    super({ sendCommand, prefix })
    this.#limits = limits
    this.#now = now
  }

  /** Does nothing: the library would load its own scripts here, and stay broken for good if that failed. */
  override async init(): Promise<void> {}

  override async increment(client: string): Promise<ClientRateLimitInfo> {
    const now = this.#now()
    const reply = await this.#run(client, now).catch((cause) => {
      throw new ApiError(
        'ERR_RATE_LIMITER_UNAVAILABLE',
        undefined,
        { retryAfterSeconds: requestLimits.uncountedRetrySeconds },
        { cause },
      )
    })
    const [minute, left, day] = reply as [number, number, number]
    return { totalHits: minute, resetTime: new CountedWindow(now + left, day) }
  }

  async #run(client: string, now: number): Promise<RedisReply> {
    const key = `${this.prefix}{${client}}` // the braces put both keys into one hash slot
    const dayTtlMs = nextUtcMidnight(now) - now + dayKeySlackMs
    const command = [
      '2',
      `${key}:minute`,
      `${key}:${utcDay(now)}`,
      String(minuteMs),
      String(this.#limits.perMinute),
      String(dayTtlMs),
    ]
    try {
      return await this.sendCommand({ isReadOnly: false, command: ['EVALSHA', scriptSha1, ...command] })
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error
      return this.sendCommand({ isReadOnly: false, command: ['EVAL', script, ...command] })
    }
  }
}
