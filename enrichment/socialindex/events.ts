import { sources } from '../../config/sources.ts'
import type { Queryable } from '../../db/pool.ts'
import { claimedAmong } from '../../db/queries/claims/claim-checks.ts'
import { moveCursor, readCursor } from '../../db/queries/sources/cursors.ts'
import { noteVerdicts, type StoredMessage, storeMessages } from '../../db/queries/sources/farcaster-messages.ts'
import { type StoredKeyMessage, storeKeyMessages } from '../../db/queries/sources/signer-keys.ts'
import { noteActivity, setProfilePart } from '../../db/queries/sources/social-profiles.ts'
import { askForSubjects, endLeases } from '../../db/queries/sources/source-state.ts'
import {
  endVerification,
  listedAmong,
  lockVerifications,
  openVerification,
  removeUntimed,
  replaceVerification,
} from '../../db/queries/verifications/verified-addresses.ts'
import { NoAnswer } from '../../hosts/no-answer.ts'
import { day, hour } from '../../ops/time.ts'
import { firstIdBehind } from '../../social/events.ts'
import { eventsPerPage } from '../../social/hub.ts'
import type { EventPage, SocialChange } from '../../social/social-index.ts'
import { judgeKeyMessage } from '../proofs/key-messages.ts'
import { judgeMessage } from '../proofs/messages.ts'
import { LeaseLost, numberOf, type Reading, type Source } from '../schedule/source.ts'
import { cleanPart, type SocialSourceOptions } from './fids.ts'
import { applyFollows } from './follows.ts'
import { restartStream } from './shards.ts'
import { sweepAgain } from './sweep.ts'
import { confirmEnds } from './unsigned-ends.ts'

/** Milliseconds for which hubs keep events, three days; older changes have to be found by a sweep. */
const keptMs = 3 * day
/** Milliseconds of refusals after which a cursor counts as unknown to the hub. */
const refusedMs = hour
/** Failures in a row after which events are skipped: by then the page is a single event, requested more than once. */
const failuresBeforeSkip = 7
/** Most blocks skipped because of events that the hub cannot answer; there is one block a second. */
const mostBlocksSkipped = 1_024

interface EventOptions extends SocialSourceOptions {
  readonly sweeps: boolean
  readonly pollMs: number
}

/** Source that follows a shard's events: a page of events and the cursor behind it are one transaction. */
export function socialEvents(options: EventOptions): Source {
  const { pool, social, host, now, pollMs } = options
  return {
    ...sources.events,
    retry: { ...sources.events.retry, baseMs: Math.max(sources.events.retry.baseMs, pollMs) },
    host,

    async read([subject]) {
      const shard = numberOf(subject!)
      const position = Number(await readCursor(pool, sources.events.name, shard))
      const { lastSuccessAt, failures } = subject!
      if (lastSuccessAt && now().getTime() - lastSuccessAt.getTime() > keptMs) {
        const restarted = await restart(shard, position, options)
        if (restarted) return restarted
      }
      // Each failure makes the page smaller, down to the one event that the hub cannot answer.
      const pageSize = Math.max(1, Math.floor(eventsPerPage / 4 ** Math.min(failures, 5)))
      try {
        const page = await social.events(shard, position, now(), pageSize)
        return readingOf({ shard, position, page: await checked(page, options), now: now(), pollMs })
      } catch (error) {
        if (!(error instanceof NoAnswer) || error.failure === 'rate_limited') throw error
        const silentMs = now().getTime() - (lastSuccessAt?.getTime() ?? now().getTime())
        if (error.failure === 'refused' && silentMs >= refusedMs) {
          const restarted = await restart(shard, position, options)
          if (restarted) return restarted
        }
        const behind = failures >= failuresBeforeSkip ? await pageBehind(shard, position, options) : undefined
        if (!behind) throw error
        return skipped(behind, options)
      }
    },
  }
}

/** Begins a stream at the hub's head; undefined: it is there. */
async function restart(
  shard: number,
  position: number,
  { social, sweeps, now }: EventOptions,
): Promise<Reading | undefined> {
  const found = (await social.network()).shards.find((one) => one.shard === shard)
  if (!found || found.head === position) return undefined
  return {
    outcome: 'restarted',
    async write(db) {
      await restartStream(db, { ...found, sweeps, now: now() })
      return 0
    },
  }
}

/** Judges the messages on a page. A forged one is replaced by `unreadable`, so that its FID is read again. */
async function checked(page: EventPage, { pool, social, now }: EventOptions): Promise<CheckedPage> {
  const messages: StoredMessage[] = []
  const changes: SocialChange[] = []
  const keys: StoredKeyMessage[] = []
  for (const change of page.changes) {
    if (change.kind === 'key_message') {
      const judged = await judgeKeyMessage(change.fid, change.message)
      if (judged) keys.push(judged)
      continue
    }
    const isSigned = (change.kind === 'verified' || change.kind === 'unverified') && change.message !== undefined
    if (!isSigned) {
      changes.push(change)
      continue
    }
    const at = change.verifiedAt ?? change.at
    const judged = await judgeMessage({ ...change, at, message: change.message }, now())
    if (judged) messages.push(judged)
    changes.push(judged ? change : { kind: 'unreadable', fid: change.fid })
  }
  return { ...page, ...(await confirmEnds(changes, { pool, social })), messages, keys }
}

/** The first page behind the events that the hub cannot answer; undefined: it answers no later ones either. */
async function pageBehind(shard: number, position: number, options: EventOptions): Promise<PageInHand | undefined> {
  const { social, now, pollMs } = options
  for (let blocks = 1; blocks <= mostBlocksSkipped; blocks *= 2) {
    const from = firstIdBehind(position, blocks)
    try {
      const page = await social.events(shard, from, now())
      if (page.next === from) return undefined // above the head: there is nothing to skip to
      return { shard, position, page: await checked(page, options), now: now(), pollMs }
    } catch (error) {
      if (!(error instanceof NoAnswer) || error.failure === 'rate_limited') throw error
    }
  }
  return undefined
}

/** Continues behind events that the hub does not give; a sweep of all accounts finds what they changed. */
function skipped(inHand: PageInHand, { sweeps, now }: EventOptions): Reading {
  return {
    outcome: 'skipped',
    async write(db) {
      const restMs = await storePage(db, inHand)
      const sweep = [sweepAgain(inHand.shard)]
      if (sweeps) await askForSubjects(db, sources.sweep.name, sweep, { priority: 0, dueAt: now() })
      return restMs
    },
  }
}

function readingOf(inHand: PageInHand): Reading {
  const partly = inHand.page.changes.some(({ kind }) => kind === 'unreadable')
  return { outcome: partly ? 'partly' : 'ok', write: (db) => storePage(db, inHand) }
}

interface CheckedPage extends EventPage {
  readonly messages: readonly StoredMessage[]
  readonly keys: readonly StoredKeyMessage[]
  /** FIDs of verifications that the hub lists although an event says that they ended. */
  readonly contradicted: readonly number[]
}

interface PageInHand {
  readonly shard: number
  readonly position: number
  readonly page: CheckedPage
  readonly now: Date
  readonly pollMs: number
}

async function storePage(db: Queryable, { shard, position, page, now, pollMs }: PageInHand): Promise<number> {
  // The cursor of a quiet shard does not move and is up to date all the same.
  const reachedAt = page.more ? page.newestBlockAt : now
  if (page.next !== position || reachedAt) {
    const move = { source: sources.events.name, shard, from: String(position), to: String(page.next), reachedAt, now }
    if (!(await moveCursor(db, move))) throw new LeaseLost(`events of shard ${shard} went on from elsewhere`)
  }
  if (page.next !== position) {
    const verifications = page.changes.filter(({ kind }) => kind === 'verified' || kind === 'unverified')
    await lockVerifications(
      db,
      verifications.flatMap(({ fid }) => fid ?? []),
    )
    await storeMessages(db, page.messages, now)
    await storeChanges(db, page, now)
    await noteVerdicts(
      db,
      page.messages.map(({ fid }) => fid),
    )
    await storeKeyMessages(db, page.keys, now)
  }
  return page.more ? 0 : pollMs
}

/** Applies verifications, profiles and follows as reported; FIDs with incomplete events are made due for a read. */
async function storeChanges(db: Queryable, { changes, contradicted }: CheckedPage, now: Date) {
  const verifications = changes.filter((change) => change.kind === 'verified' || change.kind === 'unverified')
  const kept: number[] = []
  for (const change of verifications) {
    if (change.kind === 'unverified') {
      if (await endVerification(db, { ...change, now })) kept.push(change.fid)
    } else {
      await removeUntimed(db, change.fid, [change.address])
      await replaceVerification(db, { ...change, now })
      await openVerification(db, { ...change, now })
    }
  }
  await noteActivity(
    db,
    changes.filter((change) => change.kind === 'activity'),
  )
  for (const change of changes) {
    if (change.kind !== 'profile') continue
    await setProfilePart(db, { ...change, text: cleanPart(change.part, change.text), now })
  }
  await applyFollows(
    db,
    changes.filter((change) => change.kind === 'follow'),
    now,
  )
  const fidsOf = (kind: 'profile' | 'unreadable' | 'unknown_profile' | 'unknown_follows' | 'key_removed') => [
    ...new Set(changes.flatMap((change) => (change.kind === kind ? (change.fid ?? []) : []))),
  ]
  const subjectsOf = (fids: readonly number[]) => fids.map((fid) => `fid:${fid}`)
  // A read in flight may have the old text. Behind the profiles' rows, which such a read locks first too.
  await endLeases(db, sources.fids.name, subjectsOf(fidsOf('profile')), { dueAt: now })
  const claimed = await claimedAmong(db, fidsOf('key_removed'))
  const listed = await listedAmong(db, fidsOf('unknown_profile'))
  const following = await listedAmong(db, fidsOf('unknown_follows'))
  const unsure = [...new Set([...fidsOf('unreadable'), ...kept])]
  const soon = new Date(now.getTime() + sources.fids.cadenceMs.missing)
  await askForSubjects(db, sources.fids.name, subjectsOf(unsure), { priority: 1, dueAt: now })
  await askForSubjects(db, sources.fids.name, subjectsOf(contradicted), { priority: 1, dueAt: soon })
  await askForSubjects(db, sources.fids.name, subjectsOf(listed), { priority: 2, dueAt: now })
  await askForSubjects(db, sources.follows.name, subjectsOf(following), { priority: 1, dueAt: now })
  if (claimed.length > 0)
    await askForSubjects(db, sources.claims.name, subjectsOf(claimed), { priority: 2, dueAt: now })
}
