import type { StoredMessage } from '../../db/queries/sources/farcaster-messages.ts'
import { badAboutOne } from '../../hosts/no-answer.ts'
import type { Verification } from '../../social/social-index.ts'
import { readHubMessage, type SignedMessage } from '../../trust/hub-message.ts'
import { judgeRemoval, judgeVerification } from '../../trust/verdict.ts'

/** A message about an address of a FID, as a hub gave it. */
interface GivenMessage {
  readonly fid: number
  readonly address: string
  /** Timestamp that its signer gave it. */
  readonly at: Date
  readonly message: unknown
}

/**
 * Judges a message by its own signatures, not by the standing of its key on the chain. Undefined: it is forged.
 * `stated`: a part could not be checked, so it rests on the hub's word.
 */
export async function judgeMessage(given: GivenMessage, now: Date): Promise<StoredMessage | undefined> {
  const { fid, address, at, message } = given
  if (!isStorable(message)) return undefined
  const read = readHubMessage(message)
  const body = read?.data.body
  const common = { fid, address, messageTime: at, message, signer: read?.signer ?? null, hash: hashOf(message, read) }
  const type = (message as { data: { type: string } }).data.type
  const none = { verificationType: null, verificationChain: null }
  if (body?.kind === 'verification_remove') {
    const { verdict, envelope, claim } = judgeRemoval(read, { fid, address, now })
    return envelope === 'failed' ? undefined : { ...common, type, verdict, envelope, claim, ...none }
  }
  const { verdict, envelope, claim } = await judgeVerification(read, { fid, address, now })
  if (verdict === 'forged' || envelope === 'failed') return undefined
  if (body?.kind !== 'verification_add') return { ...common, type, verdict, envelope, claim, ...none }
  const { verificationType, chainId } = body
  const verificationChain = verificationType === 1 ? chainId : null
  return { ...common, type, verdict, envelope, claim, verificationType, verificationChain }
}

/**
 * Judges all that a hub says a FID verifies. Throws NoAnswer when one of the messages is forged: nothing else of such an
 * answer is believed.
 */
export async function judgeSet(fid: number, live: readonly Verification[], now: Date): Promise<StoredMessage[]> {
  const judged: StoredMessage[] = []
  for (const { address, verifiedAt, message } of live) {
    if (message === undefined) continue
    const one = await judgeMessage({ fid, address, at: verifiedAt, message }, now)
    if (!one) throw badAboutOne(`a forged verification of ${address} for fid ${fid}`)
    judged.push(one)
  }
  return judged
}

/** Most characters of a message as JSON; one about an address has less than a tenth of them. */
const longestMessage = 16_384

/** Whether a message fits the database, which takes no NUL and no lone surrogate; no honest message has any. */
export function isStorable(message: unknown): boolean {
  const text = JSON.stringify(message)
  return text.length <= longestMessage && !/\\u(0000|d[89a-f])/i.test(text)
}

const nothing = new Uint8Array()

function hashOf(message: unknown, read: SignedMessage | undefined): Uint8Array {
  if (read) return read.hash
  const { hash } = message as { hash?: unknown }
  return typeof hash === 'string' && /^0x[0-9a-fA-F]{40}$/.test(hash) ? Buffer.from(hash.slice(2), 'hex') : nothing
}
