import type { RequestHandler } from 'express'
import { ApiError } from './errors.ts'

/** Answers every other method of a known path: OPTIONS with 204 and `Allow`, the rest with ERR_NOT_FOUND. */
export function refuseMethod(methods: readonly string[]): RequestHandler {
  const allow = [...methods, 'OPTIONS'].join(', ')
  return (req, res) => {
    res.setHeader('Allow', allow)
    if (req.method === 'OPTIONS') return void res.status(204).set('Cache-Control', 'no-store').end()
    throw new ApiError('ERR_NOT_FOUND', `${req.method} is not for this path; allowed are ${allow}`)
  }
}

export const refusePath: RequestHandler = (req) => {
  throw new ApiError('ERR_NOT_FOUND', `there is nothing at ${req.baseUrl}${req.path}`)
}
