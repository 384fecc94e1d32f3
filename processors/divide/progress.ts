import { clock } from '../backfill/display.ts'

/** Milliseconds between two lines of progress. */
const everyMs = 5_000

/** Progress of a copy, with rate and time left. */
export class CopyProgress {
  readonly #startedAt = performance.now()
  #saidAt = this.#startedAt
  #added = 0

  /** `rows`: about how many there are in all; `copied`: of them, those that earlier runs have copied. */
  constructor(
    private readonly total: { readonly rows: number; readonly copied: number },
    private readonly print: (line: string) => void,
  ) {}

  add(rows: number): void {
    this.#added += rows
    if (performance.now() - this.#saidAt < everyMs) return
    this.#saidAt = performance.now()
    this.print(this.text())
  }

  /** `45 % of about 1200000 rows, 50000 rows/s, 0:12 left` */
  text(): string {
    const done = this.total.copied + this.#added
    const rows = Math.max(this.total.rows, done)
    const rate = this.#added / Math.max((performance.now() - this.#startedAt) / 1000, 0.001)
    const left = rate === 0 ? '' : `, ${clock((rows - done) / rate)} left`
    return `${Math.floor((100 * done) / Math.max(rows, 1))} % of about ${rows} rows, ${Math.round(rate)} rows/s${left}`
  }
}
