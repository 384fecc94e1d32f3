import type pg from 'pg'
import { createPool, withSettings } from '../../db/pool.ts'

/** Who reads: the role of the SQL contract, whatever DATABASE_URL logs in as. */
const settings = '-c role=directory_reader -c default_transaction_read_only=on -c jit=off'
/** Milliseconds that a statement, and opening a connection, may take. */
const longestMs = 2_000
const connections = 4

/** The connections of operations. */
export function createGraphqlPool(databaseUrl: string): pg.Pool {
  const named = withSettings(databaseUrl, { after: settings })
  return createPool({
    databaseUrl: named,
    name: 'graphql',
    max: connections,
    statementTimeoutMs: longestMs,
    connectTimeoutMs: longestMs,
  })
}
