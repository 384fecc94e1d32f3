import { type AccountWorld, type AssociationBound, isAssociated } from './account-association.ts'
import type { SocialIndex } from './social-index.ts'

/** What can link a host to a FID; each was signed or written by the FID's owner. Stored with the claim. */
type HostLink = 'account_association' | 'farcaster_manifest' | 'profile_url' | 'registration'

interface LinkedSubject {
  readonly fid: number
  /** `name`, or `name:port` where the port is not that of https. */
  readonly host: string
  /** Addresses whose registrations count: after a transfer only those known to be verified by the new owner. */
  readonly holders: readonly string[]
  /** Block of the fid's last transfer or recovery; null: there was none. */
  readonly transferBlock: number | null
  /** `accountAssociation` of the claim's manifest, if it has one. */
  readonly association: unknown
  /** URL of a path on the host. */
  readonly urlOf: (path: string) => string
}

/** Sources of links. A source that throws leaves its link unchecked. */
export interface LinkWorld extends AccountWorld, AssociationBound {
  readonly social: Pick<SocialIndex, 'profile'>
  /** URLs that the registrations of these holders name and that contain the host's text. */
  registeredAddresses(addresses: readonly string[], host: string): Promise<readonly string[]>
  /** The JSON document at a URL, read within `domainManifestLimits`; undefined: there is none. */
  document(url: string): Promise<unknown>
}

/**
 * Limits for reading a domain manifest. One redirect is followed, because the network hosts manifests for others behind
 * one; the association in such a manifest still names the original host.
 */
export const domainManifestLimits = { maxBytes: 256 * 1024, timeoutMs: 3_000, redirects: 1 } as const

/**
 * The first link between host and fid that holds; undefined: none does. A claim's manifest lists public addresses: it
 * shows who runs the host and nothing about the fid, so a link is needed as well. Throws when none was found and one
 * could not be checked.
 */
export async function findHostLink(subject: LinkedSubject, world: LinkWorld): Promise<HostLink | undefined> {
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

/** Checks by link, the cheap ones first; the last one sends the host another request. */
const links: readonly (readonly [HostLink, (subject: LinkedSubject, world: LinkWorld) => Promise<boolean>])[] = [
  ['account_association', (subject, world) => isAssociated(subject.association, subject, world)],
  [
    'registration',
    async ({ host, holders }, world) => {
      const named = await world.registeredAddresses(holders, host)
      return named.some((url) => hostOf(url) === host)
    },
  ],
  [
    'profile_url',
    async ({ fid, host, transferBlock }, { social }) => {
      // What a former owner wrote stays after a transfer, and his app keys write on until they are removed.
      if (transferBlock !== null) return false
      const { profileUrl } = await social.profile(fid)
      return profileUrl !== null && hostOf(profileUrl) === host
    },
  ],
  [
    'farcaster_manifest',
    async (subject, world) => {
      const manifest = await world.document(subject.urlOf('/.well-known/farcaster.json'))
      return isAssociated((manifest as { accountAssociation?: unknown } | null)?.accountAssociation, subject, world)
    },
  ],
]

/** The host of a URL as claims name it; undefined when the text is no web address. */
function hostOf(text: string): string | undefined {
  const url = URL.parse(text.trim())
  return url && (url.protocol === 'https:' || url.protocol === 'http:') ? url.host : undefined
}
