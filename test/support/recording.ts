import type pg from 'pg'
import type { Queryable } from '../../db/pool.ts'

/** Wraps a database; `asked` returns the last query that went through, undefined before the first. */
export function recording(db: Pick<Queryable, 'query'>): { db: Queryable; asked: () => pg.QueryConfig | undefined } {
  let last: pg.QueryConfig | undefined
  const query = (config: pg.QueryConfig) => {
    last = config
    return db.query(config)
  }
  return { db: { query } as unknown as Queryable, asked: () => last }
}

/** Result of statements, and the plan of the last one, by lines. */
export async function planned<T>(pool: pg.Pool, run: (db: Queryable) => Promise<T>) {
  const { db, asked } = recording(pool)
  const answer = await run(db)
  const { rows } = await pool.query(`explain (costs off) ${asked()?.text}`, asked()?.values)
  return { answer, plan: rows.map((row) => row['QUERY PLAN'] as string) }
}

/** Number of 8 kB blocks that statements access, cached or not. */
export async function blocksRead(pool: pg.Pool, run: (db: Queryable) => Promise<unknown>): Promise<number> {
  const asked: pg.QueryConfig[] = []
  const query = (config: pg.QueryConfig) => {
    asked.push(config)
    return pool.query(config)
  }
  await run({ query } as unknown as Queryable)
  let blocks = 0
  for (const { text, values } of asked) {
    const { rows } = await pool.query(`explain (analyze, buffers, timing off, format json) ${text}`, values)
    const [{ Plan: plan }] = rows[0]['QUERY PLAN'] as [{ Plan: Record<string, number> }]
    blocks += (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0)
  }
  return blocks
}
