import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { describeError } from '../ops/cli.ts'

const pauseMs = 2_000
const connectTimeoutMs = 10_000
/** Answers of a server that takes connections later: it is starting up or recovering, or has too many of them. */
const answersOfLater = ['57P03', '53300']

/**
 * Waits for as long as the database's server cannot be reached or does not take connections yet. `onNotice` gets one line
 * about that. Throws when it refuses for another reason, such as a wrong password.
 */
export async function untilServerAnswers(databaseUrl: string, onNotice: (text: string) => void): Promise<void> {
  for (let tries = 0; ; tries++) {
    const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: connectTimeoutMs })
    client.on('error', () => {}) // also of a connection that ends while it is being made
    try {
      await client.connect()
      return
    } catch (error) {
      if (error instanceof pg.DatabaseError && !answersOfLater.includes(error.code ?? '')) throw error
      if (tries === 0) onNotice(`waiting for the database: ${describeError(error)}`)
    } finally {
      await client.end().catch(() => {})
    }
    await delay(pauseMs)
  }
}
