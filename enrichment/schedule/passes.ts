import { second } from '../../ops/time.ts'
import { beginPass, type Pass, type PassResult, runPass } from './scheduler.ts'
import type { AnySource } from './source.ts'
import { endings } from './storing.ts'

/** Share of its reads that a pass leaves to themselves as soon as all others have ended. */
const leftShare = 0.25
/** Milliseconds without the end of any of its reads after which a pass leaves all that are left to themselves. */
const quietMs = second

/** The passes of one loop of a source. */
interface Passes {
  /** One bounded pass, as `runPass`; of a source with `atOnce` it returns while reads that take long are still going on. */
  run(): Promise<PassResult>
  /** Resolves when every read that was begun has ended. Rejects when one of them failed and no pass has said so. */
  ended(): Promise<void>
}

/**
 * Passes of a loop, each of which waits for all its reads, or, for a source with `atOnce`, for most of them: hosts that take
 * long then hold up none of the others, while a database that takes long lets nothing further begin. Outcomes and failures
 * of a read that outlasts its pass are those of the pass after it.
 */
export function createPasses(source: AnySource, pass: Pass): Passes {
  const { atOnce } = source
  if (atOnce === undefined) return { run: () => runPass(source, pass), ended: async () => {} }
  const endingsOf = endings(source, pass)
  const underWay = new Set<Promise<void>>()
  const outcomes: string[] = []
  const failures: unknown[] = []
  return {
    async run() {
      const { leased, reads } = await beginPass(source, pass, atOnce - underWay.size, endingsOf)
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
      await untilMostEnded(begun)
      if (failures.length > 0) throw failures.splice(0)[0]
      return { leased, outcomes: outcomes.splice(0) }
    },
    async ended() {
      await Promise.all(underWay)
      if (failures.length > 0) throw failures.splice(0)[0]
    },
  }
}

/** Resolves when all but `leftShare` have ended, or none has for `quietMs`. They do not reject. */
function untilMostEnded(all: readonly Promise<void>[]): Promise<void> {
  const enough = Math.floor(leftShare * all.length)
  if (all.length === enough) return Promise.resolve()
  return new Promise((resolve) => {
    let left = all.length
    let timer = setTimeout(resolve, quietMs)
    for (const one of all) {
      one.then(() => {
        clearTimeout(timer)
        if (--left <= enough) resolve()
        else timer = setTimeout(resolve, quietMs)
      })
    }
  })
}
