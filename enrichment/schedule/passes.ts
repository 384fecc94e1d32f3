import { setTimeout as delay } from 'node:timers/promises'
import { beginPass, type Pass, type PassResult, runPass } from './scheduler.ts'
import type { Source } from './source.ts'

/** Milliseconds that a pass waits for its reads before others begin. */
const turnMs = 250

/** The passes of one loop of a source. */
interface Passes {
  /** One bounded pass, as `runPass`; of a source with `atOnce` it returns while reads that take long are still going on. */
  run(): Promise<PassResult>
  /** Resolves when every read that was begun has ended. */
  ended(): Promise<void>
}

/**
 * Passes of a loop, of which each waits for all its reads, or, for a source with `atOnce`, for a moment only: few hosts
 * that take long then hold up none of the others. Outcomes and failures of a read that outlasts its pass are those of the
 * pass after it.
 */
export function createPasses(source: Source, pass: Pass): Passes {
  const { atOnce } = source
  if (atOnce === undefined) return { run: () => runPass(source, pass), ended: async () => {} }
  const underWay = new Set<Promise<void>>()
  const outcomes: string[] = []
  const failures: unknown[] = []
  return {
    async run() {
      const { leased, reads } = await beginPass(source, pass, atOnce - underWay.size)
      const begun = reads.map((read) => {
        const ending = read
          .then(
            (ended) => void outcomes.push(...ended),
            (error) => void failures.push(error),
          )
          .finally(() => underWay.delete(ending))
        underWay.add(ending)
        return ending
      })
      const stopped = new AbortController()
      await Promise.race([Promise.all(begun), delay(turnMs, undefined, { signal: stopped.signal }).catch(() => {})])
      stopped.abort()
      if (failures.length > 0) throw failures.splice(0)[0]
      return { leased, outcomes: outcomes.splice(0) }
    },
    async ended() {
      await Promise.all(underWay)
    },
  }
}
