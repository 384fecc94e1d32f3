import express, { type Request, type RequestHandler } from 'express'
import { z } from 'zod'
import { claimLimits } from '../../../config/limits.claims.ts'
import { type ClaimDeps, createClaims } from '../../claim/claim.ts'
import { checkOrder } from '../../claim/examination.ts'
import { sendJson } from '../../http/content.ts'
import { invalidRequest } from '../../http/errors.ts'
import { flagParameter } from '../../http/parameters.ts'
import { clientOf } from '../../http/rate-limit-key.ts'
import { type Action, json } from '../../http/route.ts'
import { claimAnswer, claimRequest } from '../../schemas/claims/claim.ts'

const { attempts, attemptSeconds } = claimLimits

const query = z.object({ dry_run: flagParameter('true: every check, and nothing is stored.') })

/** POST /api/claim */
export const claim: Action<ClaimDeps> = {
  method: 'post',
  path: '/api/claim',
  operationId: 'claim',
  summary: 'Claims a FID.',
  description:
    `A nonce is good for one accepted claim; a refused one leaves it free. ${attempts.client} attempts a client in ` +
    `${attemptSeconds / 60} minutes, and ${attempts['client and host']} fetches a host, besides the limits of every request. ` +
    `The checks, in their order: ${checkOrder.join(', ')}.`,
  params: z.object({}),
  query,
  headers: z.object({ 'X-FID': z.string().optional().meta({ description: 'Instead of, or equal to, `fid`.' }) }),
  body: claimRequest,
  answer: { type: json, schema: claimAnswer, description: 'The claim was accepted, or would be.' },
  errors: [
    'ERR_METHOD_UNSUPPORTED',
    'ERR_FID_INVALID',
    'ERR_ADDRESS_MALFORMED',
    'ERR_JFS_PAYLOAD_INVALID',
    'ERR_SIG_INVALID',
    'ERR_SIG_EXPIRED',
    'ERR_NONCE_USED',
    'ERR_FID_MISMATCH',
    'ERR_JFS_FID_MISMATCH',
    'ERR_ADDRESS_NOT_VERIFIED',
    'ERR_JFS_KEY_INACTIVE',
    'ERR_MANIFEST_FETCH_FAILED',
    'ERR_MANIFEST_ADDRESS_UNVERIFIED',
    'ERR_RATE_LIMITED',
  ],
  serve(deps) {
    const judge = createClaims(deps)
    const handle: RequestHandler = async (req, res) => {
      sendJson(res, await judge({ ...attemptOf(req), dryRun: query.parse(req.query).dry_run === true }))
    }
    return [...readClaimBody, handle]
  },
}

const requireJson: RequestHandler = (req, _res, next) => {
  if (!/^application\/json\s*(;|$)/i.test(req.get('Content-Type') ?? '')) {
    throw invalidRequest('header Content-Type', 'must be application/json')
  }
  next()
}

/** Body as raw bytes: a compressed one could inflate far beyond the bound, and our parser is stricter than express. */
const rawBody = express.raw({ type: () => true, limit: claimLimits.bodyBytes, inflate: false })

/** Middleware that reads the JSON body of a claim, withdrawal, unlisting or relisting, unparsed. */
export const readClaimBody: readonly RequestHandler[] = [requireJson, rawBody]

/** Body, FID header and client of a request, after `readClaimBody`. */
export function attemptOf(req: Request) {
  const body: Uint8Array = Buffer.isBuffer(req.body) ? req.body : Buffer.alloc(0)
  return { body, fidHeader: req.get('X-FID'), client: clientOf(req.ip) }
}
