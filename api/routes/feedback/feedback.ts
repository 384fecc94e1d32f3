import { z } from 'zod'
import { grouped, profileLimits, rowLimits } from '../../../config/limits.ts'
import { agentFeedback, everyFeedback } from '../../../db/queries/feedback/page.ts'
import { clientKinds, flagRules, groundKinds } from '../../../db/queries/sql/feedback.ts'
import { cursorParameter, pagedBody, readCursor } from '../../http/cursor.ts'
import {
  addressFilter,
  askable,
  decimalFilter,
  flagFilter,
  textFilter,
  timeFilter,
  wordsFilter,
} from '../../http/filter-parameters.ts'
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
    grounds: wordsFilter(groundKinds, 'What it rests on.'),
    flagged: flagFilter('Whether any rule flags it.'),
    flag: wordsFilter(flagRules, 'Rule that flags it.'),
    tag1: textFilter(profileLimits.feedbackTagCharacters, 'First tag, whole.'),
    tag2: textFilter(profileLimits.feedbackTagCharacters, 'Second tag, whole.'),
    endpoint: textFilter(profileLimits.feedbackUriCharacters, 'Endpoint, whole.'),
    min_value: decimalFilter('Least value.'),
    client: addressFilter('Who gave it.'),
    since: timeFilter('Not given before.'),
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
const nobodys = { ...everyFeedback, chain: [] }
