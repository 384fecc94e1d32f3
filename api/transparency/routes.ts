import { type RequestHandler, Router } from 'express'
import type { Queryable } from '../../db/pool.ts'
import { logEntries, logTile } from '../../db/queries/transparency/tree.ts'
import { epochOf, parseCheckpoint } from '../../transparency/checkpoint.ts'
import { hashBytes } from '../../transparency/hashes.ts'
import { bundleOf, hasTile, parseTilePath, perTile, type TileRequest } from '../../transparency/tiles.ts'
import { answerAlways } from '../http/answer.ts'
import type { Cache } from '../http/cache.ts'
import { Content } from '../http/content.ts'
import { waitInLane } from '../http/database-turns.ts'
import { refuseMethod } from '../http/error-answer.ts'
import { ApiError } from '../http/errors.ts'
import { type LogText, logText, unsigned } from './answer-signer.ts'

const prefix = '/log/'
/** `max-age` of what changes, in seconds. */
const maxAgeSeconds = 5
/** `max-age` of tiles, which never change. */
const tileMaxAgeSeconds = 31_536_000
const freshTileMs = 3_600_000
const notKept = 'this service keeps no transparency log: its operator has set no LOG_KEY_FILE'
const noFile = 'the log has no such file; /log/checkpoint says how many entries there are'

/** Keys of signed answers, where programs look for keys (RFC 8615). */
const keysPath = '/.well-known/jwks.json'
const keysMaxAgeSeconds = 300

interface LogDeps {
  readonly database: Queryable
  readonly cache: Cache<Content>
  /** Whose signatures answers have. Undefined: none are signed. */
  readonly keys: (() => Promise<Content>) | undefined
}

/**
 * GET /log/…: the transparency log, by C2SP tlog-tiles. `checkpoint` is what was signed last, `key` whose signature that
 * is, `tile/…` its tree and entries, as far as they are signed. GET /.well-known/jwks.json: the keys of signed answers.
 */
export function transparencyRoutes({ database, cache, keys }: LogDeps): Router {
  const text = async (name: LogText) => {
    const found = await logText({ database, cache }, name)
    if (!found) throw new ApiError('ERR_NOT_FOUND', notKept)
    return found
  }
  const epochNow = async () => epochOf(parseCheckpoint(String((await text('checkpoint')).text)).origin)
  const serveText = (name: LogText): RequestHandler => {
    return async (req, res, next) => {
      const { epoch } = req.params
      if (epoch !== undefined && numberOf(epoch) !== (await epochNow())) throw new ApiError('ERR_NOT_FOUND', noFile)
      return answerAlways(await text(name), maxAgeSeconds)(req, res, next)
    }
  }
  const serveTile: RequestHandler = async (req, res, next) => {
    const tile = parseTilePath([req.params.path ?? []].flat().join('/'))
    const { origin, size } = parseCheckpoint(String((await text('checkpoint')).text))
    const epoch = numberOf(req.params.epoch)
    if (!tile || epoch !== epochOf(origin) || !hasTile(tile, size)) throw new ApiError('ERR_NOT_FOUND', noFile)
    const read = () => readTile(database, epoch, tile)
    // Each full tile has 255 beginnings, which would drive other answers out of the cache.
    const isKept = tile.width === perTile
    const file = isKept
      ? (await cache.get(`${origin}/tile/${JSON.stringify(tile)}`, freshTileMs, read)).value
      : await read()
    return answerAlways(file as Content, tileMaxAgeSeconds, 'immutable')(req, res, next)
  }
  const router = Router({ caseSensitive: true })
  router.use(prefix, waitInLane('pages'))
  const handlers = {
    checkpoint: serveText('checkpoint'),
    key: serveText('key'),
    'tile/{*path}': serveTile,
    ':epoch/checkpoint': serveText('checkpoint'),
    ':epoch/key': serveText('key'),
    ':epoch/tile/{*path}': serveTile,
  }
  for (const [path, handler] of Object.entries(handlers)) {
    router.get(prefix + path, handler)
    router.all(prefix + path, refuseMethod(['GET', 'HEAD']))
  }
  router.get(keysPath, async (req, res, next) => {
    if (!keys) throw new ApiError('ERR_NOT_FOUND', unsigned)
    return answerAlways(await keys(), keysMaxAgeSeconds)(req, res, next)
  })
  router.all(keysPath, refuseMethod(['GET', 'HEAD']))
  return router
}

/** Number of the log that a path names, which the first has no part for. Undefined: no log has such a name. */
function numberOf(named: string | string[] | undefined): number | undefined {
  if (named === undefined) return 1
  const number = Number(named)
  return number > 1 && String(number) === named ? number : undefined
}

/** Reads a tile of a log. The checkpoint that says that there is one may be older than the next log: then it is not found. */
async function readTile(
  database: Queryable,
  epoch: number,
  tile: TileRequest & { readonly isOfEntries: boolean },
): Promise<Content> {
  const { number, width, isOfEntries } = tile
  const entries = isOfEntries && (await logEntries(database, { epoch, first: number * perTile, count: width }))
  const bytes = isOfEntries
    ? entries && bundleOf(entries)
    : (await logTile(database, epoch, tile))?.subarray(0, width * hashBytes)
  if (!bytes) throw new ApiError('ERR_NOT_FOUND', noFile)
  return new Content('application/octet-stream', bytes)
}
