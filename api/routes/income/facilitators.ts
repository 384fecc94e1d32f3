import { facilitatorList as readFacilitators } from '../../../db/queries/income/facilitators.ts'
import { completeUntil } from '../../../db/queries/settlements/timeseries.ts'
import { json, route } from '../../http/route.ts'
import { facilitatorList } from '../../schemas/income/facilitators.ts'

/** GET /api/facilitators */
export const facilitators = route({
  path: '/api/facilitators',
  operationId: 'listFacilitators',
  summary: 'Facilitators that are known by name, and what they settled.',
  answer: {
    type: json,
    schema: facilitatorList,
    description: 'Most settlements first. Final blocks only; those that never settled anything are in it too.',
  },
  maxAgeSeconds: 60,
  freshSeconds: 60,
  async read(_input, { database, now }) {
    // Before the sums: what is rolled up while they are read need not be in them.
    const complete = JSON.stringify(await completeUntil(database, null))
    const { rows, count } = await readFacilitators(database)
    const at = JSON.stringify(new Date(now()).toISOString())
    return `{"count":${count},"generated_at":${at},"complete_until":${complete},"facilitators":${rows}}`
  },
})
