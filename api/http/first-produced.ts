import { createHash } from 'node:crypto'

/** Remembers when the content it was shown last was shown first. */
export class FirstProduced {
  readonly #now: () => number
  #digest = ''
  #at = ''

  constructor(now: () => number) {
    this.#now = now
  }

  /** ISO 8601: now for other content than last time, else the time of then. */
  timeOf(content: string): string {
    const digest = createHash('sha256').update(content).digest('base64')
    if (digest !== this.#digest) {
      this.#digest = digest
      this.#at = new Date(this.#now()).toISOString()
    }
    return this.#at
  }
}
