import type { Queryable } from '../pool.ts'

/** A column as a reader meets it. */
export interface ContractColumn {
  readonly name: string
  readonly type: string
  readonly comment: string | null
}

export interface ContractView {
  readonly name: string
  readonly comment: string | null
  readonly columns: readonly ContractColumn[]
}

/** Views of the schema `directory` by name, columns in their order. */
export async function directoryViews(db: Queryable): Promise<ContractView[]> {
  const { rows } = await db.query<ContractView>(`
select v.relname as name, obj_description(v.oid, 'pg_class') as comment,
       json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod),
                                  'comment', col_description(v.oid, a.attnum)) order by a.attnum) as columns
  from pg_class v
  join pg_attribute a on a.attrelid = v.oid and a.attnum > 0 and not a.attisdropped
 where v.relnamespace = 'directory'::regnamespace and v.relkind = 'v'
 group by v.oid, v.relname
 order by v.relname`)
  return rows
}

/** What holds for the whole schema. */
export async function directoryComment(db: Queryable): Promise<string> {
  const { rows } = await db.query<{ comment: string }>(
    `select obj_description('directory'::regnamespace, 'pg_namespace') as comment`,
  )
  return rows[0]?.comment ?? ''
}

/** The plan of a statement of the contract's samples, as it was carried out: without times, which are the machine's. */
export async function planOf(db: Queryable, statement: string): Promise<string> {
  const { rows } = await db.query<{ 'QUERY PLAN': string }>(
    `explain (analyze, costs off, timing off, buffers off, summary off) ${statement}`,
  )
  return rows.map((row) => row['QUERY PLAN']).join('\n')
}
