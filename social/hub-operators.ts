import { getDomain } from 'tldts'

/** Main domain of the operator, by its other domains: two hubs of one operator count as one witness. */
const operators: Readonly<Record<string, string>> = { 'farcaster.xyz': 'neynar.com' }

/** Operator of a hub, told by the registrable domain of its URL; the host where there is none. */
export function operatorOf(url: string): string {
  const domain = getDomain(url)
  return domain ? (operators[domain] ?? domain) : new URL(url).host
}

/** Headers of requests to a hub: the key for Neynar's API if the hub is Neynar's, which alone may get it. */
export function hubHeaders(url: string, neynarKey: string | undefined): Record<string, string> {
  return neynarKey && new URL(url).hostname.endsWith('.neynar.com') ? { 'x-api-key': neynarKey } : {}
}

/** Hubs to use as witnesses: of those after the first, one per operator, none of the first hub's operator. */
export function witnessUrls([followed, ...others]: readonly string[]): string[] {
  const known = new Set(followed === undefined ? [] : [operatorOf(followed)])
  return others.filter((url) => {
    const operator = operatorOf(url)
    return !known.has(operator) && known.add(operator)
  })
}
