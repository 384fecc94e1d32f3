import { resolve } from 'node:path'
import { type RequestHandler, type Response, Router } from 'express'
import { exportLimits } from '../../config/limits.ts'
import { answerAlways, holds } from '../http/answer.ts'
import { refuseMethod } from '../http/error-answer.ts'
import { ApiError } from '../http/errors.ts'
import { clientOf } from '../http/rate-limit-key.ts'
import { ConcurrencyLimit } from '../stream/concurrency.ts'
import { type ListedFile, Listings } from './listing.ts'

const prefix = '/exports/'
/** `max-age` in seconds, of the lists and of the files, which never change. */
const listMaxAgeSeconds = 300
const fileMaxAgeSeconds = 31_536_000
/** Why a path leads nowhere: before the first round, and else. */
const noFiles = 'there are no files yet: the operator has to run npm run export -- --served'
const otherFiles = 'no such file; /exports/manifest.json names those there are'
/** `windowSeconds` in the body of a refusal for too many downloads at once. */
const windowSeconds = 60

/**
 * GET /exports/…: the files that `npm run export -- --served` wrote to the folder, whole or in parts, and the lists of
 * them. Nothing but what the manifest names is served.
 */
export function exportRoutes(folder: string): Router {
  const router = Router({ caseSensitive: true })
  const root = resolve(folder)
  const listings = new Listings(root)
  const concurrency = new ConcurrencyLimit({ ...exportLimits, windowSeconds, what: 'files' })
  const serve: RequestHandler = async (req, res, next) => {
    const path = [req.params.path ?? []].flat().join('/')
    const { files, lists } = await listings.present()
    const list = lists.get(path)
    if (list) return answerAlways(list, listMaxAgeSeconds)(req, res, next)
    const file = files.get(path)
    if (!file) throw new ApiError('ERR_NOT_FOUND', lists.size === 0 ? noFiles : otherFiles)
    if (!concurrency.take(clientOf(req.ip), res)) return
    describe(res, file)
    if (holds(req.headers['if-none-match'], `"${file.sha256}"`)) return void res.writeHead(304).end()
    // The library would take a weak tag, and one in a list, for the file's own (RFC 9110, 13.1.5).
    const { 'if-range': condition } = req.headers
    if (condition !== undefined && condition !== `"${file.sha256}"`) delete req.headers.range
    // Ranges, other conditions and lengths are its work; the headers above stay.
    res.sendFile(path, { root, etag: false, cacheControl: false, lastModified: false, dotfiles: 'deny' }, (error) => {
      if (error) end(res, error as Error & { status?: number }, next)
    })
  }
  router.get(`${prefix}{*path}`, serve)
  router.all(`${prefix}{*path}`, refuseMethod(['GET', 'HEAD']))
  return router
}

function describe(res: Response, { path, sha256 }: ListedFile): void {
  const isGzip = path.endsWith('.gz')
  res.setHeader('Content-Type', isGzip ? 'application/gzip' : 'application/vnd.apache.parquet')
  res.setHeader('Cache-Control', `public, max-age=${fileMaxAgeSeconds}, immutable`)
  res.setHeader('ETag', `"${sha256}"`)
  res.setHeader('Repr-Digest', `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`) // RFC 9530
  const exposed = res.getHeader('Access-Control-Expose-Headers')
  res.setHeader('Access-Control-Expose-Headers', `${exposed}, Accept-Ranges, Content-Range, Repr-Digest`)
}

/** After a failed send: cuts an answer that has begun, answers 412 and 416 without a body, passes on other errors. */
function end(res: Response, error: Error & { status?: number }, next: (error: unknown) => void): void {
  if (res.headersSent || res.destroyed) return void res.destroy()
  for (const name of ['Content-Type', 'ETag', 'Repr-Digest']) res.removeHeader(name)
  res.setHeader('Cache-Control', 'no-store')
  if (error.status === 412 || error.status === 416)
    return void res.writeHead(error.status, { 'Content-Length': 0 }).end()
  next(error.status === 404 ? new ApiError('ERR_NOT_FOUND', 'the file is not there any more') : error)
}
