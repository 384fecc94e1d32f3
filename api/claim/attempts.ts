import type { RedisReply } from 'rate-limit-redis'
import { claimLimits, requestLimits } from '../../limits.config.ts'
import { ApiError } from '../http/errors.ts'
import { daySeconds, nextUtcMidnight } from '../limits/window.ts'
import { Windows } from '../limits/windows.ts'

const { attempts: limits, attemptSeconds: windowSeconds, acceptedPerDay } = claimLimits

/** Counts attempts per key in fixed windows that begin with a key's first attempt. */
export interface AttemptCounter {
  /**
   * Counts one attempt. Returns the attempts in the window so far, this one included, and the milliseconds left in it.
   * `seconds`: length of the window; default: that of attempts to claim.
   */
  count(key: string, seconds?: number): Promise<{ readonly attempts: number; readonly leftMs: number }>
  /** Takes back an attempt that was counted; nothing happens once its window is over. */
  giveBack(key: string): Promise<void>
}

interface ProofAttempt {
  readonly client: string
  readonly fid: number
  /** Host that would be asked for a manifest; undefined: none. */
  readonly host: string | undefined
}

/**
 * Counts an attempt to prove something of a FID before anybody is asked. Throws ERR_RATE_LIMITED. Returns what takes it
 * back from the host, to be called when the host's manifest names the FID: others who ask a host, for this FID or for
 * theirs, must not lock its owner out. `kind` begins the names of a count of its own.
 */
export async function countProof(
  counter: AttemptCounter,
  { client, fid, host }: ProofAttempt,
  kind = '',
): Promise<() => Promise<void>> {
  await countAttempt(counter, 'client', `${kind}${client}`)
  if (host === undefined) return async () => {}
  await countAttempt(counter, 'client and host', `${kind}${client} ${host}`)
  const asked = `${kind}${host} ${fid}`
  await countAttempt(counter, 'host', asked)
  return () => counter.giveBack(`host:${asked}`)
}

/** Throws ERR_RATE_LIMITED from the attempt after the last allowed one on; attempts refused here count too. */
async function countAttempt(counter: AttemptCounter, kind: keyof typeof limits, name: string): Promise<void> {
  const { attempts, leftMs } = await counter.count(`${kind}:${name}`)
  if (attempts <= limits[kind]) return
  throw new ApiError('ERR_RATE_LIMITED', `at most ${limits[kind]} claims a ${kind} in ${windowSeconds / 60} minutes`, {
    limits: { attempts: limits[kind], windowSeconds },
    retryAfterSeconds: Math.ceil(leftMs / 1_000),
  })
}

/**
 * Throws ERR_RATE_LIMITED once a fid has reached its accepted claims of a UTC day. Checked after the proof has held, so
 * that strangers cannot use up an owner's limit, and where they are counted under `lockClaims`, so that none is accepted
 * between the count and the insert.
 */
export function refuseBeyondDay(claimsToday: number, now: number): void {
  if (claimsToday < acceptedPerDay) return
  throw new ApiError('ERR_RATE_LIMITED', `at most ${acceptedPerDay} claims of a fid are accepted a day`, {
    limits: { attempts: acceptedPerDay, windowSeconds: daySeconds },
    retryAfterSeconds: Math.ceil((nextUtcMidnight(now) - now) / 1_000),
  })
}

/** Error of an attempt that cannot be counted or queued just now; it is our own doing, not the claimant's. */
export function tryAgainShortly(cause: unknown): ApiError {
  const { uncountedRetrySeconds: retryAfterSeconds } = requestLimits
  return new ApiError('ERR_RATE_LIMITER_UNAVAILABLE', undefined, { retryAfterSeconds }, { cause })
}

/** Most windows kept in memory. */
const maxNames = 100_000

/** A counter in the memory of this process alone. */
export function createMemoryCounter(now: () => number): AttemptCounter {
  const windows = new Windows<{ hits: number; endsAt: number }>(maxNames)
  return {
    async count(key, seconds = windowSeconds) {
      const time = now()
      const { hits, endsAt } = windows.find(key, time) ?? { hits: 0, endsAt: time + seconds * 1_000 }
      windows.keep(key, { hits: hits + 1, endsAt }, time)
      return { attempts: hits + 1, leftMs: endsAt - time }
    },
    async giveBack(key) {
      const time = now()
      const window = windows.find(key, time)
      if (window) windows.keep(key, { ...window, hits: window.hits - 1 }, time)
    },
  }
}

const script = `
local attempts = redis.call('INCR', KEYS[1])
local left = redis.call('PTTL', KEYS[1])
if left < 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  left = tonumber(ARGV[1])
end
return { attempts, left }`

const giveBackScript = `if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('DECR', KEYS[1]) end`

/** A counter in Redis, shared by all processes. Throws ERR_RATE_LIMITER_UNAVAILABLE when Redis does not answer. */
export function createRedisCounter(send: (...command: string[]) => Promise<RedisReply>): AttemptCounter {
  const run = (text: string, key: string, ...args: string[]) =>
    send('EVAL', text, '1', `claim:${key}`, ...args).catch((cause) => {
      throw tryAgainShortly(cause)
    })
  return {
    async count(key, seconds = windowSeconds) {
      const [attempts, leftMs] = (await run(script, key, String(seconds * 1_000))) as [number, number]
      return { attempts, leftMs }
    },
    async giveBack(key) {
      await run(giveBackScript, key)
    },
  }
}
