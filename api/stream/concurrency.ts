import type { ServerResponse } from 'node:http'
import { ApiError } from '../http/errors.ts'

interface ConcurrencyLimits {
  /** Answers that may be under way at the same time: of one client, and of all. */
  readonly ofClient: number
  readonly ofProcess: number
  /** Retry-After of a refusal, and `windowSeconds` in its body; in seconds. */
  readonly retrySeconds: number
  readonly windowSeconds: number
  /** What is counted, in the plural. */
  readonly what: string
}

/** Bounds how many answers are under way at the same time, of each client and of all. */
export class ConcurrencyLimit {
  readonly #ofClient = new Map<string, number>()
  #taken = 0

  constructor(private readonly limits: ConcurrencyLimits) {}

  /**
   * Takes a slot until the response closes. False: it is closed already, because the client left while the request
   * waited for something; no slot is taken, and there is nobody to answer. Throws ERR_RATE_LIMITED if none is free.
   */
  take(client: string, res: ServerResponse): boolean {
    if (res.destroyed) return false // it closes once, and has: nothing would give the slot back
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
    res.once('close', () => this.#giveBack(client))
    return true
  }

  #giveBack(client: string): void {
    this.#taken--
    const left = (this.#ofClient.get(client) ?? 0) - 1
    if (left > 0) this.#ofClient.set(client, left)
    else this.#ofClient.delete(client)
  }
}
