import type { StoredAccount } from '../../db/queries/sources/codehost-profiles.ts'
import type { CodehostInput } from '../../db/queries/sources/enrichment-inputs.ts'
import { isSharedPlatform } from '../../derive/shared-platforms.ts'
import { isSameSite } from '../../derive/site.ts'

/** Whether the account names the agent in turn: by an address, its handle in the network, or a host proven to be its. */
export function namesAgent({ blog, bio }: Pick<StoredAccount, 'blog' | 'bio'>, agent: CodehostInput): boolean {
  const text = `${blog ?? ''} ${bio ?? ''}`.toLowerCase()
  if (agent.addresses.some((address) => text.includes(address))) return true
  const handles = [...text.matchAll(/(?:farcaster\.xyz|warpcast\.com)\/([^\s/?#),]+)/g)].map(([, handle]) => handle)
  if (agent.handle !== null && handles.includes(agent.handle.toLowerCase())) return true
  const page = toUrl(blog)
  if (!page || isSharedPlatform(page)) return false
  return agent.pages.flatMap((own) => toUrl(own) ?? []).some((own) => isSameSite(own, page))
}

/** A page's address, which people also write without its scheme. */
function toUrl(text: string | null): URL | undefined {
  if (!text) return undefined
  const url = URL.parse(/^https?:\/\//i.test(text) ? text : `https://${text}`)
  return url?.hostname.includes('.') ? url : undefined
}
