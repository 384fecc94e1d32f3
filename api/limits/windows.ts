interface Counted {
  /** Hits counted in it so far. */
  readonly hits: number
  /** End, in milliseconds since the epoch. */
  readonly endsAt: number
}

/**
 * Counts by key, of bounded number. When it is full, a window that has ended goes, otherwise one with the fewest hits,
 * the one that was hit longest ago first. So whoever comes from many addresses pushes out windows with one hit, and
 * nobody's count starts again before its time, unless as many others have as many hits.
 */
export class Windows<W extends Counted> {
  readonly #windows = new Map<string, W>()
  /** Keys by the number of binary digits of their hits, those that were hit longest ago first. */
  readonly #levels: Set<string>[] = []

  constructor(readonly capacity: number) {}

  /** The window of a key that has not ended. */
  find(key: string, now: number): W | undefined {
    const window = this.#windows.get(key)
    return window !== undefined && window.endsAt > now ? window : undefined
  }

  /** Keeps a window that was just hit. */
  keep(key: string, window: W, now: number): void {
    this.drop(key)
    if (this.#windows.size >= this.capacity) this.#makeRoom(now)
    this.#windows.set(key, window)
    const level = levelOf(window)
    while (this.#levels.length <= level) this.#levels.push(new Set())
    this.#levels[level]?.add(key)
  }

  drop(key: string): void {
    const window = this.#windows.get(key)
    if (!window) return
    this.#levels[levelOf(window)]?.delete(key)
    this.#windows.delete(key)
  }

  #makeRoom(now: number): void {
    const oldest = this.#levels.flatMap((keys) => keys.values().next().value ?? [])
    const key = oldest.find((one) => this.find(one, now) === undefined) ?? oldest[0]
    if (key !== undefined) this.drop(key)
  }
}

const levelOf = ({ hits }: Counted) => 32 - Math.clz32(hits)
