import type pg from 'pg'
import type { ChainSettings } from '../../chains.file.ts'
import type { BlockRange } from '../../db/block-range.ts'
import { inTransaction, type Queryable } from '../../db/pool.ts'
import {
  differingAgents,
  type EventRows,
  forgetDiffering,
  isQuietAbove,
  noteDiffering,
  putOff,
} from '../../db/queries/chain/audit-agents.ts'
import { lockCursor } from '../../db/queries/chain/cursor.ts'
import { type AgentTable, replaceRowsOfAgent } from '../../db/queries/chain/replaced-rows.ts'
import type { History, LogFilter } from '../history/history.ts'
import { applyFeedbackEvents } from '../mapping/feedback.ts'
import { applyRegistrationEvents, registrationId } from '../mapping/registrations.ts'
import { stateSchema } from '../store/database.ts'
import { jsonRows } from '../store/json-rows.ts'
import { type ContractEvents, logsOfAgents, readContractEvents } from './contract-events.ts'

/** Registrations whose events are read at a time. */
const maxAgents = 20

/** Notes the registrations whose rows differ from the events of a range of final blocks. Returns how many. */
export function noteAgents(
  db: Queryable,
  { name }: ChainSettings,
  range: BlockRange,
  { registrations, feedback, responses }: ContractEvents,
): Promise<number> {
  const made = applyRegistrationEvents(name, [], registrations)
  const named = new Set(
    registrations
      .filter(({ kind }) => kind === 'uri' || kind === 'registered')
      .map(({ agentId }) => registrationId(name, agentId)),
  )
  const revocations = feedback.flatMap((event) =>
    event.kind === 'revoked' ? [{ id: event.id, agentId: event.agentId, revokedBlock: event.blockNumber }] : [],
  )
  const rows: EventRows = {
    transfers: jsonRows(made.transfers),
    metadata: jsonRows(made.metadata),
    wallets: jsonRows(made.wallets),
    registrations: jsonRows(
      made.registrations.map(({ id, agentId, updatedBlock, agentUri, agentUriLength, agentUriSha256 }) => ({
        agentId,
        updatedBlock,
        uri: named.has(id) && agentUriLength !== null ? [agentUri, agentUriLength, hexOrNull(agentUriSha256)] : null,
      })),
    ),
    feedback: jsonRows(applyFeedbackEvents([], feedback)),
    responses: jsonRows(responses),
    revocations: jsonRows([...new Map(revocations.map((one) => [one.id, one])).values()]),
  }
  return noteDiffering(db, name, range, rows)
}

const hexOrNull = (bytes: Uint8Array | null | undefined) => bytes && `\\x${Buffer.from(bytes).toString('hex')}`

interface AgentsMend {
  readonly pool: pg.Pool
  readonly chain: ChainSettings
  readonly openHistory: (logs: readonly LogFilter[]) => History
  /** Newest final block of the history. */
  readonly finalHeight: number
  readonly warn: (text: string) => void
}

/**
 * Re-derives the rows of noted registrations from all of their events. One that changed in a block the history does not
 * have yet waits: undoing that hot block in a reorg would restore the row as it was before. Returns how many rows
 * differed.
 */
export async function mendAgents({ pool, chain, openHistory, finalHeight, warn }: AgentsMend): Promise<number> {
  const { name, registry, reputation } = chain
  const ids = await differingAgents(pool, name, maxAgents)
  if (ids.length === 0) return 0
  const fromBlock = Math.min(registry.fromBlock, reputation.fromBlock)
  const range = { fromBlock, toBlock: finalHeight }
  const { events } = await readContractEvents(openHistory(logsOfAgents(chain, ids)), chain, range, warn)
  let differed = 0
  for (const agentId of ids) differed += await inTransaction(pool, (db) => mendAgent(db, chain, agentId, events, range))
  return differed
}

async function mendAgent(
  db: Queryable,
  chain: ChainSettings,
  agentId: bigint,
  { registrations, feedback, responses }: ContractEvents,
  { toBlock }: BlockRange,
): Promise<number> {
  const { name } = chain
  await lockCursor(db, stateSchema(chain)) // its processor writes nothing meanwhile
  if (!(await isQuietAbove(db, name, agentId, toBlock))) {
    await putOff(db, name, agentId)
    return 0
  }
  const mine = (event: { readonly agentId: bigint }) => event.agentId === agentId
  const made = applyRegistrationEvents(name, [], registrations.filter(mine))
  const given = feedback.filter((event) => mine(event.kind === 'given' ? event.row : event))
  const tables: [AgentTable, readonly object[]][] = [
    ['registration', made.registrations],
    ['registration_metadata', made.metadata],
    ['registration_transfer', made.transfers],
    ['registration_wallet', made.wallets],
    ['feedback', applyFeedbackEvents([], given)],
    ['feedback_response', responses.filter(mine)],
  ]
  let differed = 0
  for (const [table, rows] of tables) {
    const { missing, surplus, changed } = await replaceRowsOfAgent(
      db,
      table,
      { chain: name, agentId, toBlock },
      jsonRows(rows),
    )
    differed += missing + surplus + changed
  }
  await forgetDiffering(db, name, agentId)
  return differed
}
