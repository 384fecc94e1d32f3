import type { Logger } from 'pino'
import type { RedisReply } from 'rate-limit-redis'
import { createClient } from 'redis'

/**
 * The timeout of a reply: the client library itself has none for a command that is already written. Counted in ticks
 * of the event loop, because time in which this process was too busy to read a reply is no fault of Redis.
 */
const tickMs = 50
const ticksToReply = 5
const replyTimeoutMs = tickMs * ticksToReply
/** Timeouts in a row that open the circuit breaker: a single one may be a hiccup. */
const missesToOpen = 2
/** Milliseconds for which the circuit breaker stays open and nothing is sent; then a single command probes Redis. */
const pauseMs = 1_000
const connectTimeoutMs = 1_000
/** A connection silent for this long is replaced; pings keep a healthy one from being silent. */
const silenceMs = 3_000
const pingEveryMs = 1_000
const slowestReconnectMs = 500

export interface RedisSender {
  send(...command: string[]): Promise<RedisReply>
  /** Whether a command would be sent now. */
  isReady(): boolean
  stop(): Promise<void>
}

/** Commands to Redis that are answered, or fail, within `replyTimeoutMs`; connects and reconnects in the background. */
export function connectRedis(url: string, log: Logger): RedisSender {
  const client = createClient({
    url,
    disableOfflineQueue: true,
    pingInterval: pingEveryMs,
    // Its own timeout does not cover a command once written, and costs more than the command.
    commandOptions: { timeout: 0 },
    socket: {
      connectTimeout: connectTimeoutMs,
      socketTimeout: silenceMs,
      reconnectStrategy: (retries) => Math.min(50 * 2 ** retries, slowestReconnectMs),
    },
  })
  const health = logChanges(log)
  client.on('error', health.failed)
  let stopped = false
  client.connect().catch((error) => {
    if (!stopped) log.error({ err: error }, 'gave up connecting to Redis')
  })

  let pausedUntil = 0
  let trying = false
  let misses = 0
  let missedAt = 0
  const miss = (sentAt: number) => {
    if (sentAt < missedAt) return // sent beside the one that was missed: the same hiccup
    misses += 1
    missedAt = performance.now()
    if (misses >= missesToOpen) pausedUntil = Date.now() + pauseMs
  }
  const isReady = () => client.isReady && Date.now() >= pausedUntil && !(pausedUntil > 0 && trying)
  return {
    isReady,
    async send(...command) {
      if (!isReady()) throw new Error('Redis does not answer')
      trying = true
      const sentAt = performance.now()
      try {
        const reply = await inTime(client.sendCommand(command))
        pausedUntil = 0
        misses = 0
        health.answered()
        return reply as unknown as RedisReply
      } catch (error) {
        if (error instanceof MissedReply) miss(sentAt)
        if (!isMissingScript(error)) health.failed(error as Error)
        throw error
      } finally {
        trying = false
      }
    },
    async stop() {
      stopped = true
      client.destroy()
    },
  }
}

class MissedReply extends Error {}

function inTime<T>(reply: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const miss = () => reject(new MissedReply(`Redis did not answer within ${replyTimeoutMs} ms`))
    let ticks = 0
    // While this process is busy the ticks stand still; what lies in the socket is read between two of them, and once
    // more before setImmediate runs.
    const timer = setInterval(() => {
      ticks += 1
      if (ticks < ticksToReply) return
      clearInterval(timer)
      setImmediate(miss)
    }, tickMs)
    reply.then(resolve, reject).finally(() => clearInterval(timer))
  })
}

/** Whether Redis does not have the script, as after a restart; the caller then sends its text with EVAL. */
const isMissingScript = (error: unknown) => error instanceof Error && error.message.startsWith('NOSCRIPT')

/** Logs one line when Redis stops answering and one when it answers again, not one a request. */
function logChanges(log: Logger) {
  let up: boolean | undefined
  return {
    answered() {
      if (up !== true) log.info('Redis answers: limits are counted')
      up = true
    },
    failed(error: Error) {
      if (up !== false) log.error({ err: error }, 'Redis does not answer: metered requests get 503')
      up = false
    },
  }
}
