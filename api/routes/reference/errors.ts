import { z } from 'zod'
import { errorPagePath } from '../../http/error-answer.ts'
import { type ErrorCode, errorTable } from '../../http/errors.ts'
import { json, route } from '../../http/route.ts'
import { errorCatalogue, errorFields, errorKind } from '../../schemas/error.ts'

/** GET /api/errors */
export const errors = route({
  path: '/api/errors',
  operationId: 'listErrors',
  summary: 'Every error code: status, meaning, fields, and whether to ask again.',
  answer: { type: json, schema: errorCatalogue, description: 'The closed list of codes.' },
  maxAgeSeconds: 300,
  freshSeconds: 300,
  async read(_input, { baseUrl }) {
    const rows = codes.map((code) => rowOf(code, baseUrl))
    return JSON.stringify({ count: rows.length, errors: rows })
  },
})

/** GET /api/errors/:code */
export const error = route({
  path: '/api/errors/{code}',
  operationId: 'getError',
  summary: 'One error code: status, meaning, fields, and whether to ask again.',
  params: z.object({ code: z.string().meta({ description: 'As it stands in `error`.', examples: ['ERR_NOT_FOUND'] }) }),
  answer: { type: json, schema: errorKind, description: 'What the code means.' },
  errors: ['ERR_NOT_FOUND'],
  resource: 'errors://{code}',
  maxAgeSeconds: 300,
  freshSeconds: 300,
  missing: 'no such code',
  async read({ code }, { baseUrl }) {
    const known = codes.find((one) => one === code)
    return known && JSON.stringify(rowOf(known, baseUrl))
  },
})

const codes = Object.keys(errorTable) as ErrorCode[]

function rowOf(code: ErrorCode, baseUrl: string) {
  const { status, title, when, retry } = errorTable[code]
  return { code, status, title, when, retry, fields: errorFields(code), url: baseUrl + errorPagePath(code) }
}
