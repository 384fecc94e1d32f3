import { z } from 'zod'
import type { ChainName } from '../../config/chains.ts'
import { readingLimits } from '../../config/limits.ts'
import { bucketsOf, type Interval, intervals } from '../../db/queries/settlements/buckets.ts'
import { askable, timeFilter } from '../http/filter-parameters.ts'
import { chainsParameter, wordParameter } from '../http/parameters.ts'

/** Query parameters that all series have in common. */
export const seriesQuery = z.object({
  interval: wordParameter(intervals, 'day', 'Length of a point: UTC, weeks from Monday.'),
  since: timeFilter(
    `ISO 8601 with a zone; the point it is in is the first. Without it there are ${readingLimits.usualPoints}.`,
  ),
  until: timeFilter('ISO 8601 with a zone, exclusive; the point before it is the last. Without it, now.'),
  chain: chainsParameter,
})

interface SeriesWindow {
  readonly interval: Interval
  /** Start of each point, in milliseconds since the epoch; empty: there is no point. */
  readonly starts: readonly number[]
  readonly end: number
  readonly chain: readonly ChainName[] | null
  /** Members of the answer's body that all series have, as JSON texts. */
  readonly members: Record<'interval' | 'since' | 'until' | 'count', string>
}

/** Cuts the window asked for into the points of a series; without points if a filter cannot be read. */
export function seriesWindow({ interval: wanted, ...given }: z.output<typeof seriesQuery>, now: number): SeriesWindow {
  const asked = askable(given)
  const ms = (text: string | null) => (text === null ? null : Date.parse(text))
  const { interval, starts, end } = asked
    ? bucketsOf(wanted, { since: ms(asked.since), until: ms(asked.until), now })
    : { interval: wanted, starts: [], end: 0 }
  const time = (at: number) => JSON.stringify(asked ? new Date(at).toISOString() : null)
  return {
    interval,
    starts,
    end,
    chain: asked?.chain ?? null,
    members: {
      interval: JSON.stringify(interval),
      since: time(starts[0] ?? end),
      until: time(end),
      count: `${starts.length}`,
    },
  }
}
