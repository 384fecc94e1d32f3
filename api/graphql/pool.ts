import type pg from 'pg'
import { createPool, withSettings } from '../../db/pool.ts'
import { graphqlLimits } from '../../limits.config.ts'

/** Connection settings: read only, as the role of the SQL contract, whatever user DATABASE_URL logs in as. */
const settings = '-c role=directory_reader -c default_transaction_read_only=on -c jit=off'
const connections = 4

/** Connection pool of GraphQL operations, whose statements and waits for a connection have a timeout in milliseconds. */
export function createGraphqlPool(databaseUrl: string, timeoutMs: number = graphqlLimits.statementMs): pg.Pool {
  const named = withSettings(databaseUrl, { after: settings })
  return createPool({
    databaseUrl: named,
    name: 'graphql',
    max: connections,
    statementTimeoutMs: timeoutMs,
    connectTimeoutMs: timeoutMs,
  })
}
