import type { AgentInput } from '../../db/queries/sources/enrichment-inputs.ts'
import type { StoredIdentity } from '../../db/queries/sources/identities.ts'
import { cleanCount, cleanText, cleanUrl } from '../upstream.ts'
import type { BioProfile } from './web3bio.ts'

/** Longest texts of an identity, in code points. */
export const longestOfIdentity = { platform: 50, name: 256, description: 4_096, source: 50 }
const mostIdentities = 50
const mostSources = 20
/** Platforms that are never stored, even if published: they are private data. */
const isPrivate = /^(e-?mail|mail|location|phone|telephone|address)$/i
const looksLikeEmail = /^(mailto:)?[^\s@/]+@[^\s@/]+\.[^\s@/]+$/i

/** Whether a profile belongs to this agent: to its account or one of its addresses. Other profiles are not kept. */
function isOf({ fid, addresses }: AgentInput, { platform, address, social, aliases }: BioProfile): boolean {
  if (platform === 'farcaster') return String(social?.uid) === String(fid)
  if (address && addresses.includes(address.toLowerCase())) return true
  return (aliases ?? []).some((alias) => addresses.includes(alias.slice(alias.indexOf(',') + 1).toLowerCase()))
}

/** Identities of an agent: its profiles, then what they link to. Never e-mail or location. */
export function toIdentities(agent: AgentInput, profiles: readonly BioProfile[]): StoredIdentity[] {
  const own = profiles.filter((profile) => isOf(agent, profile))
  const found = new Map<string, StoredIdentity>()
  for (const one of [...own.map(toIdentity), ...own.flatMap(linked)]) {
    if (!one) continue
    const key = `${one.platform} ${one.identity.toLowerCase()}`
    const known = found.get(key)
    const sources = [...new Set([...(known?.sources ?? []), ...one.sources])].sort().slice(0, mostSources)
    found.set(key, { ...(known ?? one), sources })
  }
  return [...found.values()].slice(0, mostIdentities)
}

function toIdentity(profile: BioProfile): StoredIdentity | undefined {
  const link = profile.links?.[profile.platform]
  return identityOf(profile.platform, profile.identity, {
    displayName: cleanText(profile.displayName, longestOfIdentity.name),
    address: addressOf(profile.address),
    url: cleanUrl(link?.link),
    avatarUrl: cleanUrl(profile.avatar),
    description: cleanText(profile.description, longestOfIdentity.description),
    sources: sourcesOf(link?.sources),
    followerCount: cleanCount(profile.social?.follower),
  })
}

function linked({ platform, links }: BioProfile): (StoredIdentity | undefined)[] {
  return Object.entries(links ?? {})
    .filter(([name]) => name !== platform)
    .map(([name, { handle, link, sources }]) => {
      if (looksLikeEmail.test(link ?? '')) return undefined
      const nothing = { displayName: null, address: null, avatarUrl: null, description: null, followerCount: null }
      return identityOf(name, handle, { ...nothing, url: cleanUrl(link), sources: sourcesOf(sources) })
    })
}

function identityOf(
  platformName: string,
  name: string | null | undefined,
  rest: Omit<StoredIdentity, 'platform' | 'identity'>,
): StoredIdentity | undefined {
  const platform = cleanText(platformName, longestOfIdentity.platform)
  const identity = cleanText(name, longestOfIdentity.name)
  if (platform === null || identity === null) return undefined
  return isPrivate.test(platform) || looksLikeEmail.test(identity) ? undefined : { platform, identity, ...rest }
}

function addressOf(text: string | null | undefined): string | null {
  const address = cleanText(text, longestOfIdentity.name)
  return address && /^0x[0-9a-f]{40}$/i.test(address) ? address.toLowerCase() : address
}

function sourcesOf(sources: readonly string[] | null | undefined): string[] {
  return (sources ?? []).flatMap((source) => cleanText(source, longestOfIdentity.source) ?? []).slice(0, mostSources)
}
