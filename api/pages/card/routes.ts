import { type RequestHandler, Router } from 'express'
import type { z } from 'zod'
import { cardLimits } from '../../../config/limits.ts'
import { earnedBy } from '../../../db/queries/income/earned.ts'
import { answerAlways } from '../../http/answer.ts'
import { refuseMethod } from '../../http/error-answer.ts'
import { ApiError } from '../../http/errors.ts'
import { fidParameter, refusals } from '../../http/parameters.ts'
import { clientOf } from '../../http/rate-limit-key.ts'
import { agent as agentRoute } from '../../routes/agents/agent.ts'
import type { profile } from '../../schemas/agents/profile.ts'
import { ConcurrencyLimit } from '../../stream/concurrency.ts'
import { askExact, type World } from '../parts/page.ts'
import { cardDrawing } from './drawing.ts'
import type { Painter } from './painter.ts'

const maxAgeSeconds = 3_600
/** Window that a refusal names in its body, seconds. */
const windowSeconds = 60

/** `/agent/{fid}/card.png`: preview picture of an agent, for sites that show links to its page. */
export function cardRoutes(world: World, painter: Painter, budget: readonly RequestHandler[]): Router {
  const router = Router({ caseSensitive: true, strict: true })
  const concurrency = new ConcurrencyLimit({ ...cardLimits, windowSeconds, what: 'cards' })
  router.get('/agent/:fid/card.png', ...budget, async (req, res, next) => {
    const fid = fidParameter.safeParse(req.params.fid)
    if (!fid.success) throw refusals.fid()
    if (!concurrency.take(clientOf(req.ip), res)) return
    const [agent, earned] = await Promise.all([
      askExact<z.output<typeof profile>>(world, agentRoute, { fid: fid.data }),
      earnedBy(world.database, [fid.data]),
    ])
    if (!agent) throw new ApiError('ERR_NOT_FOUND', 'no agent with this fid')
    const { serviceName } = world
    const picture = await painter.paint(cardDrawing({ agent, earned: earned.get(fid.data), serviceName }))
    await answerAlways(picture, maxAgeSeconds)(req, res, next)
  })
  router.all('/agent/:fid/card.png', refuseMethod(['GET', 'HEAD']))
  return router
}
