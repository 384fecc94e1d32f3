import express, { type RequestHandler, Router } from 'express'
import { type ClaimDeps, createClaims } from '../claim/claim.ts'
import { clientOf } from '../http/client.ts'
import { invalidRequest } from '../http/errors.ts'
import { refuseMethod } from '../http/method.ts'
import { challenge } from './claim-challenge.ts'

/** Of a claim, in bytes. */
const maxBodyBytes = 16 * 1024

/** POST /api/claim and GET /api/claim/challenge */
export function claimRoutes(deps: ClaimDeps): Router {
  const claim = createClaims(deps)
  const router = Router({ caseSensitive: true })
  router.post('/api/claim', requireJson, readBody, async (req, res) => {
    const answer = await claim({
      body: Buffer.isBuffer(req.body) ? req.body : Buffer.alloc(0),
      fidHeader: req.get('X-FID'),
      dryRun: req.query.dry_run === 'true',
      client: clientOf(req.ip),
    })
    res.set('Cache-Control', 'no-store').json(answer)
  })
  router.all('/api/claim', refuseMethod(['POST']))
  router.get('/api/claim/challenge', challenge(deps))
  router.all('/api/claim/challenge', refuseMethod(['GET', 'HEAD']))
  return router
}

const requireJson: RequestHandler = (req, _res, next) => {
  if (!/^application\/json\s*(;|$)/i.test(req.get('Content-Type') ?? '')) {
    throw invalidRequest('header Content-Type', 'must be application/json')
  }
  next()
}

/** Bytes as they came: a compressed body could grow far beyond the bound, and parsers are more forgiving than we are. */
const readBody = express.raw({ type: () => true, limit: maxBodyBytes, inflate: false })
