import type pg from 'pg'
import { sources } from '../config/sources.ts'
import { ofHolder } from '../db/due/routes.ts'
import { deriveFromSums } from '../db/queries/agents/agents.ts'
import { noteControl } from '../db/queries/agents/control-events.ts'
import { deriveDeclared } from '../db/queries/agents/declared.ts'
import { deriveWithFollowUp } from '../db/queries/agents/follow-up.ts'
import { markAgentsOf, markHoldersOf, unknownHolders } from '../db/queries/agents/holders.ts'
import { deriveLargeHolder, largeHoldersOf } from '../db/queries/agents/large-holders.ts'
import { lockJoin } from '../db/queries/agents/lock.ts'
import { type LaterKey, markDue } from '../db/queries/due/queue.ts'
import { deriveSearchedRegistrations, markHeldInSlices } from '../db/queries/registrations/searched.ts'
import { askForControl, askForControlOf } from '../db/queries/sources/control-readings.ts'
import { askForDocuments } from '../db/queries/sources/registration-documents.ts'
import { addSubjects } from '../db/queries/sources/source-state.ts'
import { minute } from '../ops/time.ts'
import type { DeriveContext } from './derivation.ts'

/** Makes agents due that have to do with addresses, slice by slice, and asks for the accounts behind unknown ones. */
export async function routeHolders(
  db: pg.PoolClient,
  keys: readonly string[],
  { lookups, now }: DeriveContext,
): Promise<undefined> {
  await lockJoin(db)
  await markAgentsOf(db, keys)
  if (!lookups) return
  const unknown = await unknownHolders(
    db,
    keys.filter((key) => !key.includes(':')).map((key) => `0x${key}`),
  )
  const subjects = unknown.map((address) => `address:${address}`)
  await addSubjects(db, sources.lookup.name, subjects, { priority: 2, dueAt: now() })
}

/** Makes the holders of registrations due, and asks for the documents of those that have a new one. */
export async function routeRegistrations(
  db: pg.PoolClient,
  keys: readonly string[],
  { now }: DeriveContext,
): Promise<undefined> {
  await lockJoin(db)
  await markHoldersOf(db, keys, ['agents', 'neighbours'])
  const registrations = keys.map((key) => {
    const [chain, agentId] = key.split(':') as [string, string]
    return { chain, agentId }
  })
  await askForDocuments(db, registrations, now())
}

export async function deriveAgents(
  db: pg.PoolClient,
  keys: readonly string[],
  { perAgent = [], now }: DeriveContext,
): Promise<undefined> {
  await lockJoin(db)
  await deriveWithFollowUp(db, { fids: keys.map(Number), perAgent, now: now() })
}

/** Derives the rows by which the search over all registrations finds these. */
export async function deriveSearched(
  db: pg.PoolClient,
  keys: readonly string[],
  { now }: DeriveContext,
): Promise<undefined> {
  const registrations = keys.filter((key) => !key.startsWith(ofHolder))
  if (registrations.length < keys.length)
    await markHeldInSlices(
      db,
      keys.filter((key) => key.startsWith(ofHolder)),
    )
  await deriveSearchedRegistrations(db, registrations)
  await askForControl(db, registrations, now())
}

/**
 * Derives what agents are found by of the registrations that they hold. Of a large holder all are read, so that this is due with
 * the next minute, however often one of them changes.
 */
export async function deriveDeclarations(
  db: pg.PoolClient,
  keys: readonly string[],
  { now, again = false }: DeriveContext,
): Promise<readonly LaterKey[]> {
  const due = keys.filter((key) => key.endsWith(':')).map((key) => Number(key.slice(0, -1)))
  const asked = keys.filter((key) => !key.endsWith(':')).map(Number)
  const large = again ? [] : await largeHoldersOf(db, asked)
  await deriveDeclared(db, [...due, ...asked.filter((fid) => !large.includes(fid))])
  const dueAt = new Date((Math.floor(now().getTime() / minute) + 1) * minute)
  return large.map((fid) => ({ key: `${fid}:`, dueAt }))
}

/** Notes an event for each agent that other addresses can change now, and asks the chains who commands those that are contracts. */
export async function deriveControl(
  db: pg.PoolClient,
  keys: readonly string[],
  { now }: DeriveContext,
): Promise<readonly LaterKey[]> {
  await lockJoin(db)
  const fids = keys.map(Number)
  const later = await noteControl(db, { fids, now: now() })
  await askForControlOf(db, fids, now())
  return later
}

/** Derives holdings of large holders without the join's lock, so that nobody waits for them; their rows are due then. */
export async function deriveLargeHolders(
  db: pg.PoolClient,
  keys: readonly string[],
  { now }: DeriveContext,
): Promise<undefined> {
  for (const key of keys) await deriveLargeHolder(db, Number(key), now())
  await markDue(db, 'summed holders', keys)
}

/** Derives the rows of large holders from the totals of their holdings. */
export async function deriveSummedHolders(
  db: pg.PoolClient,
  keys: readonly string[],
  { perAgent = [], now }: DeriveContext,
): Promise<undefined> {
  await lockJoin(db)
  await deriveWithFollowUp(db, { fids: keys.map(Number), perAgent, now: now() }, deriveFromSums)
}
