import { minute } from '../../ops/time.ts'

/** What a page looks at before anybody claims. `unknown`: the rate limit is reached, or a source does not answer. */
interface Standing {
  readonly state: string
}

/** How long a result is kept, and how many are; one that is `unknown` is not: the next client may get an answer. */
const freshMs = minute
const mostKept = 1_000

/** Results by what was looked at, so that viewing a page again asks nobody; looks under way are shared. */
export function keepLooks<S extends Standing>(now: () => number): (key: string, look: () => Promise<S>) => Promise<S> {
  const kept = new Map<string, { readonly until: number; readonly standing: Promise<S> }>()
  return async (key, look) => {
    const known = kept.get(key)
    if (known && known.until > now()) {
      const standing = await known.standing
      if (standing.state !== 'unknown') return standing
    }
    kept.delete(key)
    const looked = { until: now() + freshMs, standing: look() }
    kept.set(key, looked)
    if (kept.size > mostKept) kept.delete(kept.keys().next().value as string)
    const standing = await looked.standing
    if (standing.state === 'unknown' && kept.get(key) === looked) kept.delete(key)
    return standing
  }
}
