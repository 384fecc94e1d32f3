import { z } from 'zod'
import { documentLimits, grouped, rowLimits } from '../../../config/limits.ts'
import { logHead, readLog } from '../../../db/queries/log/log.ts'
import { ApiError } from '../../http/errors.ts'
import { fieldsParameter, integerParameter } from '../../http/parameters.ts'
import { installationOf, route } from '../../http/route.ts'
import { profile, profileFields } from '../../schemas/agents/profile.ts'
import { count, fid, time } from '../../schemas/scalars.ts'
import { isPlaceOf, readPlace, writePlace } from '../../stream/wire.ts'

const path = '/data/log.ndjson'

/** One line of /data/log.ndjson: an agent's full profile, or that it is listed no more. */
export const logLine = z.union([
  z.strictObject({
    seq: count,
    changed_at: time,
    kind: z.literal('upsert'),
    fid,
    profile: z.union([profile, profileFields]),
  }),
  z.strictObject({ seq: count, changed_at: time, kind: z.literal('delist'), fid }),
])

/** Cursor in the log: a sequence number, with or without the first digits of its epoch. Null: not a cursor. */
const sinceParameter = z
  .unknown()
  .optional()
  .transform((value) => readPlace(String([value].flat()[0] ?? '') || '0'))
  .meta({
    description:
      'The last `seq` that the mirror has, better with the first eight digits of `X-Log-Epoch` and a hyphen before it; ' +
      'empty or 0: from the beginning. Of another epoch, above the newest, or unreadable: 404.',
    override: { type: 'string', examples: ['9f3a61c2-812'] },
  })

/** GET /data/log.ndjson */
export const log = route({
  path,
  operationId: 'getLog',
  summary: `The profiles that changed since a sequence number, for mirrors: at most ${grouped(rowLimits.log.maximum)} lines.`,
  query: z.object({
    since: sinceParameter,
    limit: integerParameter(rowLimits.log, 'Lines at most.'),
    fields: fieldsParameter(Object.keys(profile.shape)),
  }),
  answer: {
    type: 'application/x-ndjson; charset=utf-8',
    schema: logLine,
    description:
      'One JSON object a line, in the order of `seq`: put the profile in place of what the mirror has of the agent, or ' +
      'remove it. Of each agent there is the newest line only; `delist` stays for good. An empty answer says that the ' +
      `mirror has everything. Longer ones end after ${grouped(documentLimits.logBytes)} bytes. \`X-Log-Epoch\` names the ` +
      'database: with another one a mirror starts over. `X-Log-Head` is the newest `seq`, `Link` the next page. Edges, ' +
      'feedback and the times at which sources were last asked are those of the moment of the line.',
  },
  errors: ['ERR_NOT_FOUND'],
  maxAgeSeconds: 5,
  freshSeconds: 1,
  async read({ since, limit, fields }, { primary, chains, baseUrl, leftOut }) {
    const { epoch, head } = await logHead(primary)
    if (since === null || !isPlaceOf(since, { epoch, head })) {
      throw new ApiError('ERR_NOT_FOUND', 'the log has no such place; begin again without `since`')
    }
    const { lines, reached } = await readLog(primary, {
      since: since.seq,
      limit,
      maxBytes: documentLimits.logBytes,
      fields,
      installation: installationOf({ chains, baseUrl }),
      leftOut: (fid, cause) => leftOut('log', fid, cause),
    })
    const query = new URLSearchParams({ since: writePlace(epoch, reached), limit: String(limit) })
    if (fields) query.set('fields', fields.join(','))
    const next = lines === '' ? undefined : `${baseUrl}${path}?${query}`
    return { body: lines, next, headers: { 'X-Log-Epoch': epoch, 'X-Log-Head': String(Math.max(head, reached)) } }
  },
})
