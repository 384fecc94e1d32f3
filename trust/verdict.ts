import { checkEnvelope, type Outcome } from './envelope.ts'
import type { SignedMessage } from './hub-message.ts'
import { mainnet, messageTypes, networkEpoch } from './message-data.ts'
import { checkKeyClaim, walletChains } from './verification-claim.ts'

/**
 * What a verification is worth. `proven`: the message's signature and the address's own hold, and the message's key is
 * the FID's. `signed`: both signatures hold, but the key was not looked up. `stated`: a part could not be confirmed, so
 * it rests on the hub's word. `forged`: a signature is false, or the message is not about this FID and address.
 */
type Verdict = 'proven' | 'signed' | 'stated' | 'forged'

/** The checks behind a verdict, each on its own. */
export interface Checked {
  readonly verdict: Verdict
  /** That hash and signature hold, and the message is of this FID, about this address and not from the future. */
  readonly envelope: Outcome
  /** That the address's own signature holds. */
  readonly claim: Outcome
  /** That the FID had the signing key. */
  readonly key: Outcome
}

export interface Asked {
  /** Whose verification the hub was asked for. */
  readonly fid: number
  /** Lowercase, 0x and 40 hex digits. */
  readonly address: string
  readonly now: Date
}

/** Outcomes of the checks that need a chain; absent: no chain was asked. */
interface ChainAnswers {
  /** `held`: the KeyRegistry has, or had, the key for the FID. `failed`: it never did. */
  readonly key?: Outcome
  /** Whether the contract wallet confirms the signature on its own chain. */
  readonly wallet?: Outcome
}

/** How far a message may be ahead of our clock. Source: snapchain, `src/core/validations/message.rs`. */
const aheadMs = 10 * 60_000

/**
 * Judges a verification that a hub gives for a FID and an address; `message` undefined: its fields are not all known.
 *
 * A contract wallet that rejects the signature now, or a key that the registry does not know, makes a verification
 * `stated` and not `forged`: owners of wallets change, and keys may be added off the chain.
 */
export async function judgeVerification(
  message: SignedMessage | undefined,
  asked: Asked,
  answers: ChainAnswers = {},
): Promise<Checked> {
  const body = message?.data.body
  if (!message || body?.kind !== 'verification_add') return checked('unknown', 'unknown', 'unknown')
  const { fid, type, network } = message.data
  const isAbout =
    fid === asked.fid &&
    type === messageTypes.MESSAGE_TYPE_VERIFICATION_ADD_ETH_ADDRESS &&
    hexOf(body.address) === asked.address &&
    isOfNow(message, asked.now)
  const envelope = isAbout ? checkEnvelope(message) : 'failed'
  if (envelope === 'failed') return checked(envelope, 'unknown', 'unknown')
  const isWallet = body.verificationType === 1 && walletChains.includes(body.chainId)
  const claim = isWallet ? (answers.wallet ?? 'unknown') : await checkKeyClaim(fid, body, network)
  return checked(envelope, claim, answers.key ?? 'unknown', { isWallet, keyAsked: answers.key !== undefined })
}

/** Judges a message that removes a verification; only a key of the FID signs it, so `claim` is always `unknown`. */
export function judgeRemoval(
  message: SignedMessage | undefined,
  asked: Asked,
  answers: Pick<ChainAnswers, 'key'> = {},
): Checked {
  const body = message?.data.body
  const isAbout =
    message?.data.type === messageTypes.MESSAGE_TYPE_VERIFICATION_REMOVE &&
    body?.kind === 'verification_remove' &&
    hexOf(body.address) === asked.address
  return judgeOwnWord(message, isAbout, asked, answers)
}

/** Judges a message with which a FID sets the URL of its profile; its own key alone signs it, as a removal. */
export function judgeProfileUrl(
  message: SignedMessage | undefined,
  asked: Pick<Asked, 'fid' | 'now'> & { readonly url: string },
  answers: Pick<ChainAnswers, 'key'> = {},
): Checked {
  const body = message?.data.body
  const isAbout =
    message?.data.type === messageTypes.MESSAGE_TYPE_USER_DATA_ADD &&
    body?.kind === 'user_data' &&
    body.type === profileUrlType &&
    body.value === asked.url
  return judgeOwnWord(message, isAbout, asked, answers)
}

/** Number of the profile's URL. Source: snapchain, `UserDataType` of `proto/definitions/message.proto`. */
const profileUrlType = 5

function judgeOwnWord(
  message: SignedMessage | undefined,
  isAbout: boolean,
  { fid, now }: Pick<Asked, 'fid' | 'now'>,
  { key }: Pick<ChainAnswers, 'key'>,
): Checked {
  const isOwn = message !== undefined && isAbout && message.data.fid === fid && isOfNow(message, now)
  const envelope = isOwn ? checkEnvelope(message) : 'failed'
  if (envelope === 'failed') return checked(envelope, 'unknown', 'unknown')
  const { verdict } = checked(envelope, 'held', key ?? 'unknown', { keyAsked: key !== undefined })
  return { verdict, envelope, claim: 'unknown', key: key ?? 'unknown' }
}

/** Whether a message is of the main network, and not from the future. */
function isOfNow({ data }: SignedMessage, now: Date): boolean {
  return data.network === mainnet && (networkEpoch + data.timestamp) * 1000 <= now.getTime() + aheadMs
}

function hexOf(bytes: Uint8Array): string {
  return `0x${Buffer.from(bytes).toString('hex')}`
}

function checked(
  envelope: Outcome,
  claim: Outcome,
  key: Outcome,
  { isWallet = false, keyAsked = false }: { isWallet?: boolean; keyAsked?: boolean } = {},
): Checked {
  const parts = { envelope, claim, key }
  if (envelope === 'failed' || (claim === 'failed' && !isWallet && envelope === 'held'))
    return { verdict: 'forged', ...parts }
  if (envelope !== 'held' || claim !== 'held') return { verdict: 'stated', ...parts }
  if (key === 'held') return { verdict: 'proven', ...parts }
  return { verdict: keyAsked ? 'stated' : 'signed', ...parts }
}
