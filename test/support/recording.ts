import type pg from 'pg'
import type { Queryable } from '../../db/pool.ts'

/** The same database for those who read it, and what it was asked last. */
export function recording(db: Pick<Queryable, 'query'>): { db: Queryable; asked: () => pg.QueryConfig | undefined } {
  let last: pg.QueryConfig | undefined
  const query = (config: pg.QueryConfig) => {
    last = config
    return db.query(config)
  }
  return { db: { query } as unknown as Queryable, asked: () => last }
}

/** What statements come to, and the lines of the plan of the last of them. */
export async function planned<T>(pool: pg.Pool, run: (db: Queryable) => Promise<T>) {
  const { db, asked } = recording(pool)
  const answer = await run(db)
  const { rows } = await pool.query(`explain (costs off) ${asked()?.text}`, asked()?.values)
  return { answer, plan: rows.map((row) => row['QUERY PLAN'] as string) }
}
