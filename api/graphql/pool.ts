import type pg from 'pg'
import { createPool, withSettings } from '../../db/pool.ts'

/** Connection settings: read only, as the role of the SQL contract, whatever user DATABASE_URL logs in as. */
const settings = '-c role=directory_reader -c default_transaction_read_only=on -c jit=off'
/** Timeout of a statement, and of opening a connection, in milliseconds. */
const longestMs = 2_000
const connections = 4

/** Connection pool of GraphQL operations. */
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
