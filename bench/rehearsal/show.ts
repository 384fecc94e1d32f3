import { setTimeout as delay } from 'node:timers/promises'
import { clock } from '../../processors/backfill/display.ts'

const began = Date.now()
const lookMs = 250
const tellMs = 5_000
/** Milliseconds without progress after which waiting fails. */
const stalledMs = 900_000

/** Prints a line with the time since the start. */
export function say(text: string): void {
  process.stdout.write(`${clock((Date.now() - began) / 1_000)} ${text}\n`)
}

/** Polls until all is done, printing progress and an estimate of the time left. Returns the seconds. */
export async function untilAll(
  what: string,
  look: () => Promise<{ readonly done: number; readonly of: number }>,
): Promise<number> {
  const start = Date.now()
  const seconds = () => (Date.now() - start) / 1_000
  let from: number | undefined
  let last: number | undefined
  let movedAt = start
  for (let told = start; ; await delay(lookMs)) {
    const { done, of } = await look()
    if (done >= of) break
    from ??= done
    if (done !== last) movedAt = Date.now()
    last = done
    if (Date.now() - movedAt > stalledMs) throw new Error(`${what}: ${done} of ${of} after ${clock(seconds())}`)
    if (Date.now() - told < tellMs) continue
    told = Date.now()
    const left = done > from ? `, ${clock((seconds() * (of - done)) / (done - from))} left` : ''
    say(`${what}: ${done} of ${of}${left}`)
  }
  say(`${what}: done in ${seconds().toFixed(1)} s`)
  return seconds()
}

/** A percentile of the values (nearest rank); undefined: there are no values. */
export function percentile(values: readonly number[], percent: number): number | undefined {
  return values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil((values.length * percent) / 100) - 1)]
}
