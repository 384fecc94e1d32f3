import type { Queryable } from '../../pool.ts'
import { totalSums } from './hours.ts'

/**
 * Counts what hours of income add up to again: over all agents by chain, and of agents. Call in a transaction; hours wait for
 * its end. A sum of nothing stays as zero.
 */
export async function countIncomeSums(
  db: Queryable,
  { fids, chains }: { fids: readonly number[]; chains: readonly string[] },
): Promise<void> {
  // Sums move in the statement that writes the hours: none may come between what is counted and what is stored.
  await db.query('lock table income_hour in share mode')
  await db.query({ name: 'count-income-totals', text: totals, values: [chains] })
  await db.query({ name: 'count-income-agents', text: agents, values: [fids] })
}

const totals = countedText({
  table: 'income_total',
  key: ['chain', 'kind', 'flag', 'x402'],
  sums: totalSums,
  asked: 'chain = any ($1::text[])',
  counts: 'not passed_on',
})
const agents = countedText({
  table: 'income_agent',
  key: ['fid', 'chain'],
  sums: ['n', 'amount'],
  asked: 'fid = any ($1::bigint[])',
  counts: `flag = 'none'`,
})

interface Counted {
  readonly table: string
  readonly key: readonly string[]
  readonly sums: readonly string[]
  /** SQL: which rows of the table are asked for, and of the hours. */
  readonly asked: string
  /** SQL: which hours count. */
  readonly counts: string
}

function countedText({ table, key, sums, asked, counts }: Counted): string {
  const keys = key.join(', ')
  const columns = sums.join(', ')
  const of = (row: string) => sums.map((sum) => `${row}.${sum}`).join(', ')
  return `
insert into ${table} as t (${keys}, ${columns})
select ${keys}, ${sums.map((sum) => `sum(${sum})`).join(', ')}
  from (select ${keys}, ${columns}, false as stored from income_hour where ${asked} and ${counts}
         union all
        select ${keys}, ${sums.map(() => '0').join(', ')}, true from ${table} where ${asked}) hour
 group by ${keys}
having bool_or(stored) or ${sums.map((sum) => `sum(${sum}) <> 0`).join(' or ')}
 order by ${keys}
    on conflict (${keys}) do update set (${columns}) = row(${of('excluded')})
 where (${of('t')}) is distinct from (${of('excluded')})`
}
