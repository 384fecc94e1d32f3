import { createHash } from 'node:crypto'
import type { Queryable } from '../../pool.ts'

// Settings of the server that are changed until the transaction ends.

/** Has statements that wait for a lock fail with SQLSTATE 55P03 after so many milliseconds. */
export async function limitLockWait(db: Queryable, milliseconds: number): Promise<void> {
  await db.query({
    name: 'limit-lock-wait',
    text: `select set_config('lock_timeout', $1, true)`,
    values: [`${milliseconds}ms`],
  })
}

/** Raises `work_mem`: the default is too small for sums over many settlements. */
export async function allowLargeSums(db: Queryable): Promise<void> {
  await db.query({
    name: 'allow-large-sums',
    text: `select set_config('work_mem', '64MB', true)`,
  })
}

/** Has rows looked up by key: of tables that fill for the first time the planner does not know that they are large. */
export async function lookUpByKey(db: Queryable): Promise<void> {
  await db.query({
    name: 'look-up-by-key',
    text: `select set_config('enable_seqscan', 'off', true)`,
  })
}

/** Memory that Postgres may use to build an index. */
const indexMemory = '256MB'

/** Gives index builds more memory than Postgres's own setting. */
export async function raiseIndexMemory(db: Queryable): Promise<void> {
  await db.query(`select set_config('maintenance_work_mem', $1, true)`, [indexMemory])
}

/** Statements per process that get a name: each plan takes two megabytes of server memory on every connection. */
const mostKept = 8
const names = new Map<string, string>()

/**
 * Names a statement after its text, so that each connection keeps its plan: for a statement over all partitions of
 * settlements, planning takes longer than reading. Use it where one plan suits all values, as when rows are looked up
 * by addresses that the statement itself finds. Texts beyond the first few get no name and are planned each time, so
 * that a client that sends many odd filters costs the others speed but no memory.
 */
export function withKeptPlan<T extends { readonly text: string }>(statement: T): T & { name?: string | undefined } {
  const { text } = statement
  if (!names.has(text) && names.size < mostKept) names.set(text, createHash('md5').update(text).digest('hex'))
  return { ...statement, name: names.get(text) }
}
