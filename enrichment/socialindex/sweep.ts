import { sources } from '../../config/sources.ts'
import type { Queryable } from '../../db/pool.ts'
import { moveCursor, readCursor } from '../../db/queries/sources/cursors.ts'
import { noteVerdicts, type StoredMessage, storeMessages } from '../../db/queries/sources/farcaster-messages.ts'
import { askForSubjects, type LeasedSubject } from '../../db/queries/sources/source-state.ts'
import {
  type AddressSets,
  fidsToTime,
  liveAddresses,
  lockVerifications,
  type VerifiedSet,
} from '../../db/queries/verifications/verified-addresses.ts'
import { NoAnswer } from '../../hosts/no-answer.ts'
import { hour } from '../../ops/time.ts'
import type { SocialIndex } from '../../social/social-index.ts'
import { judgeSet } from '../proofs/messages.ts'
import { LeaseLost, numberOf, type Reading, type Source } from '../schedule/source.ts'
import { createCircleWatch } from './circles.ts'
import { type SocialSourceOptions, storeUntimedSets, storeVerifiedSet } from './fids.ts'

/** Accounts requested concurrently where the host does not answer in bulk. */
const together = 4
/** Milliseconds of refusals after which the hub counts as having forgotten a page's cursor. */
const refusedMs = hour
/** Most accounts of a page that may fail; doubled after each failure of the page. */
const firstTolerated = 5

/** Milliseconds between two looks whether the running sweep is done. */
const againMs = hour

/**
 * Subject that asks for another sweep of a shard behind the running one, which may be past what changed. Starting over
 * at once would never reach the last accounts where the reason comes again and again.
 */
export const sweepAgain = (shard: number) => `again:${shard}`

interface TimedSet extends Omit<VerifiedSet, 'now'> {
  readonly messages: readonly StoredMessage[]
}

interface ChangedSets {
  readonly sets: readonly TimedSet[]
  readonly untimed: Omit<AddressSets, 'now'>
  /** Accounts with sets without times whose times matter: each becomes due for a read of its own. */
  readonly toTime: readonly number[]
  readonly unread: readonly number[]
}

/**
 * Source that walks over all FIDs of a shard and stores what they verify, agents or not: any address may hold a
 * registration later. A page and the cursor behind it are one transaction; the empty cursor is the beginning.
 */
export function socialSweep(options: SocialSourceOptions): Source {
  const { pool, host, now } = options
  const circles = createCircleWatch()

  return {
    ...sources.sweep,
    host,

    async read([subject]) {
      const shard = numberOf(subject!)
      if (subject!.subject === sweepAgain(shard)) return beginAgain(shard, now)
      const from = (await readCursor(pool, sources.sweep.name, shard)) ?? ''
      const page = await pageOf(shard, from, subject!, options)
      const isEndless = page?.isEndless || circles.closes(shard, from, page?.nextPageToken)
      // Asked a second time, it is the end: to begin again and again would never let the sweep rest.
      if (isEndless && subject!.failures === 0)
        throw new NoAnswer('bad_answer', `the list of FIDs of shard ${shard} goes on behind its end`)
      const changed = await changedSets(page?.fids ?? [], subject!.failures, options)
      const to = isEndless ? '' : (page?.nextPageToken ?? '')
      return {
        outcome: isEndless ? 'bad_answer' : page ? (changed.unread.length > 0 ? 'partly' : 'ok') : 'restarted',
        failed: isEndless,
        async write(db) {
          const reachedAt = page && to === '' ? now() : undefined
          const move = { source: sources.sweep.name, shard, from, to, reachedAt, now: now() }
          if (!(await moveCursor(db, move))) throw new LeaseLost(`the sweep of shard ${shard} went on from elsewhere`)
          await storeSets(db, changed, options)
          return to === '' && page ? sources.sweep.cadenceMs.all : 0
        },
      }
    },
  }
}

/** Reads a page. Undefined: the hub has refused its cursor for so long that the sweep must begin again. */
async function pageOf(
  shard: number,
  token: string,
  { lastSuccessAt }: LeasedSubject,
  { social, now }: SocialSourceOptions,
) {
  try {
    return await social.fids(shard, token || undefined)
  } catch (error) {
    const refused = error instanceof NoAnswer && error.failure === 'refused'
    const silentMs = now().getTime() - (lastSuccessAt?.getTime() ?? now().getTime())
    if (token !== '' && refused && silentMs >= refusedMs) return undefined
    throw error
  }
}

/**
 * Sets of FIDs that may differ from the stored ones, and FIDs whose read failed, which are retried one by one later.
 * If the host answers in bulk, only accounts that it leaves out are read one by one. Throws when so many fail that
 * the host must be the cause.
 */
async function changedSets(
  fids: readonly number[],
  failures: number,
  { pool, social, now }: SocialSourceOptions,
): Promise<ChangedSets> {
  const bulkAskedAt = now()
  const bulk = fids.length > 0 ? await inBulk(fids, social) : undefined
  const stored = await liveAddresses(pool, fids)
  const same = (fid: number) => {
    const found = bulk?.get(fid)
    return found !== undefined && found.toSorted().join() === (stored.get(fid) ?? []).join()
  }
  const different = fids.filter((fid) => !same(fid)).map((fid) => ({ fid, addresses: bulk?.get(fid) }))
  const known = different.flatMap(({ fid, addresses }) => (addresses ? { fid, addresses } : []))
  const toTime = [...(await fidsToTime(pool, known))]
  const untimed = { sets: known, askedAt: bulkAskedAt }
  const open = different.filter(({ addresses }) => !addresses).map(({ fid }) => fid)
  const sets: TimedSet[] = []
  const unread: number[] = []
  for (let start = 0; start < open.length; start += together) {
    const some = open.slice(start, start + together)
    const askedAt = now()
    const answers = await Promise.allSettled(some.map((fid) => readSet(fid, social, now())))
    for (const [index, answer] of answers.entries()) {
      const fid = some[index]!
      if (answer.status === 'fulfilled') sets.push({ fid, ...answer.value, askedAt })
      else if (!isOnesOwn(answer.reason, unread.length < firstTolerated * 2 ** failures)) throw answer.reason
      else unread.push(fid)
    }
  }
  return { sets, untimed, toTime, unread }
}

async function readSet(fid: number, social: SocialIndex, now: Date) {
  const live = await social.verifications(fid)
  return { live, messages: await judgeSet(fid, live, now) }
}

/** Reads FIDs in bulk. Undefined: the host does not answer in bulk, or not about these; each is then read alone. */
async function inBulk(fids: readonly number[], social: SocialIndex) {
  try {
    return await social.verifiedSets(fids)
  } catch (error) {
    if (error instanceof NoAnswer && (error.failure === 'bad_answer' || error.failure === 'refused')) return undefined
    throw error
  }
}

/** Stores the sets of a page, and asks for those that have to be read one by one. */
async function storeSets(
  db: Queryable,
  { sets, untimed, toTime, unread }: ChangedSets,
  { url, now }: SocialSourceOptions,
): Promise<void> {
  await lockVerifications(
    db,
    [...sets, ...untimed.sets].map(({ fid }) => fid),
  )
  const emptied: number[] = []
  const again: number[] = []
  for (const set of sets) {
    await storeMessages(db, set.messages, now())
    const stored = await storeVerifiedSet(db, { ...set, now: now() }, url())
    if (stored === 'emptied') emptied.push(set.fid)
    if (stored === 'missing' || stored === 'unsettled') again.push(set.fid)
    await noteVerdicts(db, [set.fid])
  }
  const bulk = await storeUntimedSets(db, { ...untimed, now: now() })
  emptied.push(...bulk.emptied)
  again.push(...bulk.unsettled)
  const inMs = (ms: number) => new Date(now().getTime() + ms)
  const later = inMs(sources.fids.cadenceMs.emptied)
  const soon = inMs(sources.fids.cadenceMs.missing)
  await askForSubjects(db, sources.fids.name, subjectsOf(unread), { priority: 1, dueAt: now() })
  await askForSubjects(db, sources.fids.name, subjectsOf(toTime), { priority: 2, dueAt: now() })
  await askForSubjects(db, sources.fids.name, subjectsOf(emptied), { priority: 1, dueAt: later })
  await askForSubjects(db, sources.fids.name, subjectsOf(again), { priority: 1, dueAt: soon })
}

/** Makes a sweep due as soon as none is running. */
function beginAgain(shard: number, now: () => Date): Reading {
  return {
    outcome: 'ok',
    async write(db) {
      if ((await readCursor(db, sources.sweep.name, shard)) !== '') return againMs
      await askForSubjects(db, sources.sweep.name, [`shard:${shard}`], { priority: 0, dueAt: now() })
      return undefined
    },
  }
}

/** Whether the one account that was asked about causes a failure, or may do so: of few failures that is assumed. */
function isOnesOwn(error: unknown, areFew: boolean): boolean {
  return error instanceof NoAnswer && (error.isAboutOne || (areFew && error.failure !== 'rate_limited'))
}

function subjectsOf(fids: readonly number[]): string[] {
  return fids.map((fid) => `fid:${fid}`)
}
