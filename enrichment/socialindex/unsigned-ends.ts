import type pg from 'pg'
import { liveAddresses } from '../../db/queries/verifications/verified-addresses.ts'
import { HostClosed } from '../../hosts/host.ts'
import { NoAnswer } from '../../hosts/no-answer.ts'
import type { SocialChange, SocialIndex } from '../../social/social-index.ts'

type Unsigned = Extract<SocialChange, { kind: 'unverified' }> & { readonly verifiedAt: Date }

/** Whether an event says that the network let go of a verification by itself, which nobody has signed. */
function isUnsignedEnd(change: SocialChange): change is Unsigned {
  return change.kind === 'unverified' && change.verifiedAt !== undefined
}

interface ConfirmWorld {
  readonly pool: pg.Pool
  readonly social: Pick<SocialIndex, 'verifications'>
}

/** Most accounts that the hub is asked about for one page of events: so many requests take less than a lease. */
const mostAsked = 20
/** Accounts asked about concurrently. */
const together = 4

/**
 * Events of which only those unsigned ends are left that the hub's own list confirms: shards report messages that are
 * not their own as pruned, and a merge may name messages as deleted whoever signed it. Where the hub does not say, the
 * change is `unreadable`, so that the account is read. `contradicted`: FIDs whose verifications it still lists.
 *
 * An end that comes with a newer verification of the address needs no confirmation. One that comes with a removal does:
 * whether a key of the account signed that removal is not known yet.
 */
export async function confirmEnds(
  changes: readonly SocialChange[],
  { pool, social }: ConfirmWorld,
): Promise<{ readonly changes: readonly SocialChange[]; readonly contradicted: readonly number[] }> {
  const isReplaced = (end: Unsigned) =>
    changes.some((one) => one.kind === 'verified' && isSame(one, end) && one.verifiedAt > end.verifiedAt)
  const ends = changes.filter(isUnsignedEnd).filter((end) => !isReplaced(end))
  if (ends.length === 0) return { changes, contradicted: [] }
  const stored = await liveAddresses(
    pool,
    ends.map(({ fid }) => fid),
  )
  const isOpen = (end: Unsigned) =>
    stored.get(end.fid)?.includes(end.address) || changes.some((one) => one.kind === 'verified' && isSame(one, end))
  const open = new Set(ends.filter(isOpen))
  const answers = await listsOf([...new Set([...open].map(({ fid }) => fid))], social)
  const contradicted = new Set<number>()
  const confirmed = changes.flatMap((change): SocialChange[] => {
    if (!isUnsignedEnd(change) || !open.has(change)) return [change]
    const list = answers.get(change.fid)
    if (!list) return [{ kind: 'unreadable', fid: change.fid }]
    const isListed = list.some(
      ({ address, verifiedAt }) => address === change.address && verifiedAt.getTime() === change.verifiedAt.getTime(),
    )
    if (isListed) contradicted.add(change.fid)
    return isListed ? [] : [change]
  })
  return { changes: confirmed, contradicted: [...contradicted] }
}

/** What the hub lists of accounts; one that it does not answer about, or of which there are too many, is absent. */
async function listsOf(fids: readonly number[], social: ConfirmWorld['social']) {
  const lists = new Map<number, Awaited<ReturnType<SocialIndex['verifications']>>>()
  for (let start = 0; start < Math.min(fids.length, mostAsked); start += together) {
    const some = fids.slice(start, Math.min(start + together, mostAsked))
    const answers = await Promise.allSettled(some.map((fid) => social.verifications(fid)))
    for (const [index, answer] of answers.entries()) {
      if (answer.status === 'fulfilled') lists.set(some[index]!, answer.value)
      else if (!(answer.reason instanceof NoAnswer || answer.reason instanceof HostClosed)) throw answer.reason
    }
  }
  return lists
}

function isSame(
  one: { readonly fid: number; readonly address: string },
  other: { readonly fid: number; readonly address: string },
): boolean {
  return one.fid === other.fid && one.address === other.address
}
