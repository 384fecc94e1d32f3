import { directoryGrowth } from '../../../db/queries/directory/growth.ts'
import { directoryStats } from '../../../db/queries/directory/stats.ts'
import { objectText } from '../../http/cursor.ts'
import { json, route } from '../../http/route.ts'
import { stats as statsAnswer } from '../../schemas/directory/stats.ts'
import { growthAnswer } from '../../schemas/settlements/timeseries.ts'
import { seriesQuery, seriesWindow } from '../../series/window.ts'

/** GET /api/stats */
export const stats = route({
  path: '/api/stats',
  operationId: 'getStats',
  summary: 'Totals of the directory, and how far each chain is indexed.',
  answer: { type: json, schema: statsAnswer, description: 'The totals.' },
  tool: {
    name: 'get_stats',
    use: 'How many agents, claims, registrations and settlements there are, and how far each chain is indexed.',
  },
  maxAgeSeconds: 60,
  freshSeconds: 60,
  read: (_input, { database }) => directoryStats(database),
})

/** GET /api/growth */
export const growth = route({
  path: '/api/growth',
  operationId: 'getGrowth',
  summary: 'Agents by when they became one, and by when they were first claimed.',
  query: seriesQuery,
  answer: {
    type: json,
    schema: growthAnswer,
    description: 'A point for every interval, ascending. Agents of today: one that left the index is in none.',
  },
  maxAgeSeconds: 60,
  freshSeconds: 60,
  async read(asked, { database, now }) {
    const { starts, end, chain, members } = seriesWindow(asked, now())
    const points = starts.length === 0 ? '[]' : await directoryGrowth(database, { starts, end, chain })
    return objectText({ ...members, points })
  },
})
