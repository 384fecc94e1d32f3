import { streamLimits } from '../../config/limits.ts'
import type { Reader } from './reader.ts'
import { type StreamEvent, writeEvent, writeHeartbeat, writePlace, writeReset } from './wire.ts'

/** A log whose lines are numbered in the order in which they become visible. */
export interface Log {
  head(): Promise<LogHead>
  /** One page of lines with numbers above `seq`; `reached` is the number after which the next page begins. */
  after(seq: number): Promise<{ readonly lines: readonly LogLine[]; readonly reached: number }>
}

export interface LogHead {
  /** Id of the log; in a log with another epoch, the numbers are of other lines. */
  readonly epoch: string
  /** Number of the newest line; 0 before the first. */
  readonly head: number
}

export interface LogLine {
  readonly seq: number
  readonly kind: string
  readonly fid: number
  /** The line as it is sent: JSON without a line break. */
  readonly text: string
}

/** An open stream that follows a log from a place on. */
export interface Follow {
  readonly reader: Reader
  readonly wants: (line: LogLine) => boolean
  /** Epoch of the log that it follows. */
  readonly epoch: string
  /** Number of the last line that was looked at for it. */
  seq: number
  /** When anything was last sent to it, heartbeats included, in milliseconds since the epoch. */
  heardAt: number
  busy: boolean
}

interface FollowerDeps {
  readonly log: Log
  /** Current time, in milliseconds since the epoch. */
  readonly now: () => number
  /** True: all streams are to end. */
  readonly isStopping: () => boolean
  /** Called with a failure, once a minute at most; what failed is retried at the next look. */
  readonly onFailure: (cause: unknown) => void
}

const tellEveryMs = 60_000

/**
 * Polls the head of the log once a second for all streams together, and not at all while there are none; a stream that
 * is behind is sent pages. No database connection is held in between.
 */
export class Follower {
  readonly #deps: FollowerDeps
  readonly #follows = new Set<Follow>()
  /** Page reads in flight, by the number they begin after: streams at the same place share one (single flight). */
  readonly #pages = new Map<number, ReturnType<Log['after']>>()
  #timer: NodeJS.Timeout | undefined
  #looking = false
  #toldAt = Number.NEGATIVE_INFINITY

  constructor(deps: FollowerDeps) {
    this.#deps = deps
  }

  add(follow: Follow): void {
    this.#follows.add(follow)
    follow.reader.res.once('close', () => this.#remove(follow))
    this.#timer ??= setInterval(() => void this.#look(), streamLimits.lookMs)
    void this.#look()
  }

  #remove(follow: Follow): void {
    this.#follows.delete(follow)
    if (this.#follows.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  async #look(): Promise<void> {
    if (this.#deps.isStopping()) for (const { reader } of this.#follows) reader.end()
    if (this.#looking) return
    this.#looking = true
    try {
      const { epoch, head } = await this.#deps.log.head()
      for (const follow of this.#follows) {
        // A stream that has ended stays here until its client has taken the rest.
        if (!follow.busy && !follow.reader.isGone) void this.#serve(follow, epoch, head)
      }
    } catch (cause) {
      this.#fail(cause)
    } finally {
      this.#looking = false
    }
  }

  async #serve(follow: Follow, epoch: string, head: number): Promise<void> {
    follow.busy = true
    try {
      if (follow.epoch !== epoch) return follow.reader.end(writeReset({ epoch, head }))
      while (follow.seq < head && (await this.#readTo(follow, epoch)));
      const { reader, seq } = follow
      const now = this.#deps.now()
      if (now >= reader.endsAt) reader.end()
      else if (now - follow.heardAt >= streamLimits.heartbeatSeconds * 1_000) {
        follow.heardAt = now
        await reader.write(writeHeartbeat(writePlace(epoch, seq), new Date(now)))
      }
    } catch (cause) {
      this.#fail(cause)
    } finally {
      follow.busy = false
    }
  }

  /** Sends one page. False: the client is gone, its stream has ended or is to end, or there is nothing further. */
  async #readTo(follow: Follow, epoch: string): Promise<boolean> {
    const { reader, seq } = follow
    const { lines, reached } = await this.#page(seq)
    for (const line of lines) {
      if (!follow.wants(line)) continue
      follow.heardAt = this.#deps.now()
      if (!(await reader.write(writeEvent(eventOf(epoch, line))))) return false
    }
    follow.seq = reached
    return reached > seq && !reader.isGone && this.#deps.now() < reader.endsAt
  }

  #page(seq: number): ReturnType<Log['after']> {
    const known = this.#pages.get(seq)
    if (known) return known
    const page = this.#deps.log.after(seq).finally(() => this.#pages.delete(seq))
    this.#pages.set(seq, page)
    return page
  }

  #fail(cause: unknown): void {
    const now = this.#deps.now()
    if (now - this.#toldAt < tellEveryMs) return
    this.#toldAt = now
    this.#deps.onFailure(cause)
  }
}

const eventOf = (epoch: string, { seq, kind, text }: LogLine): StreamEvent => ({
  id: writePlace(epoch, seq),
  event: kind,
  data: text,
})
