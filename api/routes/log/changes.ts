import { z } from 'zod'
import { documentLimits, grouped } from '../../../config/limits.ts'
import { changesAfter } from '../../../db/queries/log/changes.ts'
import { integerParameter } from '../../http/parameters.ts'
import { route } from '../../http/route.ts'
import { leanRow } from '../../schemas/directory/lean-row.ts'
import { count, fid } from '../../schemas/scalars.ts'

const claimSha256 = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .nullable()
  .meta({ description: 'Of the newest event of its claims, each of which has the hash of the one before.' })

/** One line of /data/changes.ndjson: an agent's new row, or that it is listed no more. */
export const changeLine = z.union([
  z.strictObject({ seq: count, kind: z.literal('upsert'), fid, agent: leanRow, claim_sha256: claimSha256 }),
  z.strictObject({ seq: count, kind: z.literal('delist'), fid, claim_sha256: claimSha256 }),
])

/** GET /data/changes.ndjson */
export const changes = route({
  path: '/data/changes.ndjson',
  operationId: 'getChanges',
  summary: `What changed since a sequence number, for mirrors: at most ${grouped(documentLimits.changeLines)} lines.`,
  query: z.object({
    since: integerParameter(
      { minimum: 0, maximum: Number.MAX_SAFE_INTEGER, fallback: 0 },
      'The last `seq` that the mirror has; 0: from the beginning.',
    ),
  }),
  answer: {
    type: 'application/x-ndjson; charset=utf-8',
    schema: changeLine,
    description:
      'One JSON object a line, in the order of `seq`: put the agent in place of what the mirror has of it, or remove ' +
      'it. Ask again with the last `seq`; an empty answer says that the mirror has everything.',
  },
  maxAgeSeconds: 5,
  freshSeconds: 1,
  read: ({ since }, { primary, leftOut }) =>
    changesAfter(primary, {
      since,
      limit: documentLimits.changeLines,
      leftOut: (fid, cause) => leftOut('changes', fid, cause),
    }),
})
