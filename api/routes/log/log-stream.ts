import { z } from 'zod'
import { documentLimits, grouped, streamLimits } from '../../../config/limits.ts'
import { logHead, readLog } from '../../../db/queries/log/log.ts'
import { spellJson } from '../../http/content.ts'
import { askable, countFilter, wordsFilter } from '../../http/filter-parameters.ts'
import { installationOf } from '../../http/route.ts'
import type { LogLine } from '../../stream/follower.ts'
import { stream } from '../../stream/stream.ts'

const { ofClient, ofProcess, lastSeconds, heartbeatSeconds, replay, pageLines } = streamLimits
const place = 'A place: `9f3a61c2-812`, as the `id` of an event has it.'

/** GET /data/log.sse */
export const logStream = stream({
  path: '/data/log.sse',
  operationId: 'followLog',
  summary: 'The log of full profiles as server-sent events, as it grows.',
  description:
    'An event has the `id` of its place, the name `upsert` or `delist`, and a line of /data/log.ndjson. `Last-Event-ID` ' +
    'wins over `since`; without both it begins at the newest line. A place of another log, above the newest, or more ' +
    `than ${grouped(replay)} numbers behind it gets one \`reset\` with {epoch, head} and the end: read /data/log.ndjson, ` +
    `then follow from there. A comment breaks a silence of ${heartbeatSeconds} seconds. The server ends a stream after ` +
    `${lastSeconds.least / 60} to ${lastSeconds.most / 60} minutes, and one whose client does not read; go on by the ` +
    `last id. A client has ${ofClient} streams, a process ${ofProcess}; connecting counts as a request.`,
  params: z.object({}),
  query: z.object({
    since: z
      .unknown()
      .optional()
      .transform((value) => [value].flat()[0])
      .meta({ description: place, override: { type: 'string', examples: ['9f3a61c2-812'] } }),
    fid: countFilter('Of this agent alone.'),
    kind: wordsFilter(['upsert', 'delist'], 'Of this kind alone.'),
  }),
  headers: z.object({ 'Last-Event-ID': z.string().optional().meta({ description: place }) }),
  answer: { type: 'text/event-stream', schema: z.string(), description: 'Events, without end.' },
  errors: ['ERR_RATE_LIMITED'],
  since: ({ since }) => (typeof since === 'string' && since !== '' ? since : undefined),
  wants({ fid, kind }) {
    const filters = askable({ fid })
    const isWanted = (line: LogLine) => kind === null || (kind as readonly string[]).includes(line.kind)
    return (line) =>
      filters !== undefined && (filters.fid === null || Number(filters.fid) === line.fid) && isWanted(line)
  },
  log: ({ primary, chains, baseUrl, leftOut }) => ({
    head: () => logHead(primary),
    async after(since) {
      const { lines, reached } = await readLog(primary, {
        since,
        limit: pageLines,
        maxBytes: documentLimits.logBytes,
        installation: installationOf({ chains, baseUrl }),
        leftOut: (fid, cause) => leftOut('log', fid, cause),
      })
      const parsed = spellJson(lines)
        .toString()
        .split('\n')
        .slice(0, -1)
        .map((text): LogLine => ({ ...JSON.parse(text), text }))
      return { lines: parsed, reached }
    },
  }),
})
