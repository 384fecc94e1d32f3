import { streamLimits } from '../../limits.config.ts'
import { writePlace } from './place.ts'
import type { Reader } from './reader.ts'
import { type StreamEvent, writeEvent, writeHeartbeat, writeReset } from './wire.ts'

/** A log whose lines are numbered in the order in which they come to be seen. */
export interface Log {
  head(): Promise<LogHead>
  /** Lines behind a number, some of them; `reached` is the number to go on behind. */
  after(seq: number): Promise<{ readonly lines: readonly LogLine[]; readonly reached: number }>
}

export interface LogHead {
  /** Which log it is. */
  readonly epoch: string
  /** The newest number; 0 before the first. */
  readonly head: number
}

export interface LogLine {
  readonly seq: number
  readonly kind: string
  readonly fid: number
  /** JSON, in one line. */
  readonly text: string
}

/** Somebody who follows a log from a place on. */
export interface Follow {
  readonly reader: Reader
  readonly wants: (line: LogLine) => boolean
  /** Of the log that it follows. */
  readonly epoch: string
  /** Number of the last line that was looked at for it. */
  seq: number
  /** Milliseconds since the epoch. */
  heardAt: number
  busy: boolean
}

interface FollowerDeps {
  readonly log: Log
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** True: all streams are to end. */
  readonly isStopping: () => boolean
  /** Told of failures, once a minute; they are made up for by asking again. */
  readonly onFailure: (cause: unknown) => void
}

const tellEveryMs = 60_000

/**
 * Asks the log for its newest number once a second for all who listen, and nothing while nobody does; who is behind is
 * read to in pages. No connection of the database is held in between.
 */
export class Follower {
  readonly #deps: FollowerDeps
  readonly #follows = new Set<Follow>()
  /** Pages under way, by the number behind which they are: who is at the same place shares them. */
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
      for (const follow of this.#follows) if (!follow.busy) void this.#serve(follow, epoch, head)
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

  /** One page. False: nobody is there any more, or there is nothing further. */
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
