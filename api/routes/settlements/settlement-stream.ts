import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { streamLimits } from '../../../config/limits.ts'
import type { Queryable } from '../../../db/pool.ts'
import { addressNames } from '../../../db/queries/addresses/address-names.ts'
import { allSettlements } from '../../../db/queries/settlements/all-settlements.ts'
import { chainsParameter } from '../../http/parameters.ts'
import type { Sources } from '../../http/route.ts'
import type { settlement } from '../../schemas/settlements/settlement.ts'
import type { Log, LogLine } from '../../stream/follower.ts'
import { stream } from '../../stream/stream.ts'

const { ofClient, heartbeatSeconds, seenAtOnce } = streamLimits

/** GET /data/settlements.sse */
export const settlementStream = stream({
  path: '/data/settlements.sse',
  operationId: 'followSettlements',
  summary: 'Settlements of everybody as server-sent events, as they come to be seen.',
  description:
    'An event has the name `settlement`, a row of /api/settlements, and in `names` who is known: `payer`, `recipient` and ' +
    '`facilitator` are each null or have an `agent` (`fid`, `handle`) and the name of a `facilitator`, of which one may be ' +
    'null. A settlement that is not final may vanish later, and one that moves to another block is told again. The stream begins ' +
    `with what comes next and tells of the newest ${seenAtOnce} of a second at most: what has to be complete is read from ` +
    '/api/settlements. Places are of one process: a client that meets another one gets one `reset` and starts over. A ' +
    `comment breaks a silence of ${heartbeatSeconds} seconds. A client has ${ofClient} streams; connecting counts as a request.`,
  params: z.object({}),
  query: z.object({ chain: chainsParameter }),
  headers: z.object({ 'Last-Event-ID': z.string().optional().meta({ description: 'Where it was.' }) }),
  answer: { type: 'text/event-stream', schema: z.string(), description: 'Events, without end.' },
  errors: ['ERR_RATE_LIMITED'],
  since: () => undefined,
  wants: ({ chain }) => {
    const wanted = chain?.map((name) => `"chain":"${name}"`)
    return ({ text }) => wanted === undefined || wanted.some((member) => text.includes(member))
  },
  log: seenLog,
})

const everything = {
  fid: null,
  recipient: null,
  tx_hash: null,
  chain: null,
  payer: null,
  facilitator: null,
  selector: null,
  min_amount: null,
  max_amount: null,
  until: null,
  final: null,
}

/** In-memory log of settlements in the order this process first saw them. Asking for its head polls the database. */
function seenLog({ database, settlementOverloads, now }: Sources): Log {
  const epoch = randomUUID()
  const lines: LogLine[] = []
  let seen = new Set<string>()
  let head = 0
  let looking: Promise<void> | undefined

  async function look(): Promise<void> {
    const since = new Date(now() - streamLimits.newsSeconds * 1_000).toISOString()
    const page = { limit: seenAtOnce, order: 'desc', after: undefined, settlementOverloads } as const
    const rows = rowsOf((await allSettlements(database, { ...page, filter: { ...everything, since } })).rows)
    const fresh = rows.filter(({ key }) => !seen.has(key)).toReversed()
    for (const text of await named(database, fresh)) lines.push({ seq: ++head, kind: 'settlement', fid: 0, text })
    seen = new Set([...[...seen].slice(-seenAtOnce), ...rows.map(({ key }) => key)])
    lines.splice(0, Math.max(0, lines.length - streamLimits.replay))
  }

  return {
    async head() {
      // Single flight: two polls at once would number a row twice.
      looking ??= look().finally(() => {
        looking = undefined
      })
      await looking
      return { epoch, head }
    },
    async after(seq) {
      const behind = lines.filter((line) => line.seq > seq).slice(0, streamLimits.pageLines)
      return { lines: behind, reached: behind.at(-1)?.seq ?? head }
    },
  }
}

type Settlement = z.output<typeof settlement>

interface Seen {
  readonly key: string
  /** A row whose numbers keep their digits as the database wrote them, once it is JSON again. */
  readonly row: Settlement
}

function rowsOf(json: string): Seen[] {
  const rows = JSON.parse(json, keepDigits as (key: string, value: unknown) => unknown) as Settlement[]
  return rows.map((row) => {
    const { chain, block_number, log_index, tx_hash } = JSON.parse(JSON.stringify(row)) as Settlement
    // After a reorg another may be in its place.
    return { key: [chain, block_number, log_index, tx_hash].join(' '), row }
  })
}

/** The rows as JSON, each with the names of who takes part in it. */
async function named(database: Queryable, seen: readonly Seen[]): Promise<string[]> {
  if (seen.length === 0) return []
  const roles = ({ row }: Seen) => [row.payer_address, row.recipient_address, row.facilitator_address]
  const names = await addressNames(database, [...new Set(seen.flatMap(roles))])
  return seen.map((one) => {
    const [payer = null, recipient = null, facilitator = null] = roles(one).map((address) => names.get(address))
    return JSON.stringify({ ...one.row, names: { payer, recipient, facilitator } })
  })
}

// `JSON.rawJSON`, and the third argument with the source text of a number, are newer than TypeScript's types.
const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => unknown }

function keepDigits(_key: string, value: unknown, { source }: { source?: string }): unknown {
  return typeof value === 'number' && source !== undefined ? rawJSON(source) : value
}
