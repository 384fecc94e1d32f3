import { registeredAddresses } from '../../db/queries/join/claims.ts'
import { DoorError } from '../../net/errors.ts'
import { isAssociated } from './account-association.ts'
import type { ClaimWorld } from './verifier.ts'

/** What can link a host to a FID; each was signed or written by the FID's owner. Stored with the claim. */
type HostLink = 'account_association' | 'farcaster_manifest' | 'profile_url' | 'registration'

interface LinkedSubject {
  readonly fid: number
  /** `name`, or `name:port` where the port is not that of https. */
  readonly host: string
  readonly verifiedAddresses: readonly string[]
  /** `accountAssociation` of the claim's manifest, if it has one. */
  readonly association: unknown
  /** Address of a path on the host. */
  readonly urlOf: (path: string) => string
}

/** Bytes of a domain manifest, and milliseconds it may take. */
const manifestBytes = 256 * 1024
const manifestTimeoutMs = 3_000

/**
 * The first of the links that holds; undefined: none does. A manifest of public addresses shows who runs the host and
 * nothing about the fid, so one of them is needed. Throws when none was found and one could not be looked at.
 */
export async function findHostLink(subject: LinkedSubject, world: ClaimWorld): Promise<HostLink | undefined> {
  let outage: unknown
  for (const [link, holds] of links) {
    try {
      if (await holds(subject, world)) return link
    } catch (error) {
      outage ??= error
    }
  }
  if (outage !== undefined) throw outage
  return undefined
}

/** The cheap ones first; the last one asks the host again. */
const links: readonly (readonly [HostLink, (subject: LinkedSubject, world: ClaimWorld) => Promise<boolean>])[] = [
  ['account_association', (subject, world) => isAssociated(subject.association, subject, world)],
  [
    'registration',
    async ({ host, verifiedAddresses }, { database }) => {
      const named = await registeredAddresses(database, verifiedAddresses, host)
      return named.some((url) => hostOf(url) === host)
    },
  ],
  [
    'profile_url',
    async ({ fid, host }, { social }) => {
      const { profileUrl } = await social.profile(fid)
      return profileUrl !== null && hostOf(profileUrl) === host
    },
  ],
  [
    'farcaster_manifest',
    async (subject, world) => {
      const url = subject.urlOf('/.well-known/farcaster.json')
      const options = { maxBytes: manifestBytes, timeoutMs: manifestTimeoutMs, redirects: hostedElsewhere }
      const fetched = await world.door.fetchJson(url, options).catch((error: unknown) => {
        if (error instanceof DoorError) return undefined // no manifest there: no link
        throw error
      })
      const manifest = fetched?.status === 200 ? fetched.json : undefined
      return isAssociated((manifest as { accountAssociation?: unknown } | null)?.accountAssociation, subject, world)
    },
  ],
]

/** The network hosts manifests for others, by redirect; the association in it names the host all the same. */
const hostedElsewhere = 1

/** The host of a URL as claims name it; undefined when the text is no web address. */
function hostOf(text: string): string | undefined {
  const url = URL.parse(text.trim())
  return url && (url.protocol === 'https:' || url.protocol === 'http:') ? url.host : undefined
}
