import { toHex } from 'viem'
import type { Json } from '../../trust/canonical-json.ts'
import { readHubMessage } from '../../trust/hub-message.ts'
import { type AccountWorld, type AssociationBound, isAssociated } from '../account-association.ts'
import type { SocialIndex } from '../social-index.ts'
import type { Contradiction } from '../witness.ts'
import { type GroundsJudge, type GroundsWorld, type Weakness, weaknessOfProfileUrl } from './judge.ts'

/** What can link a host to a FID; each was signed or written by the FID's owner. */
type LinkKind = 'account_association' | 'farcaster_manifest' | 'profile_url' | 'registration'

/** A link that holds, with what others need to check it themselves. Stored with the claim and shown in its proof. */
export interface HostLink {
  readonly kind: LinkKind
  readonly evidence: Json
}

interface LinkedSubject {
  readonly fid: number
  /** `name`, or `name:port` where the port is not that of https. */
  readonly host: string
  /** Judge of the FID's addresses: registrations count of those that could support a claim themselves. */
  readonly judge: GroundsJudge
  /** Block of the fid's last transfer or recovery; null: there was none. */
  readonly transferBlock: number | null
  /** `accountAssociation` of the claim's manifest, if it has one. */
  readonly association: unknown
  /** URL of a path on the host. */
  readonly urlOf: (path: string) => string
}

/** Sources of links. A source that throws leaves its link unchecked. */
export interface LinkWorld extends AccountWorld, AssociationBound {
  readonly social: Pick<SocialIndex, 'statements'>
  readonly grounds: GroundsWorld
  /** URLs that the holders' own registrations name and that contain the host's text. */
  registeredAddresses(addresses: readonly string[], host: string): Promise<readonly RegisteredUrl[]>
  /** The JSON document at a URL, read within `domainManifestLimits`; undefined: there is none. */
  document(url: string): Promise<unknown>
}

/** A URL that a registration names. */
interface RegisteredUrl {
  readonly url: string
  readonly chainId: number
  /** Id of the registration, in decimal. */
  readonly agentId: string
  /** Addresses that must all be the FID's own for the URL to count. */
  readonly by: readonly string[]
}

/**
 * Limits for reading a domain manifest. One redirect is followed, because the network hosts manifests for others behind
 * one; the association in such a manifest still names the original host.
 */
export const domainManifestLimits = { maxBytes: 256 * 1024, timeoutMs: 3_000, redirects: 1 } as const

/** Whether a host is linked to a fid. `disputed`: nothing links it but a message that hubs disagree about. */
type FoundLink =
  | { readonly kind: 'linked'; readonly link: HostLink }
  | { readonly kind: 'disputed'; readonly contradiction: Contradiction }
  | { readonly kind: 'none' }

/**
 * The first link between host and fid that holds. A claim's manifest lists public addresses: it shows who runs the host
 * and nothing about the fid, so a link is needed as well. Throws when none was found and one could not be checked.
 */
export async function findHostLink(subject: LinkedSubject, world: LinkWorld): Promise<FoundLink> {
  let outage: unknown
  let contradiction: Contradiction | undefined
  for (const [kind, check] of links) {
    try {
      const checked = await check(subject, world)
      if ('evidence' in checked) return { kind: 'linked', link: { kind, evidence: checked.evidence } }
      contradiction ??= checked.contradiction
    } catch (error) {
      outage ??= error
    }
  }
  if (outage !== undefined) throw outage
  return contradiction ? { kind: 'disputed', contradiction } : { kind: 'none' }
}

/** The evidence of a link that holds, or why it does not. */
type CheckLink = (subject: LinkedSubject, world: LinkWorld) => Promise<Pick<HostLink, 'evidence'> | Weakness>

/** Most registrations that name a host and are looked at for it. */
const mostRegistrations = 50

const unlinked: Weakness = { why: 'it does not name the host' }

/** Checks by link, the cheap ones first; the last one sends the host another request. */
const links: readonly (readonly [LinkKind, CheckLink])[] = [
  ['account_association', (subject, world) => checkAssociation(subject.association, subject, world)],
  [
    'registration',
    async ({ host, judge }, world) => {
      const holders = judge.verifications.map(({ address }) => address)
      const named = await world.registeredAddresses(holders, host)
      let first: Weakness | undefined
      // Whoever has a contract wallet's address on another chain must not use up the limit.
      const eligible = named.filter((one) => hostOf(one.url) === host && isAtHome(one, judge))
      for (const registered of eligible.slice(0, mostRegistrations)) {
        const weakness = await weaknessOfHolders(registered, judge)
        if (!weakness) {
          const { chainId, agentId, url } = registered
          return { evidence: { chain_id: chainId, erc8004_id: agentId, url } }
        }
        if (!first?.contradiction) first = weakness
      }
      return first ?? unlinked
    },
  ],
  [
    'profile_url',
    async ({ fid, host, transferBlock }, { social, grounds }) => {
      // What a former owner wrote stays after a transfer, and his app keys write on until they are removed.
      if (transferBlock !== null && !grounds.registries.canAnswer) return unlinked
      const statement = (await social.statements(fid)).find(({ part }) => part === 'profileUrl')
      if (!statement?.text || hostOf(statement.text) !== host) return unlinked
      const weakness = await weaknessOfProfileUrl(statement, fid, grounds)
      return weakness ?? { evidence: { url: statement.text, ...signedPart(statement.message) } }
    },
  ],
  [
    'farcaster_manifest',
    async (subject, world) => {
      const manifest = await world.document(subject.urlOf('/.well-known/farcaster.json'))
      const { accountAssociation } = (manifest ?? {}) as { accountAssociation?: unknown }
      return checkAssociation(accountAssociation, subject, world)
    },
  ],
]

async function checkAssociation(value: unknown, subject: LinkedSubject, world: LinkWorld) {
  if (!(await isAssociated(value, subject, world))) return unlinked
  const { header, payload, signature } = value as Record<'header' | 'payload' | 'signature', string>
  return { evidence: { header, payload, signature } }
}

/** A message's time and its signed bytes; null for one of which nothing can be checked. */
function signedPart(given: unknown): { readonly timestamp: number | null; readonly message: Json } {
  const read = readHubMessage(given)
  if (!read) return { timestamp: null, message: null }
  const { dataBytes, hash, signature, signer } = read
  const message = {
    data_bytes: toHex(dataBytes),
    hash: toHex(hash),
    signature: toHex(signature),
    signer: toHex(signer),
  }
  return { timestamp: read.data.timestamp, message }
}

/** Whether a registration is on the chain of each contract wallet that it needs: elsewhere that address may be another's. */
function isAtHome({ by, chainId }: RegisteredUrl, { verifications }: GroundsJudge): boolean {
  const homes = verifications.filter(({ address }) => by.includes(address)).map((one) => one.contractChainId)
  return homes.every((home) => home === null || home === chainId)
}

/** Why a registration's holder, or who gave it to him, could not support a claim. */
async function weaknessOfHolders({ by }: RegisteredUrl, judge: GroundsJudge): Promise<Weakness | undefined> {
  for (const address of by) {
    const weakness = await judge.weaknessOf(address)
    if (weakness) return weakness
  }
  return undefined
}

/** The host of a URL as claims name it; undefined when the text is no web address. */
function hostOf(text: string): string | undefined {
  const url = URL.parse(text.trim())
  return url && (url.protocol === 'https:' || url.protocol === 'http:') ? url.host : undefined
}
