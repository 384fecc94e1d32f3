import { type RequestHandler, Router } from 'express'
import { agentFace } from '../../../db/queries/read/profile.ts'
import { answerAlways } from '../../http/answer.ts'
import { Content } from '../../http/content.ts'
import { ApiError } from '../../http/errors.ts'
import { refuseMethod } from '../../http/method.ts'
import { fidParameter, refusals } from '../../http/parameters.ts'
import type { Sources } from '../../http/route.ts'
import { letterImage } from '../parts/avatar.ts'
import type { Gallery } from './gallery.ts'

/** A picture's address changes with the profile; that of a letter stands where a picture may be tomorrow. */
const maxAgeSeconds = { picture: 86_400, letter: 300 }

/**
 * `/picture/{fid}`: the picture of an agent's profile, or its letter where there is none to show. By FID alone: no other
 * address is fetched for anybody. `gallery` absent: letters alone.
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
    const picture = face.pfp_url === null ? undefined : await gallery?.(face.pfp_url)
    // Whatever it is, opened by itself it is a document that may do nothing, and no other site's to show.
    res.setHeader('Content-Security-Policy', "default-src 'none'; sandbox")
    res.setHeader('Cross-Origin-Resource-Policy', 'same-origin')
    const shown = picture ?? new Content('image/svg+xml', Buffer.from(letterImage(face)))
    await answerAlways(shown, picture ? maxAgeSeconds.picture : maxAgeSeconds.letter)(req, res, next)
  })
  router.all('/picture/:fid', refuseMethod(['GET', 'HEAD']))
  return router
}
