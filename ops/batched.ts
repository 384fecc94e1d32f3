import { setImmediate as nextTurn } from 'node:timers/promises'

/** Items that are worked on at once, unless it is said: a statement over more is slow to end for the first of them. */
const mostAtOnce = 200

interface Waiting<T, R> {
  readonly item: T
  readonly resolve: (result: R) => void
  readonly reject: (error: unknown) => void
}

/**
 * A function of one item that does the work for all that are asked for at the same time, and then for all that came meanwhile:
 * the busier it is, the more a statement does. `work` returns a result for each, in their order; one that is an Error
 * is thrown to who asked for that item, and what `work` throws to all.
 */
export function batched<T, R>(
  work: (items: readonly T[]) => Promise<readonly (R | Error)[]>,
  most = mostAtOnce,
): (item: T) => Promise<R> {
  const waiting: Waiting<T, R>[] = []
  let isAtWork = false

  async function workAll() {
    await nextTurn()
    while (waiting.length > 0) {
      const some = waiting.splice(0, most)
      try {
        const results = await work(some.map(({ item }) => item))
        for (const [n, { resolve, reject }] of some.entries()) {
          const result = results[n] as R | Error
          if (result instanceof Error) reject(result)
          else resolve(result)
        }
      } catch (error) {
        for (const { reject } of some) reject(error)
      }
    }
    isAtWork = false
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      if (isAtWork) return
      isAtWork = true
      void workAll()
    })
}
