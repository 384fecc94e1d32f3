import { coverageLimits } from '../../../config/limits.ts'
import { readCoverage } from '../../../db/queries/log/coverage.ts'
import { json, route } from '../../http/route.ts'
import { coverage as coverageAnswer } from '../../schemas/log/coverage.ts'

/** GET /api/coverage */
export const coverage = route({
  path: '/api/coverage',
  operationId: 'getCoverage',
  summary: 'Which blocks of each chain are indexed, by whom, and the certificates of what they came to.',
  answer: { type: json, schema: coverageAnswer, description: 'All chains, in the order of the chain table.' },
  maxAgeSeconds: 60,
  freshSeconds: 30,
  read: async (_input, { database, chains }) =>
    JSON.stringify(await readCoverage(database, chains, coverageLimits.members)),
})
