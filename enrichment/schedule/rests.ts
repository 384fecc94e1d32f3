import { hour, second } from '../../ops/time.ts'

/** Milliseconds that a loop of the job rests when its pass found nothing to do. All others rest for COUNTS_PAUSE_SECONDS. */
export const restMs = {
  /** The loop of each source. */
  source: second / 2,
  rollup: 5 * second,
  oldChanges: hour,
} as const

/** The same of a kind that is derived by key; those that rest `with counts` rest for COUNTS_PAUSE_SECONDS. */
export const derivationRestMs = { soon: second / 4, 'with sums': 5 * second } as const

/** Rest after refreshing the rankings, as a multiple of its time: it reads all sums and may use a tenth of the time. */
export const rankingsRestFactor = 9
