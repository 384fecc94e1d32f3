import { type AccountWorld, type AssociationBound, isAssociated } from './account-association.ts'
import type { SocialIndex } from './social-index.ts'

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

/** Where links are looked for. Whatever throws could not be looked at. */
export interface LinkWorld extends AccountWorld, AssociationBound {
  readonly social: Pick<SocialIndex, 'profile'>
  /** Web addresses that registrations of these holders name and that contain a host. */
  registeredAddresses(addresses: readonly string[], host: string): Promise<readonly string[]>
  /** The JSON document at an address, read within `domainManifestLimits`; undefined: there is none. */
  document(url: string): Promise<unknown>
}

/**
 * Bytes of a domain manifest, milliseconds it may take, and redirects: the network hosts manifests for others by one, and
 * the association in such a manifest names the host all the same.
 */
export const domainManifestLimits = { maxBytes: 256 * 1024, timeoutMs: 3_000, redirects: 1 } as const

/**
 * The first of the links that holds; undefined: none does. A manifest of public addresses shows who runs the host and
 * nothing about the fid, so one of them is needed. Throws when none was found and one could not be looked at.
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

/** The cheap ones first; the last one asks the host again. */
const links: readonly (readonly [HostLink, (subject: LinkedSubject, world: LinkWorld) => Promise<boolean>])[] = [
  ['account_association', (subject, world) => isAssociated(subject.association, subject, world)],
  [
    'registration',
    async ({ host, verifiedAddresses }, world) => {
      const named = await world.registeredAddresses(verifiedAddresses, host)
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
