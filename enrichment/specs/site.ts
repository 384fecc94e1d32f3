import { getDomain } from 'tldts'

/** Whether two addresses lie under one registrable domain, so that one party answers for both. */
export function isSameSite(one: URL, other: URL): boolean {
  if (one.hostname === other.hostname) return true
  const domain = siteOf(one)
  return domain !== null && domain === siteOf(other)
}

/** Whether documents at the root of the host would be the platform's, not those of an account with a page there. */
export function isSharedPlatform(url: URL): boolean {
  return platforms.has(siteOf(url) ?? '')
}

/** Under the private part of the public suffix list, so that two sites of one hoster are two. */
function siteOf({ hostname }: URL): string | null {
  return getDomain(hostname, { allowPrivateDomains: true })
}

/** Hosts on which many people have a page each by path. Hosters that give each a subdomain need not stand here. */
const platforms = new Set([
  'github.com',
  'gitlab.com',
  'githubusercontent.com',
  'bitbucket.org',
  'npmjs.com',
  'pypi.org',
  'huggingface.co',
  'x.com',
  'twitter.com',
  'warpcast.com',
  'farcaster.xyz',
  'bsky.app',
  'moltbook.com',
  'reddit.com',
  'medium.com',
  't.me',
  'telegram.me',
  'discord.com',
  'discord.gg',
  'youtube.com',
  'linkedin.com',
  'instagram.com',
  'facebook.com',
  'opensea.io',
  'zora.co',
  'etherscan.io',
  'basescan.org',
  'virtuals.io',
  '8004scan.io',
  'mirror.xyz',
  'linktr.ee',
  'notion.so',
  'google.com',
  'ipfs.io',
  'dweb.link',
  'w3s.link',
  'arweave.net',
  'jsonblob.com',
])
