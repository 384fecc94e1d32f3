import { z } from 'zod'
import { profileLimits, rowLimits } from '../../../config/limits.ts'
import { agentRegistrations } from '../../../db/queries/registrations/registrations.ts'
import { cursorParameter, pagedBody, readCursor } from '../../http/cursor.ts'
import { chainsParameter, fidParameter, integerParameter, wordParameter } from '../../http/parameters.ts'
import { installationOf, json, route } from '../../http/route.ts'
import { registrationList } from '../../schemas/registrations/registration.ts'

const path = '/api/agent/{fid}/registrations'
const mebibyte = 1024 * 1024
const orders = {
  current: ['integer', 'integer', 'token'],
  historical: ['time', 'integer', 'token', 'integer', 'integer'],
} as const

/** GET /api/agent/:fid/registrations */
export const registrations = route({
  path,
  operationId: 'listRegistrations',
  summary: 'All that an agent holds now, or once held, in pages, URIs whole.',
  params: z.object({ fid: fidParameter }),
  query: z.object({
    state: wordParameter(['current', 'historical'], 'current', 'What it holds now, or holdings that ended.'),
    chain: chainsParameter,
    limit: integerParameter(
      rowLimits.registrations,
      `Rows at most; fewer where URIs of a page come to ${profileLimits.pageUriBytes / mebibyte} MiB.`,
    ),
    cursor: cursorParameter,
  }),
  answer: {
    type: json,
    schema: registrationList,
    description: 'In the order of the profile: those the holder acted on first; of the past ones the last released.',
  },
  errors: ['ERR_FID_INVALID', 'ERR_NOT_FOUND'],
  maxAgeSeconds: 30,
  freshSeconds: 5,
  missing: 'no agent with this fid',
  async read({ fid, state, chain, limit, cursor }, { database, chains, baseUrl }) {
    const list = { name: [path, fid, state, chain], order: orders[state] }
    const after = readCursor(list, cursor)
    const installation = installationOf({ chains, baseUrl })
    const page = await agentRegistrations(database, { fid, state, chain, limit, after, installation })
    if (!page) return undefined
    const { rows, count } = page
    const fields = { fid: `${fid}`, state: JSON.stringify(state), count: `${count}`, registrations: rows }
    const url = `${baseUrl}/api/agent/${fid}/registrations`
    return pagedBody(list, page, { fields, url, query: { state, chain, limit } })
  },
})
