import type pg from 'pg'
import { sources } from '../../config/sources.ts'
import type { Queryable } from '../../db/pool.ts'
import { noteVerdicts, storeMessages } from '../../db/queries/sources/farcaster-messages.ts'
import { confirmEmpty, forgetEmptied } from '../../db/queries/sources/hub-standing.ts'
import { type StoredProfile, storeOtherAddresses, storeProfile } from '../../db/queries/sources/social-profiles.ts'
import {
  type AddressSet,
  type AddressSets,
  endVerifications,
  lockVerifications,
  openVerifications,
  removeUntimed,
  type Settled,
  standingOf,
  storeAddresses,
  unsettledFids,
  type VerifiedSet,
} from '../../db/queries/verifications/verified-addresses.ts'
import { storableText } from '../../db/text.ts'
import type { Host } from '../../hosts/host.ts'
import { emptyAfterMs, settledBefore } from '../../social/hub-staleness.ts'
import { longestHandle, longestPart } from '../../social/profile.ts'
import type { ProfilePart, SocialIndex, SocialProfile } from '../../social/social-index.ts'
import { judgeSet } from '../proofs/messages.ts'
import { numberOf, type Source } from '../schedule/source.ts'
import { noteAbsences } from './absences.ts'

export interface SocialSourceOptions {
  readonly pool: pg.Pool
  readonly social: SocialIndex
  readonly host: Host
  /** HTTP address of the hub that is followed. */
  readonly url: () => string
  readonly now: () => Date
}

const { cadenceMs } = sources.fids

/** Source that rereads FIDs of the index: verified set, profile, last activity. */
export function socialFids({ social, host, url, now }: Omit<SocialSourceOptions, 'pool'>): Source {
  return {
    ...sources.fids,
    host,

    async read([subject]) {
      const fid = numberOf(subject!)
      const askedAt = now()
      const [{ live, others }, profile] = await Promise.all([social.everyVerification(fid), social.profile(fid)])
      const messages = await judgeSet(fid, live, now())
      return {
        outcome: live.length > 0 ? 'ok' : 'empty',
        async write(db) {
          await lockVerifications(db, [fid])
          await storeMessages(db, messages, now())
          const stored = await storeVerifiedSet(db, { fid, live, askedAt, now: now() }, url())
          if (stored === 'emptied') return cadenceMs.emptied
          await noteVerdicts(db, [fid])
          const { listed, claimed, holder, unlisted } = await standingOf(db, fid)
          if (!listed && !claimed && !holder) return stored === 'unsettled' ? cadenceMs.missing : undefined
          if (!unlisted) {
            await storeProfile(db, storableProfile(fid, profile), now())
            await storeOtherAddresses(db, fid, others)
          }
          if (stored !== 'stored') return cadenceMs.missing
          return claimed ? cadenceMs.claimed : cadenceMs.all
        },
      }
    },
  }
}

/**
 * Updates the stored set of a FID to an answer of the hub at `url`; the caller holds `lockVerifications`. `emptied`:
 * the answer would end every verification and is the first to say so; only this is recorded, and the FID must be read
 * again. `missing`: another hub still has verifications that the answer leaves out, so they stay; the FID should be
 * read again soon. `unsettled`: so it should, because the answer contradicts what was stored just before.
 */
export async function storeVerifiedSet(
  db: Queryable,
  set: VerifiedSet,
  url: string,
): Promise<'stored' | 'emptied' | 'missing' | 'unsettled'> {
  if (set.live.length === 0 && !(await confirmEmpty(db, { ...set, afterMs: emptyAfterMs }))) return 'emptied'
  const addresses = set.live.map(({ address }) => address)
  const answer = settled(set)
  await removeUntimed(db, set.fid, addresses)
  await endVerifications(db, answer)
  await openVerifications(db, answer)
  const isMissing = await noteAbsences(db, answer, url)
  if (set.live.length > 0 || !isMissing) await forgetEmptied(db, [set.fid]) // else the empty answer stays recorded
  const unsettled = await unsettledFids(db, { ...answer, sets: [{ fid: set.fid, addresses }] })
  return unsettled.length > 0 ? 'unsettled' : isMissing ? 'missing' : 'stored'
}

/** An answer, with the time up to which it settles what is stored. */
function settled<Answer extends Pick<VerifiedSet, 'askedAt'>>(answer: Answer): Settled<Answer> {
  return { ...answer, settledBefore: settledBefore(answer.askedAt) }
}

/** Updates the stored sets of FIDs to an answer without times. Returns FIDs by outcome, as in `storeVerifiedSet`. */
export async function storeUntimedSets(
  db: Queryable,
  { sets, askedAt, now }: AddressSets,
): Promise<Record<'emptied' | 'unsettled', number[]>> {
  const emptied: number[] = []
  const believed: AddressSet[] = []
  for (const set of sets) {
    const { fid, addresses } = set
    const isDoubted = addresses.length === 0 && !(await confirmEmpty(db, { fid, askedAt, afterMs: emptyAfterMs }))
    if (isDoubted) emptied.push(fid)
    else believed.push(set)
  }
  await forgetEmptied(
    db,
    believed.map(({ fid }) => fid),
  )
  const answer = settled({ sets: believed, askedAt, now })
  await storeAddresses(db, answer)
  return { emptied, unsettled: await unsettledFids(db, answer) }
}

/** A profile as it is stored: texts clean, and cut to their limits. */
export function storableProfile(fid: number, profile: SocialProfile): StoredProfile {
  return {
    fid,
    handle: clean(profile.handle, longestHandle),
    handleOwner: profile.handleOwner,
    displayName: cleanPart('displayName', profile.displayName),
    bio: cleanPart('bio', profile.bio),
    pfpUrl: cleanPart('pfpUrl', profile.pfpUrl),
    profileUrl: cleanPart('profileUrl', profile.profileUrl),
    github: cleanPart('github', profile.github),
    twitter: cleanPart('twitter', profile.twitter),
    lastMessageAt: profile.lastMessageAt,
  }
}

/** Text of a profile part, made storable and cut to its limit; null: there is none. */
export function cleanPart(part: ProfilePart, text: string | null): string | null {
  return clean(text, longestPart[part])
}

function clean(text: string | null, codePoints: number): string | null {
  return text === null ? null : storableText(text, codePoints) || null
}
