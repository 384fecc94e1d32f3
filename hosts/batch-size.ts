/** Full batches in a row after which more is tried than was refused: at first, and at most after refused tries. */
const firstTrial = 20
const latestTrial = 5_000

/**
 * How many questions go into one request: fewer after a failure, more again after successes. What was refused is tried
 * again from time to time, ever more seldom: a host may have refused a batch for another reason than its size.
 */
export class BatchSize {
  #now: number
  /** Most that is sent until the next trial. */
  #most: number
  /** Largest batch that was answered since one of its size was refused. */
  #answered = 0
  #served = 0
  #untilTrial = firstTrial / 2

  constructor(private readonly limit: number) {
    this.#now = limit
    this.#most = limit
  }

  get now(): number {
    return this.#now
  }

  /** A batch of `size` was refused: from now on at most half of it is sent, or what is known to be answered. */
  refused(size: number): void {
    if (size <= this.#answered) this.#answered = 0
    this.#most = Math.max(Math.min(this.#most, Math.ceil(size / 2)), this.#answered)
    this.#now = Math.min(this.#now, this.#most)
    this.#served = 0
    this.#untilTrial = Math.min(2 * this.#untilTrial, latestTrial)
  }

  /** A batch of `size` failed, perhaps because of its size. */
  failed(size: number): void {
    this.#now = Math.ceil(Math.min(this.#now, size) / 2)
  }

  /** A batch of `size` was answered. */
  served(size: number): void {
    this.#answered = Math.max(this.#answered, size)
    if (size < this.#now) return
    if (this.#now < this.#most) this.#now++
    else if (this.#most < this.limit && ++this.#served >= this.#untilTrial) {
      this.#served = 0
      this.#most = Math.min(2 * this.#most, this.limit)
      this.#now = this.#most
    }
  }
}
