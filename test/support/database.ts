import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, inject } from 'vitest'
import { createPool } from '../../db/pool.ts'
import { testTimeoutMs } from './until.ts'

export interface TestDatabase {
  readonly url: string
  readonly pool: pg.Pool
}

export interface OwnDatabase extends TestDatabase {
  /** Ends the pool and drops the database, even with open connections. */
  drop(): Promise<void>
}

/** Connect timeout in milliseconds, long because a server that many tests share may be slow to accept. */
export const connectTimeoutMs = testTimeoutMs
/** How long a pool may take to end: it waits for connections in use, and a test that failed may never release its. */
const endMs = 10_000

/**
 * A migrated, empty database for a test file, or for the group in which this is called. It exists from the first hook
 * or test declared after the call until after the last.
 */
export function testDatabase(): TestDatabase {
  let made: OwnDatabase | undefined
  const database = () => {
    if (!made)
      throw new Error('the database of the tests is made before the first of them, not while they are declared')
    return made
  }
  beforeAll(async () => {
    made = await createTestDatabase()
  })
  afterAll(() => made?.drop())
  return {
    get url() {
      return database().url
    },
    get pool() {
      return database().pool
    },
  }
}

/** Creates a migrated, empty database for one test, which has to drop it. */
export async function createTestDatabase(): Promise<OwnDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`
  // File copy: WAL-logging every block costs twice the CPU time, and no crash has to be survived.
  await onServer(`create database ${name} template ${inject('databaseTemplate')} strategy file_copy`)
  const url = new URL(inject('databaseServer'))
  url.pathname = name
  const pool = createPool({ databaseUrl: url.href, name: 'test', connectTimeoutMs })
  return {
    url: url.href,
    pool,
    async drop() {
      await Promise.race([pool.end(), delay(endMs, undefined, { ref: false })])
      await onServer(`drop database if exists ${name} with (force)`)
    },
  }
}

async function onServer(statement: string) {
  const client = new pg.Client({ connectionString: inject('databaseServer') })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
