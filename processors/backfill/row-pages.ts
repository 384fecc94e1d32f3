import { hash } from 'node:crypto'

/** Bytes of a page; rows go to the database in pages. */
const pageBytes = 256 * 1024

/** Totals of some rows, whatever their order: rows and amounts add up, and so do the checksums. */
export interface Tally {
  settlements: number
  /** Base units. */
  amount: bigint
  /** Sum, modulo 2^64, of the first eight bytes of the SHA-256 of each block's rows. */
  checksum: bigint
}

export function emptyTally(): Tally {
  return { settlements: 0, amount: 0n, checksum: 0n }
}

export function addTally(sum: Tally, more: Tally): Tally {
  return {
    settlements: sum.settlements + more.settlements,
    amount: sum.amount + more.amount,
    checksum: BigInt.asUintN(64, sum.checksum + more.checksum),
  }
}

/**
 * Encoded rows in pages, and their tally. The rows of a block stand next to each other in the order of their logs:
 * the checksum is over exactly these bytes, which COPY gives back in the same form.
 */
export class RowPages {
  #page = Buffer.allocUnsafe(pageBytes)
  /** Offsets in the page: up to where it was handed over, and (`#at`) where the next row goes. */
  #taken = 0
  #at = 0
  #full: Buffer[] = []
  #settlements = 0
  /** Sums in two halves each, so that no bigint is made per row or block; exact below 2^21 rows. */
  #amountHigh = 0
  #amountLow = 0
  #checksumHigh = 0
  #checksumLow = 0

  constructor(private readonly rowBytes: number) {}

  /** Reserves room for the rows of one block: the caller writes them into `page` from `at` on, then calls `close`. */
  open(rows: number): { page: Buffer; at: number } {
    const needed = rows * this.rowBytes
    if (this.#at + needed > this.#page.length) {
      this.#handOver()
      this.#page = Buffer.allocUnsafe(Math.max(pageBytes, needed))
      this.#taken = 0
      this.#at = 0
    }
    return { page: this.#page, at: this.#at }
  }

  /** Ends the block opened last and adds its rows to the tally; `amountAt`: offset of a row's eight-byte amount. */
  close(rows: number, amountAt: number): void {
    const page = this.#page
    const end = this.#at + rows * this.rowBytes
    for (let row = this.#at; row < end; row += this.rowBytes) {
      this.#amountHigh += page.readUInt32BE(row + amountAt)
      this.#amountLow += page.readUInt32BE(row + amountAt + 4)
    }
    const digest = hash('sha256', page.subarray(this.#at, end), 'buffer')
    this.#checksumHigh += digest.readUInt32BE(0)
    this.#checksumLow += digest.readUInt32BE(4)
    this.#settlements += rows
    this.#at = end
  }

  /** Hands over the pages that are full. */
  takeFull(): Buffer[] {
    const full = this.#full
    if (full.length > 0) this.#full = []
    return full
  }

  /** Hands over everything written and not yet taken, with the tally since the last `takeAll`. */
  takeAll(): { pages: Buffer[]; tally: Tally } {
    this.#handOver()
    const tally = {
      settlements: this.#settlements,
      amount: joined(this.#amountHigh, this.#amountLow),
      checksum: BigInt.asUintN(64, joined(this.#checksumHigh, this.#checksumLow)),
    }
    this.#settlements = 0
    this.#amountHigh = 0
    this.#amountLow = 0
    this.#checksumHigh = 0
    this.#checksumLow = 0
    return { pages: this.takeFull(), tally }
  }

  /** Rows written since the last `takeAll`. */
  get settlements(): number {
    return this.#settlements
  }

  #handOver() {
    if (this.#at > this.#taken) this.#full.push(this.#page.subarray(this.#taken, this.#at))
    this.#taken = this.#at
  }
}

function joined(high: number, low: number): bigint {
  return (BigInt(high) << 32n) + BigInt(low)
}
