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
    text: `select set_config('work_mem', '64MB', true), set_config('jit', 'off', true)`,
  })
}

/** Has rows looked up by key: of tables that fill for the first time the planner does not know that they are large. */
export async function lookUpByKey(db: Queryable): Promise<void> {
  await db.query({
    name: 'look-up-by-key',
    text: `select set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true)`,
  })
}

/** Memory that Postgres may use to build an index. */
const indexMemory = '256MB'

/** Gives index builds more memory than Postgres's own setting. */
export async function raiseIndexMemory(db: Queryable): Promise<void> {
  await db.query(`select set_config('maintenance_work_mem', $1, true)`, [indexMemory])
}
