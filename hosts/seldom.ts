import { minute } from '../ops/time.ts'

/** Shortest time between two lines about the same trouble, in milliseconds. */
const quietMs = 10 * minute

/** Keeps a trouble that lasts from filling the log. The keys are few and fixed. */
export class Seldom {
  #toldAt = new Map<string, number>()

  /** Whether a line about this trouble is due; if so, none is for the next ten minutes. */
  isDue(trouble: string): boolean {
    const now = performance.now()
    const last = this.#toldAt.get(trouble)
    if (last !== undefined && now - last < quietMs) return false
    this.#toldAt.set(trouble, now)
    return true
  }
}
