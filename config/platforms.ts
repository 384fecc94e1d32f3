import { getDomain } from 'tldts'
import { words } from '../ops/words.ts'

/** Hosts on which many accounts have a page by path. Hosters with a subdomain per account need not be listed. */
const platforms = new Set(
  words(`
    github.com gitlab.com githubusercontent.com bitbucket.org npmjs.com pypi.org huggingface.co x.com twitter.com
    warpcast.com farcaster.xyz bsky.app moltbook.com reddit.com medium.com t.me telegram.me discord.com discord.gg
    youtube.com linkedin.com instagram.com facebook.com opensea.io zora.co etherscan.io basescan.org virtuals.io
    8004scan.io mirror.xyz linktr.ee notion.so google.com ipfs.io dweb.link w3s.link arweave.net jsonblob.com
  `),
)

/** A site of more agents than these counts as a platform that the list above does not know yet. */
export const mostAgentsOfSite = 50

/** Whether the host is a platform of many accounts: documents at its root are not those of an account there. */
export function isSharedPlatform(url: URL): boolean {
  return platforms.has(siteOf(url) ?? '')
}

/** Whether two addresses are under one registrable domain, so that one party is responsible for both. */
export function isSameSite(one: URL, other: URL): boolean {
  if (one.hostname === other.hostname) return true
  const domain = siteOf(one)
  return domain !== null && domain === siteOf(other)
}

/** Registrable domain by the public suffix list with its private part, so that two customers of a hoster are two. */
export function siteOf({ hostname }: URL): string | null {
  return getDomain(hostname, { allowPrivateDomains: true })
}
