/** Clients remembered as refused; beyond these, the oldest is forgotten, and counted at the store again. */
const maxDenied = 100_000

export interface Denial {
  /** The limit that was exceeded. */
  readonly name: 'minute' | 'day'
  /** End of its window, milliseconds since the epoch. */
  readonly until: number
}

/** Clients over a limit, until its window ends: refusing them again needs no counting. */
export class DenyList {
  readonly #denials = new Map<string, Denial>()

  find(client: string, now: number): Denial | undefined {
    const denial = this.#denials.get(client)
    if (!denial) return undefined
    if (denial.until > now) return denial
    this.#denials.delete(client)
    return undefined
  }

  add(client: string, denial: Denial) {
    this.#denials.delete(client)
    this.#denials.set(client, denial)
    if (this.#denials.size <= maxDenied) return
    const [oldest] = this.#denials.keys()
    if (oldest !== undefined) this.#denials.delete(oldest)
  }
}
