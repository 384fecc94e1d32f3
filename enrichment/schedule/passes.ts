import { beginPass, type Pass, type PassResult, runPass } from './scheduler.ts'
import type { Source } from './source.ts'

/** Milliseconds without the end of any of its reads after which a pass leaves the others to themselves. */
const quietMs = 500

/** The passes of one loop of a source. */
interface Passes {
  /** One bounded pass, as `runPass`; of a source with `atOnce` it returns while reads that take long are still going on. */
  run(): Promise<PassResult>
  /** Resolves when every read that was begun has ended. */
  ended(): Promise<void>
}

/**
 * Passes of a loop, of which each waits for all its reads, or, for a source with `atOnce`, for as long as they keep ending:
 * few hosts that take long then hold up none of the others, and no more is begun than the database takes. Outcomes and failures of a read that outlasts its pass are those of the
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
      await untilQuiet(begun)
      if (failures.length > 0) throw failures.splice(0)[0]
      return { leased, outcomes: outcomes.splice(0) }
    },
    async ended() {
      await Promise.all(underWay)
    },
  }
}

/** Resolves when all have ended, or none has for `quietMs`. They do not reject. */
function untilQuiet(all: readonly Promise<void>[]): Promise<void> {
  if (all.length === 0) return Promise.resolve()
  return new Promise((resolve) => {
    let left = all.length
    let timer = setTimeout(resolve, quietMs)
    for (const one of all) {
      one.then(() => {
        clearTimeout(timer)
        if (--left === 0) resolve()
        else timer = setTimeout(resolve, quietMs)
      })
    }
  })
}
