import { streamLimits } from '../../limits.config.ts'
import { ApiError } from '../http/errors.ts'

/** Counts the streams that are open, of each client and of all. */
export class Seats {
  readonly #ofClient = new Map<string, number>()
  #taken = 0

  /** Takes one, to be given back once by the function returned. Refused as an ApiError when there is none. */
  take(client: string): () => void {
    const { ofClient, ofProcess, retrySeconds, lastSeconds } = streamLimits
    const own = this.#ofClient.get(client) ?? 0
    const isOwn = own >= ofClient
    if (isOwn || this.#taken >= ofProcess) {
      const most = isOwn ? ofClient : ofProcess
      throw new ApiError(
        'ERR_RATE_LIMITED',
        `${isOwn ? 'a client' : 'all together'} may have ${most} streams at once`,
        {
          limits: { attempts: most, windowSeconds: lastSeconds.most },
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
