import { z } from 'zod'
import { errorPagePath } from '../http/error-answer.ts'
import { type ErrorCode, errorTable } from '../http/errors.ts'
import { json, route } from '../http/route.ts'
import { errorCatalogue, errorFields } from '../schemas/error.ts'

/** GET /api/errors */
export const errors = route({
  path: '/api/errors',
  operationId: 'listErrors',
  summary: 'Every error code: status, meaning, fields, and whether to ask again.',
  params: z.object({}),
  query: z.object({}),
  answer: { type: json, schema: errorCatalogue, description: 'The closed list of codes.' },
  errors: [],
  maxAgeSeconds: 300,
  freshSeconds: 300,
  async read(_input, { baseUrl }) {
    const rows = Object.entries(errorTable).map(([code, { status, title, when, retry }]) => {
      const fields = errorFields(code as ErrorCode)
      return { code, status, title, when, retry, fields, url: baseUrl + errorPagePath(code) }
    })
    return JSON.stringify({ count: rows.length, errors: rows })
  },
})
