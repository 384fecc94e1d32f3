import { createHash } from 'node:crypto'

/** A source of numbers that gives the same ones for the same seed. */
export interface Random {
  /** At least 0, below 1. */
  next(): number
  /** Whole, at least `low`, at most `high`. */
  int(low: number, high: number): number
  /** True with this probability. */
  chance(probability: number): boolean
  pick<T>(items: readonly T[]): T
  /** `count` different items, in a random order. */
  sample<T>(items: readonly T[], count: number): T[]
}

/** sfc32 (Chris Doty-Humphrey, PractRand), its state taken from the seed's SHA-256. */
export function createRandom(seed: string): Random {
  const digest = createHash('sha256').update(seed).digest()
  let a = digest.readInt32LE(0)
  let b = digest.readInt32LE(4)
  let c = digest.readInt32LE(8)
  let d = digest.readInt32LE(12)
  const next = () => {
    const sum = (((a + b) | 0) + d) | 0
    d = (d + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (c << 21) | (c >>> 11)
    c = (c + sum) | 0
    return (sum >>> 0) / 2 ** 32
  }
  const int = (low: number, high: number) => low + Math.floor(next() * (high - low + 1))
  const sample = <T>(items: readonly T[], count: number) => {
    const left = [...items]
    return Array.from({ length: Math.min(count, items.length) }, () => left.splice(int(0, left.length - 1), 1)[0] as T)
  }
  return {
    next,
    int,
    chance: (probability) => next() < probability,
    pick: (items) => {
      if (items.length === 0) throw new RangeError('there is nothing to pick from')
      return items[int(0, items.length - 1)] as never
    },
    sample,
  }
}
