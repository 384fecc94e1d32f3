import { type RequestHandler, Router } from 'express'
import { agentFace } from '../../../db/queries/agents/profile.ts'
import { answerAlways } from '../../http/answer.ts'
import { Content } from '../../http/content.ts'
import { refuseMethod } from '../../http/error-answer.ts'
import { ApiError } from '../../http/errors.ts'
import { fidParameter, refusals } from '../../http/parameters.ts'
import type { Sources } from '../../http/route.ts'
import { letterImage } from '../parts/avatar.ts'
import type { Gallery } from './gallery.ts'

/**
 * Cache lifetimes, seconds: a picture's URL changes with the profile; a letter may give way to a picture any time, and one
 * for a picture that nobody asked for at once.
 */
const maxAgeSeconds = { picture: 86_400, letter: 300, unasked: 0 }

/**
 * `/picture/{fid}`: the picture of an agent's profile, or its initial where there is none to show. Requests name a FID,
 * never a URL, so that this is no open proxy. `gallery` undefined: initials alone.
 */
export function pictureRoutes(
  sources: Sources,
  gallery: Gallery | undefined,
  budget: readonly RequestHandler[],
): Router {
  const router = Router({ caseSensitive: true, strict: true })
  router.get('/picture/:fid', ...budget, async (req, res, next) => {
    const fid = fidParameter.safeParse(req.params.fid)
    if (!fid.success) throw refusals.fid()
    const face = await agentFace(sources.database, fid.data)
    if (!face) throw new ApiError('ERR_NOT_FOUND', 'no agent with this fid')
    const found = face.pfp_url === null ? undefined : await gallery?.(face.pfp_url)
    const picture = found === 'unasked' ? undefined : found
    const kind = picture ? 'picture' : found === 'unasked' ? 'unasked' : 'letter'
    // Opened by itself it is a document: it may load and run nothing, and other sites may not embed it.
    res.setHeader('Content-Security-Policy', "default-src 'none'; sandbox")
    res.setHeader('Cross-Origin-Resource-Policy', 'same-origin')
    const shown = picture ?? new Content('image/svg+xml', Buffer.from(letterImage(face)))
    await answerAlways(shown, maxAgeSeconds[kind])(req, res, next)
  })
  router.all('/picture/:fid', refuseMethod(['GET', 'HEAD']))
  return router
}
