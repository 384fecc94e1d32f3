import { setTimeout as delay } from 'node:timers/promises'
import { clock } from '../../processors/backfill/display.ts'

const began = Date.now()
const lookMs = 250
const tellMs = 5_000
/** What has not moved for so long does not move any more. */
const stalledMs = 900_000

/** One line for whoever watches, with the time since the start. */
export function say(text: string): void {
  process.stdout.write(`${clock((Date.now() - began) / 1_000)} ${text}\n`)
}

/** Waits until all is done, and tells how much is, and how long the rest takes at that pace. Returns the seconds. */
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

/** The value that so many of a hundred are not above; undefined of none. */
export function percentile(values: readonly number[], percent: number): number | undefined {
  return values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil((values.length * percent) / 100) - 1)]
}
