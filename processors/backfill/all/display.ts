import { blocksOf, clock, type Display, doneOf, percent, type ShardProgress } from '../display.ts'

interface Part {
  readonly name: string
  /** Work of this part in settlements; its share of the sum is its share of the progress. */
  readonly work: number
}

const plainEveryMs = 5_000
const drawnEveryMs = 250

/** One line for the loads of several chains: drawn over itself on a terminal, else written every few seconds. */
export class AllDisplay {
  readonly #startedAt = Date.now()
  /** Work of the parts before the current one; `#begun`: work that was done when this run began. In settlements. */
  #before = 0
  #begun: number | undefined
  /** Parts in the order in which they are loaded. */
  readonly #order: number[]

  constructor(
    private readonly parts: readonly Part[],
    private readonly out: Pick<NodeJS.WriteStream, 'write' | 'isTTY'>,
    private readonly now: () => number = Date.now,
  ) {
    this.#order = [...parts.keys()]
  }

  /** The part is loaded after all others. */
  putLast(index: number): void {
    this.#order.push(...this.#order.splice(this.#order.indexOf(index), 1))
  }

  /** Returns the function that opens the display of one part; parts are loaded in their order. */
  opener(index: number): (shards: readonly ShardProgress[]) => Display {
    return (shards) => {
      const { out } = this
      const erase = out.isTTY ? '\r\u001b[2K' : ''
      const print = () => out.write(out.isTTY ? erase + this.#line(index, shards) : `${this.#line(index, shards)}\n`)
      const before = this.#order.slice(0, this.#order.indexOf(index))
      this.#before = before.reduce((sum, part) => sum + (this.parts[part]?.work ?? 0), 0)
      this.#begun ??= this.#done(index, shards)
      const timer = setInterval(print, out.isTTY ? drawnEveryMs : plainEveryMs)
      return {
        line: (text) => void out.write(`${erase}${text}\n`),
        update() {},
        stop() {
          clearInterval(timer)
          out.write(`${erase}`)
          if (out.isTTY) print()
          out.write(out.isTTY ? '\n' : '')
        },
      }
    }
  }

  #done(index: number, shards: readonly ShardProgress[]): number {
    const { work } = this.parts[index] as Part
    return this.#before + (work * doneOf(shards)) / blocksOf(shards)
  }

  /** `in all 41.2 %, 1:02:03 left; base (3 of 6) 12.0 %, 123456 settlements` */
  #line(index: number, shards: readonly ShardProgress[]): string {
    const all = this.parts.reduce((sum, { work }) => sum + work, 0)
    const done = this.#done(index, shards)
    const ownWork = done - (this.#begun ?? 0)
    const seconds = (this.now() - this.#startedAt) / 1000
    const left = ownWork > 0 ? `, ${clock(((all - done) * seconds) / ownWork)} left` : ''
    const settlements = shards.reduce((sum, shard) => sum + shard.settlements, 0)
    const { name } = this.parts[index] as Part
    const own = `${name} (${index + 1} of ${this.parts.length}) ${percent(shards)} %, ${settlements} settlements`
    return `in all ${((100 * done) / all).toFixed(1)} %${left}; ${own}`
  }
}
