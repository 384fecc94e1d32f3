import { sources } from '../../config/sources.ts'
import type { Queryable } from '../../db/pool.ts'
import { claimedAmong } from '../../db/queries/claims/claim-checks.ts'
import { storeWitnessStanding } from '../../db/queries/sources/hub-standing.ts'
import { handleOf, storeNameWitness } from '../../db/queries/sources/social-profiles.ts'
import { askForSubjects } from '../../db/queries/sources/source-state.ts'
import { disputedMessages, isMissingSomewhere, liveMessages, storeWitness } from '../../db/queries/sources/witnesses.ts'
import type { Host } from '../../hosts/host.ts'
import { minute } from '../../ops/time.ts'
import type { Witness } from '../../social/witness.ts'
import { numberOf, type Source } from '../schedule/source.ts'
import { findRemovals, type RemovalWorld, storeRemovals } from './removals.ts'

interface WitnessOptions extends RemovalWorld {
  /** The hubs that are not followed. */
  readonly witnesses: () => readonly Witness[]
  /** Rate limit of the requests to all witnesses together. */
  readonly host: Host
}

const { cadenceMs } = sources.witnesses

/**
 * Source that asks the other hubs whether they know the messages of an agent. When one lacks a message, it and the
 * followed hub are asked again, and hubs are asked whether the account removed it itself, which ends it, whichever hub
 * tells. A hub that is behind, does not answer or shows a forged message is no witness, and what it said is forgotten.
 */
export function socialWitnesses(options: WitnessOptions): Source {
  const { pool, witnesses, removals, host, now } = options

  return {
    ...sources.witnesses,
    host,

    async read([subject]) {
      const fid = numberOf(subject!)
      const hashes = await liveMessages(pool, fid)
      const asked = await Promise.all(
        witnesses().map(async ({ url, testify }) => {
          await host.slot()
          return { url, testimony: await testify(fid, 'verifications', now()) }
        }),
      )
      const handle = await handleOf(pool, fid)
      const named = handle === null ? [] : await namedBy(fid, handle, options)
      const outcomes = asked.map(({ testimony }) => testimony.kind).filter((kind) => kind !== 'says')
      const lacks = asked.some(
        ({ testimony }) => testimony.kind === 'says' && hashes.some((hash) => !testimony.hashes.has(hash)),
      )
      const isToBeFound = removals.length > 0 && (lacks || (await isMissingSomewhere(pool, fid, hashes)))
      const found = isToBeFound ? await findRemovals(fid, options) : undefined
      return {
        outcome: outcomes[0] ?? (found?.isPartial ? 'partly' : 'ok'),
        async write(db) {
          if (handle !== null && named.some(({ says }) => says !== undefined)) {
            await storeNameWitness(db, { fid, handle, url: named.find(({ says }) => says)?.url ?? null })
          }
          await storeRemovals(db, fid, found?.proven ?? [], now())
          const live = new Set(found?.proven.length ? await liveMessages(db, fid) : hashes)
          const still = hashes.filter((hash) => live.has(hash))
          const missing = await storeTestimony(db, fid, now(), async () => {
            let missing = 0
            for (const { url, testimony } of asked) {
              const known = testimony.kind === 'says' ? testimony.hashes : null
              const doubt = testimony.kind === 'says' ? null : testimony.why
              await storeWitnessStanding(db, { url, doubt, now: now() })
              missing += await storeWitness(db, { fid, url, hashes: still, known, disputedAfterMs, now: now() })
            }
            return missing
          })
          if (missing === 0) return outcomes.length > 0 ? cadenceMs.away : cadenceMs.all
          // The followed hub may be the one that is wrong.
          await askForSubjects(db, sources.fids.name, [`fid:${fid}`], { priority: 1, dueAt: now() })
          return cadenceMs.missing
        },
      }
    },
  }
}

/** What each of the other hubs says about whose a user name is. */
function namedBy(fid: number, handle: string, { witnesses, host, now }: WitnessOptions) {
  return Promise.all(
    witnesses().map(async ({ url, confirmsName }) => {
      await host.slot()
      return { url, says: await confirmsName(fid, handle, now()) }
    }),
  )
}

/** Milliseconds after which a message that a hub still lacks is disputed: the network spreads messages in seconds. */
export const disputedAfterMs = 5 * minute

/** Runs `store`, and makes the claims of an account due when its disputed messages are others than before. */
export async function storeTestimony<T>(db: Queryable, fid: number, now: Date, store: () => Promise<T>): Promise<T> {
  const before = await disputedMessages(db, fid)
  const stored = await store()
  const isOther = before.join() !== (await disputedMessages(db, fid)).join()
  if (isOther && (await claimedAmong(db, [fid])).length > 0)
    await askForSubjects(db, sources.claims.name, [`fid:${fid}`], { priority: 2, dueAt: now })
  return stored
}
