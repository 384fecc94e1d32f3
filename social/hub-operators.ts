import { getDomain } from 'tldts'

/** Domains of one operator; two names of one operator are one witness. */
const operators: Readonly<Record<string, string>> = { 'farcaster.xyz': 'neynar.com' }

/** Who runs a hub, as far as its address tells. */
export function operatorOf(url: string): string {
  const domain = getDomain(url)
  return domain ? (operators[domain] ?? domain) : new URL(url).host
}

/** Of the hubs after the first, one of each operator other than the first's. */
export function witnessUrls([followed, ...others]: readonly string[]): string[] {
  const known = new Set(followed === undefined ? [] : [operatorOf(followed)])
  return others.filter((url) => {
    const operator = operatorOf(url)
    return !known.has(operator) && known.add(operator)
  })
}
