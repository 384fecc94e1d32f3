import { z } from 'zod'
import { claimLimits } from '../../config/limits.claims.ts'
import type { Queryable } from '../../db/pool.ts'
import type { Door } from '../../net/door.ts'
import type { EgressAllow } from '../../net/egress.ts'
import type { HostLink } from '../../social/grounds/host-link.ts'
import type { MessageProof } from '../../social/grounds/judge.ts'
import type { Registries } from '../../social/key-registry.ts'
import type { SocialIndex } from '../../social/social-index.ts'
import type { Wallets } from '../../social/wallets.ts'
import type { Witness } from '../../social/witness.ts'
import type { ClaimAction, Terms } from '../../trust/claim-text.ts'
import { webhookUrl } from '../../trust/webhooks/types.ts'
import { ApiError } from '../http/errors.ts'

/** Body of a claim: known to be a JSON object, its fields not checked yet. */
export type ClaimBody = Readonly<Record<string, unknown>>

/** What a proof is checked against: terms of this service, its database, and clients of hubs, chains and hosts. */
export interface ClaimWorld extends Terms {
  readonly database: Queryable
  readonly social: Pick<SocialIndex, 'verifications' | 'statements' | 'nameHolder'>
  /** Other hubs; one that answers and lacks a verification's message contradicts it. */
  readonly witnesses: readonly Witness[]
  readonly registries: Registries
  readonly wallets: Wallets
  readonly door: Pick<Door, 'fetch' | 'fetchJson'>
  readonly egressAllow: EgressAllow
  /** What a message must be worth to support a claim. */
  readonly verificationProof: MessageProof
  /** Seconds before and after the server's time that a signed time may lie, inclusive. */
  readonly windowSeconds: number
  /** Whether a manifest's host must be linked to the fid. */
  readonly hostLinkRequired: boolean
  /** Whether a claim ends when what it is based on does. */
  readonly claimsLapse: boolean
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/**
 * Decoder of one method of proof for an action. It looks at the body alone: its shape, that it names the fid, that it
 * was made for this service. Throws ApiError.
 */
export type Decode = (body: ClaimBody, fid: number, world: ClaimWorld, action: ClaimAction) => DecodedProof

export interface DecodedProof {
  readonly nonce: string
  /** The time that was signed, as sent; undefined when the proof itself carries none. */
  readonly timestamp: string | undefined
  /** Canonical text of the proof: two proofs are the same exactly when these are equal. */
  readonly identity: string
  /** Host that verifying would fetch from, counted by the claim limiter; absent: none. */
  readonly host?: string
  /**
   * Checks the signature, then asks hubs, registries and hosts. Throws ApiError when the proof does not hold, any other
   * error when a source does not answer. `onFetched` is called as soon as a host has answered, or failed.
   */
  verify(onFetched: OnFetched): Promise<VerifiedProof>
}

/**
 * Told of a manifest before it is checked, with the FID that it names (undefined: none), or that the host has none. Throws
 * when a manifest with this SHA-256 was accepted before: it is the same proof whatever stands next to it, even when it
 * would not hold any more.
 */
export type OnFetched = (
  manifest: { readonly sha256: Buffer; readonly namedFid: number | undefined } | undefined,
) => Promise<void>

export interface VerifiedProof {
  /** The proof as it was received, with the documents that were fetched to check it. */
  readonly proof: unknown
  readonly signer: string
  readonly signedAt: number | undefined
  /** The fid's verified set now, lowercase, sorted. */
  readonly verifiedAddresses: readonly string[]
  readonly hostLink: HostLink | null
  /** Whether the FID's custody address signed it; false for every claim. */
  readonly byCustody: boolean
  /** SHA-256 of the manifest as it was fetched; null for proofs without one. */
  readonly manifestSha256: Buffer | null
}

/** The host that nothing links to the account, which acts on its own claims alone. Undefined: the proof is the account's. */
export const unlinkedHost = (
  { method }: { readonly method: string },
  { hostLink, signer }: VerifiedProof,
): string | undefined => (method === 'well-known' && hostLink === null ? signer : undefined)

const { least, most } = claimLimits.nonceCharacters
/** Form of a nonce, which the claimant chooses. */
export const nonceForm = new RegExp(`^[A-Za-z0-9]{${least},${most}}$`)
export const nonceText = z.string('must be a string').regex(nonceForm, `must be ${least} to ${most} letters and digits`)

/** Throws ERR_PAYLOAD_INVALID naming every field that is wrong; `within`: prefix of the paths, empty for the body. */
export function parseFields<S extends z.ZodType>(schema: S, value: unknown, within = ''): z.output<S> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const fields = parsed.error.issues.map(({ path, message }) => ({
    path: [...(within ? [within] : []), ...path.map(String)].join('.'),
    problem: message,
  }))
  throw invalidFields(fields)
}

/** The address of the endpoint that a body names. Throws ERR_PAYLOAD_INVALID. */
export function endpointOf({ url }: ClaimBody): string {
  const known = webhookUrl(url)
  if (known !== undefined) return known
  throw invalidFields([{ path: 'url', problem: 'must be an https address as browsers spell it, without a fragment' }])
}

export function invalidFields(fields: readonly { path: string; problem: string }[]): ApiError {
  const detail = fields.map(({ path, problem }) => `${path} ${problem}`).join('; ')
  return new ApiError('ERR_PAYLOAD_INVALID', detail, { fields })
}
