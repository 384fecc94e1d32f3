/** A document of a megabyte: parsing it tells how fast this machine is at the moment. */
const yardstick = JSON.stringify(Array.from({ length: 20_000 }, (_, n) => ({ name: `n${n}`, at: n, list: [n, 'a'] })))

/** Rounds in which something may show how little it costs; collections of garbage and neighbours slow single ones. */
const mostRounds = 5

/** Milliseconds of processor time that this thread spends on something. */
function cpuMs(work: () => unknown): number {
  const before = process.threadCpuUsage()
  work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000
}

const parse = () => cpuMs(() => JSON.parse(yardstick))
let fastestParse = Number.POSITIVE_INFINITY

/**
 * Processor time of something, in times of what it takes to parse a megabyte of JSON: a busy or a slow machine changes both.
 * The least of a few rounds; there is only one where the first is within `enough`. The first is held to the fastest
 * parse so far, the others to one of the same moment.
 *
 * `make` makes what `work` is given, outside the measured time and for each round: results may be remembered.
 */
export function parsesTaken<T>(enough: number, make: () => T, work: (made: T) => unknown): number {
  if (fastestParse === Number.POSITIVE_INFINITY) fastestParse = Math.min(parse(), parse(), parse())
  const first = make()
  let least = cpuMs(() => work(first)) / fastestParse
  for (let round = 1; round < mostRounds && least > enough; round++) {
    const made = make()
    const parseMs = parse()
    fastestParse = Math.min(fastestParse, parseMs)
    least = Math.min(least, cpuMs(() => work(made)) / parseMs)
  }
  return least
}
