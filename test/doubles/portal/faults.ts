/** What the server does instead of answering as it should. */
export type Fault =
  /**
   * An error status; 429 and 529 with Retry-After are overload. `stalls`: nothing of the body comes, and the connection
   * stays open.
   */
  | { readonly kind: 'status'; readonly status: number; readonly retryAfterSeconds?: number; readonly stalls?: boolean }
  /** 204: nothing above the frontier. */
  | { readonly kind: 'noContent' }
  /** 409: the client's chain is not the server's. Default list: the blocks below the one asked for, ascending. */
  | { readonly kind: 'fork'; readonly previousBlocks?: readonly { number: number; hash: string }[] }
  /**
   * The stream ends in the middle of the line after `lines` whole ones: `end` properly; `truncate` properly, but with
   * the compressed data cut as well; `abort` by closing the connection; `reset` by a TCP reset, which may also take
   * lines back that the client has not read yet.
   */
  | { readonly kind: 'cut'; readonly lines: number; readonly how: 'end' | 'truncate' | 'abort' | 'reset' }
  /** After `lines` whole lines nothing more comes and the connection stays open. */
  | { readonly kind: 'silence'; readonly lines: number }
  /** Line `line` (0 is the first) is replaced; returning undefined leaves it out. */
  | { readonly kind: 'line'; readonly line: number; readonly replace: (text: string) => string | undefined }
  /** Lines `line` and `line + 1` change places. */
  | { readonly kind: 'swap'; readonly line: number }

/** Which requests a fault applies to. */
type FaultRoute = 'stream' | 'head' | 'height' | 'worker' | 'query'

interface FaultOptions {
  /** Default: stream. */
  readonly route?: FaultRoute
  /** Requests of the route that are still answered properly before. Default: 0. */
  readonly skip?: number
  /** Requests the fault then applies to. Default: 1. */
  readonly times?: number
}

/** Faults waiting for their requests, oldest first; the first one whose turn it is applies, one a request. */
export class Faults {
  #waiting: { fault: Fault; route: FaultRoute; skip: number; times: number }[] = []

  add(fault: Fault, { route = 'stream', skip = 0, times = 1 }: FaultOptions = {}): void {
    this.#waiting.push({ fault, route, skip, times })
  }

  clear(): void {
    this.#waiting = []
  }

  /** Faults that no request has met yet, wholly or in part. */
  get pending(): number {
    return this.#waiting.length
  }

  /** The fault for the request that came in just now; undefined: answer it properly. */
  take(route: FaultRoute): Fault | undefined {
    let taken: Fault | undefined
    for (const entry of this.#waiting) {
      if (entry.route !== route) continue
      if (entry.skip > 0) entry.skip--
      else if (!taken && entry.times > 0) {
        entry.times--
        taken = entry.fault
      }
    }
    this.#waiting = this.#waiting.filter(({ times }) => times > 0)
    return taken
  }
}

/** A line replacement: the parent hash of the block on it becomes one that no block has. */
export function withForeignParent(text: string): string {
  const line = JSON.parse(text)
  line.header.parentHash = `0x${'de'.repeat(32)}`
  return JSON.stringify(line)
}
