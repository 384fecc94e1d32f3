import { z } from 'zod'
import { rowLimits } from '../../../config/limits.ts'
import { shownHistory } from '../../../db/queries/claims/provable-claims.ts'
import { cursorParameter, pagedBody, readCursor } from '../../http/cursor.ts'
import { fidParameter, integerParameter } from '../../http/parameters.ts'
import { json, route } from '../../http/route.ts'
import { claimHistoryList } from '../../schemas/claims/proof.ts'

const path = '/api/agent/{fid}/proof/history'

/** GET /api/agent/:fid/proof/history */
export const proofHistory = route({
  path,
  operationId: 'listClaimEvents',
  summary: 'All that became of the claims of a FID, in pages.',
  params: z.object({ fid: fidParameter }),
  query: z.object({ limit: integerParameter(rowLimits.events, 'Events at most.'), cursor: cursorParameter }),
  answer: {
    type: json,
    schema: claimHistoryList,
    description:
      'The oldest first, each with the hash of the one before: a chain that can be checked from its beginning.',
  },
  errors: ['ERR_FID_INVALID', 'ERR_NOT_FOUND'],
  maxAgeSeconds: 30,
  freshSeconds: 5,
  missing: 'no claim of this fid was ever accepted',
  async read({ fid, limit, cursor }, { database, baseUrl }) {
    const list = { name: [path, fid], order: ['integer'] } as const
    const [after = '0'] = readCursor(list, cursor) ?? []
    const found = await shownHistory(database, fid, { after, limit: limit + 1 })
    if (found.length === 0 && after === '0') return undefined
    const events = found.slice(0, limit)
    const last = events.at(-1)
    const next = last && found.length > limit ? [`${last.seq}`] : null
    const page = { rows: JSON.stringify(events), count: events.length, next }
    const fields = { fid: `${fid}`, count: `${page.count}`, history: page.rows }
    return pagedBody(list, page, { fields, url: `${baseUrl}/api/agent/${fid}/proof/history`, query: { limit } })
  },
})
