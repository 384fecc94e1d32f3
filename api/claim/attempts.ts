import type { RedisReply } from 'rate-limit-redis'
import { claimLimits } from '../../config/limits.claims.ts'
import { requestLimits } from '../../config/limits.ts'
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
  /** Keeps a word under a key for so many seconds from now, in the place of what it had. */
  remember(key: string, word: string, seconds: number): Promise<void>
  recall(key: string): Promise<string | undefined>
}

interface ProofAttempt {
  readonly client: string
  readonly fid: number
  /** Host that would be asked for a manifest; undefined: none. */
  readonly host: string | undefined
}

/** Told what a host answered: which FID its manifest names; undefined: none, or there is no manifest. */
type Answered = (namedFid: number | undefined) => Promise<void>

/**
 * Counts an attempt to prove something of a FID before anybody is asked. Throws ERR_RATE_LIMITED. Of a host the fetches
 * are counted that do not find the claimant's FID, whichever it is. The FID that the host named last is not refused for
 * their number: nobody locks an owner out by asking his host. `kind` begins the names of a count of its own.
 */
export async function countProof(
  counter: AttemptCounter,
  { client, fid, host }: ProofAttempt,
  kind = '',
): Promise<Answered> {
  refuseBeyond('client', await counter.count(`client:${kind}${client}`))
  if (host === undefined) return async () => {}
  refuseBeyond('client and host', await counter.count(`client and host:${kind}${client} ${host}`))
  const asked = await counter.count(`host:${kind}${host}`)
  const named = await counter.recall(`named:${host}`)
  if (named !== String(fid)) refuseBeyond('host', asked)
  return async (namedFid) => {
    // Longer than a window, so that the owner is known when the next one begins.
    await counter.remember(`named:${host}`, String(namedFid), 2 * windowSeconds)
    if (namedFid === fid) await counter.giveBack(`host:${kind}${host}`)
  }
}

/** Throws ERR_RATE_LIMITED from the attempt after the last allowed one on; attempts refused here count too. */
function refuseBeyond(
  kind: keyof typeof limits,
  { attempts, leftMs }: { readonly attempts: number; readonly leftMs: number },
): void {
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
  const windows = new Windows<{ hits: number; endsAt: number; word?: string }>(maxNames)
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
    async remember(key, word, seconds) {
      const time = now()
      windows.keep(key, { hits: 1, endsAt: time + seconds * 1_000, word }, time)
    },
    async recall(key) {
      return windows.find(key, now())?.word
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
  const ask = (...command: string[]) =>
    send(...command).catch((cause) => {
      throw tryAgainShortly(cause)
    })
  const nameOf = (key: string) => `claim:${key}`
  return {
    async count(key, seconds = windowSeconds) {
      const answer = await ask('EVAL', script, '1', nameOf(key), String(seconds * 1_000))
      const [attempts, leftMs] = answer as [number, number]
      return { attempts, leftMs }
    },
    async giveBack(key) {
      await ask('EVAL', giveBackScript, '1', nameOf(key))
    },
    async remember(key, word, seconds) {
      await ask('SET', nameOf(key), word, 'EX', String(seconds))
    },
    async recall(key) {
      const word = await ask('GET', nameOf(key))
      return typeof word === 'string' ? word : undefined
    },
  }
}
