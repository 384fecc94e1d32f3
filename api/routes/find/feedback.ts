import { z } from 'zod'
import { agentFeedback } from '../../../db/queries/feedback/page.ts'
import { clientKinds } from '../../../db/queries/sql/feedback.ts'
import { grouped, profileLimits, rowLimits } from '../../../limits.config.ts'
import { cursorParameter, pagedBody, readCursor } from '../../http/cursor.ts'
import { askable, flagFilter, wordsFilter } from '../../http/filter-parameters.ts'
import { chainsParameter, fidParameter, integerParameter } from '../../http/parameters.ts'
import { json, route } from '../../http/route.ts'
import { feedbackList } from '../../schemas/feedback/feedback.ts'

const path = '/api/agent/{fid}/feedback'

/** GET /api/agent/:fid/feedback */
export const feedback = route({
  path,
  operationId: 'listFeedback',
  summary: 'Feedback on the registrations an agent holds now, with what is known of who gave it.',
  params: z.object({ fid: fidParameter }),
  query: z.object({
    chain: chainsParameter,
    by: wordsFilter(clientKinds, 'Who verifies the address that gave it.'),
    paid: flagFilter('Whether the address had paid the agent before.'),
    revoked: flagFilter('Whether it was revoked.'),
    limit: integerParameter(
      rowLimits.feedback,
      `Rows at most. Behind a filter fewer where ${grouped(profileLimits.feedbackLookedAt)} were looked at; the list ends where \`next_cursor\` is null.`,
    ),
    cursor: cursorParameter,
  }),
  answer: { type: json, schema: feedbackList, description: 'Newest first, revoked ones included.' },
  errors: ['ERR_FID_INVALID', 'ERR_NOT_FOUND'],
  maxAgeSeconds: 30,
  freshSeconds: 5,
  missing: 'no agent with this fid',
  async read({ fid, limit, cursor, ...filters }, { database, baseUrl }) {
    const list = { name: [path, fid, filters], order: ['time', 'word', 'integer', 'integer'] as const }
    const asked = askable(filters)
    const after = readCursor(list, cursor)
    const page = await agentFeedback(database, { fid, limit, after, filter: asked ?? nobodys })
    if (!page) return undefined
    const fields = { fid: `${fid}`, count: `${page.count}`, feedback: page.rows }
    const url = `${baseUrl}/api/agent/${fid}/feedback`
    return pagedBody(list, page, { fields, url, query: { ...asked, limit } })
  },
})

/** Filter that matches no feedback. */
const nobodys = { chain: [], by: null, paid: null, revoked: null }
