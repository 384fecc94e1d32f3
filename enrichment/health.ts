import type pg from 'pg'
import { failingKey } from '../db/queries/due/queue.ts'
import { ping } from '../db/queries/server/readiness.ts'

/** Failures of a key in a row after which the health check fails: about ten minutes. */
const mostAttempts = 10

interface HealthOptions {
  readonly pool: pg.Pool
  readonly hubDoubt: () => Promise<string | undefined>
  /** Which loop fails, if one does. */
  readonly failing: () => string | undefined
}

/** Readiness of the job: the database answers, no loop and no key fails, and the hub is believed. */
export function createHealth({ pool, hubDoubt, failing }: HealthOptions) {
  async function notReady(): Promise<string | undefined> {
    try {
      await ping(pool)
    } catch (error) {
      return `the database does not answer: ${(error as Error).message}`
    }
    const failure = failing()
    if (failure) return failure
    const stuck = await failingKey(pool, mostAttempts)
    if (stuck) return `${stuck.kind}: ${stuck.key} could not be derived ${stuck.attempts} times in a row`
    const doubt = await hubDoubt()
    return doubt && `the hub is not believed: ${doubt}`
  }

  return { notReady }
}

/** Throws one clear line when the database does not have this program's tables. */
export async function checkTables(pool: pg.Pool): Promise<void> {
  try {
    await ping(pool)
  } catch (cause) {
    const missing = (cause as { code?: string }).code === '42P01'
    const hint = missing ? 'it has no tables yet; run `npm run migrate` first' : (cause as Error).message
    throw new Error(`the database is not ready: ${hint}`, { cause })
  }
}
