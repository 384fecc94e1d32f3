import type pg from 'pg'
import { ping } from '../db/queries/read/readiness.ts'
import { Underivable } from './join/join.ts'

/** The join has to come round at least so often, however much there is to do. */
const longestPassMs = 120_000

/** Whether this process does its work: the database answers and the join comes round. */
export function createHealth(pool: pg.Pool) {
  let joinedAt = Date.now()

  async function notReady(): Promise<string | undefined> {
    try {
      await ping(pool)
    } catch (error) {
      return `the database does not answer: ${(error as Error).message}`
    }
    const silentMs = Date.now() - joinedAt
    return silentMs > longestPassMs ? `the join has not come round for ${Math.round(silentMs / 1000)} s` : undefined
  }

  return {
    notReady,

    /** Throws one clear line when the database does not have this program's tables. */
    async checkTables() {
      try {
        await ping(pool)
      } catch (cause) {
        const missing = (cause as { code?: string }).code === '42P01'
        const hint = missing ? 'it has no tables yet; run `npm run migrate` first' : (cause as Error).message
        throw new Error(`the database is not ready: ${hint}`, { cause })
      }
    },

    /** Runs a pass of the join and remembers when it came round. */
    async watch<T>(pass: () => Promise<T>): Promise<T> {
      const result = await pass().catch((error) => {
        if (error instanceof Underivable) joinedAt = Date.now() // for everybody else it came round
        throw error
      })
      joinedAt = Date.now()
      return result
    },
  }
}
