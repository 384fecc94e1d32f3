import type { Logger } from 'pino'
import type { RedisReply } from 'rate-limit-redis'
import { createClient, ErrorReply } from 'redis'
import { type Backoff, doubledMs } from '../../ops/time.ts'

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
const reconnects: Backoff = { baseMs: 50, capMs: slowestReconnectMs }
/**
 * What a connection has to take before anything is counted over it: a write, by the commands that count. A replica, a
 * server that is loading its data, one out of memory or one that may not write to its disk answers pings all the same.
 */
const trial = ['EVAL', "redis.call('INCR', KEYS[1]) return redis.call('PEXPIRE', KEYS[1], 1000)", '1', 'limit:trial']

export interface RedisSender {
  send(...command: string[]): Promise<RedisReply>
  /** Whether a command would be sent now. */
  isReady(): boolean
  stop(): Promise<void>
}

/**
 * Commands to Redis that are answered, or fail, within `replyTimeoutMs`; connects and reconnects in the background. A
 * connection on which Redis answers with an error is left: after a failover the name leads to another server, while the
 * old connection stays with what is a replica now.
 */
export function connectRedis(url: string, log: Logger): RedisSender {
  return new Connection(url, log)
}

class Connection implements RedisSender {
  readonly #health
  readonly #breaker = new Breaker()
  #client
  #stopped = false
  #takesWrites = false
  #later: NodeJS.Timeout | undefined
  #trying = false

  constructor(
    private readonly url: string,
    private readonly log: Logger,
  ) {
    this.#health = logChanges(log)
    this.#client = this.#open()
  }

  readonly isReady = () => this.#client.isReady && this.#takesWrites && this.#breaker.lets(this.#trying)

  readonly send = async (...command: string[]): Promise<RedisReply> => {
    if (!this.isReady()) throw new Error('Redis does not answer')
    const asked = this.#client
    this.#trying = true
    const sentAt = performance.now()
    try {
      const reply = await inTime(asked.sendCommand(command))
      if (asked === this.#client) this.#answered()
      return reply as unknown as RedisReply
    } catch (error) {
      if (isMissingScript(error)) throw error
      if (error instanceof MissedReply || error instanceof ErrorReply) this.#breaker.miss(sentAt)
      if (error instanceof ErrorReply) this.#leave(asked, error)
      this.#health.failed(error as Error)
      throw error
    } finally {
      this.#trying = false
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#later)
    this.#client.destroy()
  }

  #open(): Client {
    const opened = clientOf(this.url)
    opened.on('error', (error) => {
      if (opened !== this.#client) return
      this.#takesWrites = false
      this.#health.failed(error)
    })
    opened.on('ready', () => this.#tryOut(opened))
    opened.connect().catch((error) => {
      if (!this.#stopped && opened === this.#client) this.log.error({ err: error }, 'gave up connecting to Redis')
    })
    return opened
  }

  async #tryOut(opened: Client): Promise<void> {
    try {
      await inTime(opened.sendCommand(trial))
      if (opened === this.#client) this.#answered()
    } catch (error) {
      this.#leave(opened, error as Error)
    }
  }

  #answered(): void {
    this.#takesWrites = true
    this.#breaker.close()
    this.#health.answered()
  }

  #leave(opened: Client, error: Error): void {
    if (this.#stopped || opened !== this.#client || this.#later) return
    this.#takesWrites = false
    this.#health.failed(error)
    opened.destroy()
    this.#later = setTimeout(() => {
      this.#later = undefined
      this.#client = this.#open()
    }, slowestReconnectMs)
  }
}

type Client = ReturnType<typeof clientOf>

function clientOf(url: string) {
  return createClient({
    url,
    disableOfflineQueue: true,
    pingInterval: pingEveryMs,
    // Its own timeout does not cover a command once written, and costs more than the command.
    commandOptions: { timeout: 0 },
    socket: {
      connectTimeout: connectTimeoutMs,
      socketTimeout: silenceMs,
      reconnectStrategy: (retries) => doubledMs(reconnects, retries),
    },
  })
}

/** Sends nothing for a while when replies were missed in a row; then a single command probes Redis. */
class Breaker {
  #pausedUntil = 0
  #misses = 0
  #missedAt = 0

  close() {
    this.#pausedUntil = 0
    this.#misses = 0
  }

  miss(sentAt: number) {
    if (sentAt < this.#missedAt) return // sent along with the one that was missed: the same hiccup
    this.#misses += 1
    this.#missedAt = performance.now()
    if (this.#misses >= missesToOpen) this.#pausedUntil = Date.now() + pauseMs
  }

  /** Whether a command may be sent, while another one is on its way or not. */
  lets(trying: boolean): boolean {
    return Date.now() >= this.#pausedUntil && !(this.#pausedUntil > 0 && trying)
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
