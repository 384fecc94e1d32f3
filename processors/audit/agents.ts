import type pg from 'pg'
import type { ChainSettings } from '../../config/chains.file.ts'
import type { BlockRange } from '../../db/block-range.ts'
import { inTransaction, type Queryable } from '../../db/pool.ts'
import {
  countRowsOfAgent,
  differingAgents,
  differingFrom,
  type EventRows,
  forgetDiffering,
  isQuietAbove,
  putOff,
  storedUri,
} from '../../db/queries/chain/audit-agents.ts'
import { lockCursor } from '../../db/queries/chain/chain-state.ts'
import { type AgentTable, otherRowsOfAgent, replaceRowsOfAgent } from '../../db/queries/chain/replaced-rows.ts'
import type { History, LogFilter } from '../history/history.ts'
import { applyFeedbackEvents } from '../mapping/feedback.ts'
import { applyRegistrationEvents, registrationId } from '../mapping/registrations.ts'
import { stateSchema } from '../store/database.ts'
import { jsonRows } from '../store/json-rows.ts'
import { registryEvents } from '../store/registry-events.ts'
import { type ContractEvents, logsOfAgents, readContractEvents } from './contract-events.ts'
import { confirmEvents, mostAsked } from './contract-word.ts'
import { areTooMany, DisputedRows, type NodeWord } from './node-word.ts'

/** Registrations whose events are read at a time. */
const maxAgents = 20
/** Before a registration with disputed rows is looked at again. */
const disputePauseSeconds = 3_600

/** Ids of the registrations whose rows differ from the events of a range of final blocks. */
export function agentsUnlike(
  db: Queryable,
  { name }: ChainSettings,
  range: BlockRange,
  { registrations, feedback, responses }: ContractEvents,
): Promise<bigint[]> {
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
    approvals: jsonRows(made.approvals),
    events: jsonRows(registryEvents(name, [...registrations, ...feedback])),
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
  return differingFrom(db, name, range, rows)
}

const hexOrNull = (bytes: Uint8Array | null | undefined) => bytes && `\\x${Buffer.from(bytes).toString('hex')}`

interface AgentsMend {
  readonly pool: pg.Pool
  readonly chain: ChainSettings
  readonly openHistory: (logs: readonly LogFilter[]) => History
  /** Asked before a row is deleted or changed; undefined: the chain has no node. */
  readonly node: NodeWord | undefined
  /** Last block whose events count: final at the history, and indexed and final at the processor. */
  readonly toBlock: number
  readonly warn: (text: string) => void
  /** Called when rows of a registration stay although the history source does not have them. */
  readonly onDisputed: (disputed: DisputedRows) => void
}

/**
 * Re-derives the rows of noted registrations from all of their events. One that changed in a block the history does not
 * have yet waits: undoing that hot block in a reorg would restore the row as it was before. One with an event that only
 * the node has waits longer. Returns how many rows differed.
 */
export async function mendAgents(mend: AgentsMend): Promise<number> {
  const { pool, chain, openHistory, toBlock, warn } = mend
  const { name, registry, reputation } = chain
  const ids = await differingAgents(pool, name, maxAgents)
  if (ids.length === 0) return 0
  const fromBlock = Math.min(registry.fromBlock, reputation.fromBlock)
  if (toBlock < fromBlock) return 0
  const range = { fromBlock, toBlock }
  const { events } = await readContractEvents(openHistory(logsOfAgents(chain, ids)), chain, range, warn)
  let differed = 0
  for (const agentId of ids) {
    const rows = rowsOfAgent(name, agentId, events)
    try {
      if (mend.node) await confirmAgent(mend, mend.node, agentId, events, rows)
      differed += await inTransaction(pool, (db) => mendAgent(db, chain, agentId, rows, range))
    } catch (error) {
      if (!(error instanceof DisputedRows)) throw error
      await putOff(pool, name, agentId, disputePauseSeconds)
      mend.onDisputed(error)
    }
  }
  return differed
}

type AgentRows = readonly (readonly [AgentTable, readonly object[]])[]

function rowsOfAgent(
  name: ChainSettings['name'],
  agentId: bigint,
  { registrations, feedback, responses }: ContractEvents,
): AgentRows {
  const mine = (event: { readonly agentId: bigint }) => event.agentId === agentId
  const changes = registrations.filter(mine)
  const made = applyRegistrationEvents(name, [], changes)
  const given = feedback.filter((event) => mine(event.kind === 'given' ? event.row : event))
  return [
    ['registration', made.registrations],
    ['registration_metadata', made.metadata],
    ['registration_transfer', made.transfers],
    ['registration_wallet', made.wallets],
    ['registration_approval', made.approvals],
    ['registry_event', registryEvents(name, [...changes, ...given])],
    ['feedback', applyFeedbackEvents([], given)],
    ['feedback_response', responses.filter(mine)],
  ]
}

/** Throws DisputedRows when the node has an event that stored rows may rest on and the history source lacks. */
async function confirmAgent(
  { pool, chain, toBlock }: AgentsMend,
  node: NodeWord,
  agentId: bigint,
  events: ContractEvents,
  rows: AgentRows,
): Promise<void> {
  const { name } = chain
  const of = `registration ${agentId} of ${name}`
  const others = []
  for (const [table, expected] of rows) {
    others.push(
      ...(await otherRowsOfAgent(pool, table, { chain: name, agentId, toBlock }, jsonRows(expected), mostAsked + 1)),
    )
  }
  const named = others.flatMap(({ blocks, txHash }) => blocks.map((blockNumber) => ({ blockNumber, txHash })))
  const isMeant = (event: object) => 'agentId' in event && event.agentId === agentId
  await confirmEvents(named, { chain, node, events, isMeant, of })
  await confirmUri(pool, chain, agentId, events)
  const surplus = others.filter(({ isSurplus }) => isSurplus).length
  if (await areTooMany(surplus, () => countRowsOfAgent(pool, name, agentId))) {
    throw new DisputedRows(`neither the history nor the node has ${surplus} rows of ${of}, too many to remove`, surplus)
  }
}

/**
 * Throws DisputedRows when the stored URI is not one that the history source knows, though it knows the registration's last
 * event: a row does not say in which block its URI was set, so the node cannot be asked.
 */
async function confirmUri(db: Queryable, { name }: ChainSettings, agentId: bigint, { registrations }: ContractEvents) {
  const stored = await storedUri(db, name, agentId)
  if (!stored) return
  const mine = registrations.filter((event) => event.agentId === agentId)
  const isKnown = mine.some((event) => {
    if (event.kind !== 'uri' && event.kind !== 'registered') return false
    const { agentUri, agentUriSha256 } = applyRegistrationEvents(name, [], [event]).registrations[0] ?? {}
    return agentUri === stored.uri && (hexOrNull(agentUriSha256) ?? null) === stored.sha256
  })
  if (isKnown || !mine.some(({ blockNumber }) => blockNumber === stored.updatedBlock)) return
  throw new DisputedRows(`the history does not know the URI of registration ${agentId} of ${name}; it stays`, 1)
}

async function mendAgent(
  db: Queryable,
  chain: ChainSettings,
  agentId: bigint,
  rows: AgentRows,
  { toBlock }: BlockRange,
): Promise<number> {
  const { name } = chain
  await lockCursor(db, stateSchema(chain)) // its processor writes nothing meanwhile
  if (!(await isQuietAbove(db, name, agentId, toBlock))) {
    await putOff(db, name, agentId)
    return 0
  }
  let differed = 0
  for (const [table, expected] of rows) {
    const of = { chain: name, agentId, toBlock }
    const { missing, surplus, changed } = await replaceRowsOfAgent(db, table, of, jsonRows(expected))
    differed += missing + surplus + changed
  }
  await forgetDiffering(db, name, agentId)
  return differed
}
