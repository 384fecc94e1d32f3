import type { Queryable } from '../pool.ts'

/** A column of a view, with its comment in the database. */
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

/** A function of the contract that returns rows. */
export interface ContractFunction {
  /** Its signature: name, and arguments with their types. */
  readonly call: string
  readonly comment: string | null
  /** Columns of its rows as `name type`, in order. */
  readonly columns: readonly string[]
}

/** Functions of the schema `directory` that give rows, by name. */
export async function directoryFunctions(db: Queryable): Promise<ContractFunction[]> {
  const { rows } = await db.query<ContractFunction>(`
select p.proname || '(' || pg_get_function_identity_arguments(p.oid) || ')' as call, obj_description(p.oid, 'pg_proc') as comment,
       array(select p.proargnames[n] || ' ' || format_type(p.proallargtypes[n], null)
               from generate_subscripts(p.proargmodes, 1) n where p.proargmodes[n] = 't' order by n) as columns
  from pg_proc p
 where p.pronamespace = 'directory'::regnamespace and p.proretset
 order by p.proname`)
  return rows
}

/** Comment of the schema `directory`. */
export async function directoryComment(db: Queryable): Promise<string> {
  const { rows } = await db.query<{ comment: string }>(
    `select obj_description('directory'::regnamespace, 'pg_namespace') as comment`,
  )
  return rows[0]?.comment ?? ''
}

/** Measured cost of one run of a statement. */
export interface Read {
  /** Rows read from tables and indexes, including those that a filter then removed. */
  readonly rowsRead: number
  readonly milliseconds: number
}

/** Runs a statement twice and returns the cost of the faster run; the second finds in memory what the first read. */
export async function readOf(db: Queryable, statement: string): Promise<Read> {
  const first = await readOnce(db, statement)
  const second = await readOnce(db, statement)
  return first.milliseconds < second.milliseconds ? first : second
}

async function readOnce(db: Queryable, statement: string): Promise<Read> {
  const { rows } = await db.query<{ 'QUERY PLAN': [{ Plan: PlanNode; 'Execution Time': number }] }>(
    `explain (analyze, timing off, format json) ${statement}`,
  )
  const [plan] = rows[0]!['QUERY PLAN']
  return { rowsRead: Math.round(rowsReadBy(plan.Plan)), milliseconds: Math.round(plan['Execution Time']) }
}

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Index Recheck'?: number
  readonly Plans?: readonly PlanNode[]
}

/** Plan nodes whose rows are counted. Bitmap index scans are not: the heap scan above them counts the same rows. */
const readers = ['Seq Scan', 'Index Scan', 'Index Only Scan', 'Bitmap Heap Scan', 'Tid Scan']

function rowsReadBy(node: PlanNode): number {
  const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)
  const own = readers.includes(node['Node Type']) ? (node['Actual Rows'] + removed) * node['Actual Loops'] : 0
  return (node.Plans ?? []).reduce((sum, child) => sum + rowsReadBy(child), own)
}

/** The SQL contract: views by name and functions by signature, each with its columns in order, as `name type`. */
type Contract = Record<string, readonly string[]>

export function contractOf(views: readonly ContractView[], functions: readonly ContractFunction[]): Contract {
  return Object.fromEntries([
    ...views.map((view) => [view.name, view.columns.map((column) => `${column.name} ${column.type}`)]),
    ...functions.map(({ call, columns }) => [call, columns]),
  ])
}

/** Breaking changes from `recorded` to `present`: views, functions and columns that are gone, moved or retyped. */
export function lostFrom(recorded: Contract, present: Contract): string[] {
  return Object.entries(recorded).flatMap(([view, columns]) => {
    const now = present[view]
    if (!now) return [view.includes('(') ? `function ${view}` : `view ${view}`]
    return columns.flatMap((column, place) => (now[place] === column ? [] : [`${view}: ${column}`]))
  })
}

/** Rows of the largest views, by name. It counts every row, so it is for recording costs only, not for serving. */
export async function tableSizes(db: Queryable): Promise<Record<string, number>> {
  const { rows } = await db.query<Record<string, number>>(`
select (select count(*) from directory.agents) as agents,
       (select count(*) from directory.addresses) as addresses,
       (select count(*) from directory.settlements) as settlements,
       (select count(*) from directory.agent_settlements where fid = 1) as "settlements of agent 1"`)
  return rows[0] ?? {}
}
