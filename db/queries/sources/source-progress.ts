import type { Queryable } from '../../pool.ts'

/** How far one source of the enrichment job is. */
export interface SourceProgress {
  readonly source: string
  readonly known: number
  /** Subjects that are due. */
  readonly due: number
  /** Subjects whose last read failed. */
  readonly failing: number
  readonly lastSuccessAt: Date | null
}

/** Every source that has something to read, by name. */
export async function sourceProgress(db: Queryable): Promise<SourceProgress[]> {
  const { rows } = await db.query<SourceProgress>({
    name: 'source-progress',
    text: `select source, count(*) as known, count(*) filter (where due_at <= now()) as due,
                  count(*) filter (where failures > 0) as failing, max(last_success_at) as "lastSuccessAt"
             from source_state
            group by source
            order by source`,
  })
  return rows
}
