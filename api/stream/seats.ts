import { ApiError } from '../http/errors.ts'

interface SeatLimits {
  /** Open at once: of one client, and of all. */
  readonly ofClient: number
  readonly ofProcess: number
  /** What a client that was refused is told to wait, and for how long one is open at most; seconds. */
  readonly retrySeconds: number
  readonly windowSeconds: number
  /** What is counted, in the plural. */
  readonly what: string
}

/** Counts the answers that are under way, of each client and of all. */
export class Seats {
  readonly #ofClient = new Map<string, number>()
  #taken = 0

  constructor(private readonly limits: SeatLimits) {}

  /** Takes one, to be given back once by the function returned. Refused as an ApiError when there is none. */
  take(client: string): () => void {
    const { ofClient, ofProcess, retrySeconds, windowSeconds, what } = this.limits
    const own = this.#ofClient.get(client) ?? 0
    const isOwn = own >= ofClient
    if (isOwn || this.#taken >= ofProcess) {
      const most = isOwn ? ofClient : ofProcess
      throw new ApiError(
        'ERR_RATE_LIMITED',
        `${isOwn ? 'a client' : 'all together'} may have ${most} ${what} at once`,
        {
          limits: { attempts: most, windowSeconds },
          retryAfterSeconds: retrySeconds,
        },
      )
    }
    this.#taken++
    this.#ofClient.set(client, own + 1)
    return () => {
      this.#taken--
      const left = (this.#ofClient.get(client) ?? 0) - 1
      if (left > 0) this.#ofClient.set(client, left)
      else this.#ofClient.delete(client)
    }
  }
}
