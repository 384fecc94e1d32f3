import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, inject } from 'vitest'
import { createPool } from '../../db/pool.ts'
import { patienceMs } from './until.ts'

export interface TestDatabase {
  readonly url: string
  readonly pool: pg.Pool
}

export interface OwnDatabase extends TestDatabase {
  /** Ends the pool and removes the database, whoever is still connected. */
  drop(): Promise<void>
}

/** A server that many tests share may be slow to take a connection; nothing is shown by giving up early. */
export const connectTimeoutMs = patienceMs

/**
 * A database of the file's own, or of the group's in which it is called: migrated and empty, there from the first hook or
 * test that is declared behind it, and dropped behind the last.
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

/** A database of the test's own: migrated, empty. To be dropped when it is over. */
export async function createTestDatabase(): Promise<OwnDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`
  // Files are copied: to log every block costs twice the processor time, and no crash has to be survived.
  await onServer(`create database ${name} template ${inject('databaseTemplate')} strategy file_copy`)
  const url = new URL(inject('databaseServer'))
  url.pathname = name
  const pool = createPool({ databaseUrl: url.href, name: 'test', connectTimeoutMs })
  return {
    url: url.href,
    pool,
    async drop() {
      await pool.end()
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
