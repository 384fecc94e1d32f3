import type pg from 'pg'
import type { Address } from 'viem'
import type { Queryable } from '../../db/pool.ts'
import {
  type ProvedMessage,
  type StoredMessage,
  storeMessages,
  storeProofs,
} from '../../db/queries/sources/farcaster-messages.ts'
import { keyFactsOf } from '../../db/queries/sources/signer-keys.ts'
import { liveGrounds } from '../../db/queries/sources/witnesses.ts'
import { endTakenBack, lockVerifications } from '../../db/queries/verifications/verified-addresses.ts'
import { HostClosed } from '../../hosts/host.ts'
import { NoAnswer } from '../../hosts/no-answer.ts'
import type { RemovalMessage, Removals } from '../../social/hub-grpc.ts'
import { proveMessage } from '../../social/message-proof.ts'
import { networkTime } from '../../social/messages.ts'
import type { ProofWorld } from '../../social/proof-world.ts'
import { readHubMessage } from '../../trust/hub-message.ts'
import { judgeMessage } from './messages.ts'

export interface RemovalWorld {
  readonly pool: pg.Pool
  /** Clients of hubs' gRPC APIs, which give removals. */
  readonly removals: readonly Removals[]
  readonly world: ProofWorld
  readonly now: () => Date
}

/** A removal signed for the account; `proof`: what the chain said of its key, null where there is no node to ask. */
interface ProvenRemoval {
  readonly message: StoredMessage
  readonly proof: ProvedMessage | null
}

interface Found {
  /** Removals proven by their own signatures, whichever hub gave them. */
  readonly proven: readonly ProvenRemoval[]
  /** Whether a hub or node did not answer, so that there may be more. */
  readonly isPartial: boolean
}

/** Most removals of one hub's answer about an account that are checked; the network keeps one per address. */
const mostChecked = 25

/** Asks all hubs which of an account's stored verifications it has removed. */
export async function findRemovals(fid: number, given: RemovalWorld): Promise<Found> {
  const live = await liveGrounds(given.pool, fid)
  const answers = await Promise.all(given.removals.map((api) => unlessSilent(() => api.ofFid(fid))))
  const proven = new Map<string, ProvenRemoval>()
  let isPartial = answers.includes(undefined)
  for (const answer of answers) {
    const relevant = (answer ?? []).filter(({ data }) =>
      live.some(({ address }) => address === data.verificationRemoveBody.address),
    )
    for (const message of relevant.slice(0, mostChecked)) {
      if (proven.has(message.hash)) continue
      const removal = await unlessSilent(() => provenRemoval(fid, message, live, given))
      if (removal) proven.set(message.hash, removal)
      isPartial ||= removal === undefined
    }
  }
  return { proven: [...proven.values()], isPartial }
}

/** Ends the verifications that were removed, and stores the messages that prove it. */
export async function storeRemovals(
  db: Queryable,
  fid: number,
  proven: readonly ProvenRemoval[],
  now: Date,
): Promise<void> {
  if (proven.length === 0) return
  await lockVerifications(db, [fid])
  await storeMessages(
    db,
    proven.map(({ message }) => message),
    now,
  )
  await storeProofs(
    db,
    proven.flatMap(({ proof }) => proof ?? []),
    now,
  )
  await endTakenBack(db, fid, now)
}

/**
 * The removal as it is stored; null: it is not this account's. Its key must be one that the FID has or had, as the
 * KeyRegistry tells; where there is no node to ask, the very key that signed the verification.
 */
async function provenRemoval(
  fid: number,
  message: RemovalMessage,
  live: Awaited<ReturnType<typeof liveGrounds>>,
  { pool, world, now }: RemovalWorld,
): Promise<ProvenRemoval | null> {
  const address = message.data.verificationRemoveBody.address as Address
  const at = networkTime(message.data.timestamp)
  const judged = await judgeMessage({ fid, address, at, message }, now())
  const read = readHubMessage(message)
  if (!judged || !read || judged.envelope !== 'held') return null
  if (!world.registries.canAnswer) {
    const isOfSameKey = live.some((one) => one.address === address && one.signer?.equals(read.signer))
    return isOfSameKey ? { message: judged, proof: null } : null
  }
  const key = await keyFactsOf(pool, { fid, key: read.signer, hash: read.hash })
  const { verdict, claim, key: ofKey } = await proveMessage({ message: read, fid, address, key, now: now() }, world)
  if (verdict === 'forged' || ofKey !== 'held') return null
  return { message: judged, proof: { fid, hash: judged.hash, verdict, claim, key: ofKey, wallet: null } }
}

/** Result of `ask`; undefined: no answer, or the host may not be asked now. What is unknown ends nothing. */
async function unlessSilent<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof NoAnswer || error instanceof HostClosed) return undefined
    throw error
  }
}
