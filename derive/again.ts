import { markAll } from '../db/queries/due/queue.ts'
import { second } from '../ops/time.ts'
import type { Derivation, DeriveContext } from './derivation.ts'
import { derivePass, Underivable } from './pass.ts'

/** Milliseconds between two lines that tell how far a kind is. */
const toldEveryMs = 5 * second

interface Again {
  readonly kinds: readonly Derivation[]
  readonly context: DeriveContext
  readonly tell: (line: string) => void
}

/**
 * Derives every key of some kinds again, in the order given. A job that runs meanwhile does a part of it, and goes on where
 * this is interrupted. Returns how many keys could not be derived.
 */
export async function deriveAgain({ kinds, context, tell }: Again): Promise<number> {
  let failed = 0
  for (const one of kinds) {
    const keys = await markAll(context.pool, one.kind)
    const began = performance.now()
    let toldAt = began
    let done = 0
    for (let work = 1; work > 0; done += work) {
      work = await derivePass(one, { ...context, again: true }).catch((error) => {
        if (!(error instanceof Underivable)) throw error
        tell(error.message)
        failed++
        return 1
      })
      const now = performance.now()
      if (now - toldAt < toldEveryMs || work === 0) continue
      toldAt = now
      const rest = ((now - began) / (done + work)) * Math.max(0, keys - done - work)
      tell(`${one.kind}: ${done + work} of about ${keys} keys, ${Math.ceil(rest / second)} s to go`)
    }
    tell(`${one.kind}: ${done} keys in ${((performance.now() - began) / second).toFixed(1)} s`)
  }
  return failed
}
