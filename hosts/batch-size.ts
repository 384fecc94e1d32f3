/** How many questions go into one request: fewer after a failure, more again after successes, up to what was refused. */
export class BatchSize {
  #now: number

  constructor(private most: number) {
    this.#now = most
  }

  get now(): number {
    return this.#now
  }

  /** A batch of `size` was refused: from now on at most half of it is sent. */
  refused(size: number): void {
    this.most = Math.min(this.most, Math.ceil(size / 2))
    this.#now = Math.min(this.#now, this.most)
  }

  /** A batch of `size` failed, perhaps because of its size. */
  failed(size: number): void {
    this.#now = Math.ceil(Math.min(this.#now, size) / 2)
  }

  /** A batch of `size` was answered. */
  served(size: number): void {
    if (size >= this.#now) this.#now = Math.min(this.#now + 1, this.most)
  }
}
