import { directoryStats } from '../../../db/queries/directory/stats.ts'
import { json, route } from '../../http/route.ts'
import { stats as statsAnswer } from '../../schemas/directory/stats.ts'

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
