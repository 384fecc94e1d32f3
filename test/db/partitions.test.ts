import { expect, test } from 'vitest'
import { chainNames, chainOf } from '../../config/chains.ts'
import { createPool } from '../../db/pool.ts'
import { freezePartition } from '../../db/queries/chain/partitions/sealed-partitions.ts'
import { testDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'

const database = testDatabase()

test('every chain of the table that has a token has its partition of settlements, and no other has', async () => {
  const { rows } = await database.pool.query<{ name: string }>(
    `select child.relname as name
       from pg_inherits
       join pg_class child on child.oid = inhrelid
      where inhparent = 'settlement'::regclass
      order by 1`,
  )
  const expected = chainNames.filter((name) => chainOf(name).tokens.length > 0).map((name) => `settlement_${name}`)
  expect(rows.map(({ name }) => name)).toEqual(expected.sort())
})

test('a partition is frozen while an index is made on it, whichever comes first', async () => {
  const { pool, url } = database
  const table = 'settlement_celo_0000'
  const freezer = createPool({ databaseUrl: url, name: 'freezer', max: 1 })
  const [holder, writer] = await Promise.all([pool.connect(), pool.connect()])
  /** When a statement with these words began to wait for a lock; undefined: none waits. */
  const waitingSince = async (words: string): Promise<number | undefined> => {
    const waiting = `select query_start from pg_stat_activity where wait_event_type = 'Lock' and query like $1`
    return (await pool.query(waiting, [`%${words}%`])).rows[0]?.query_start.getTime()
  }
  const mark = `is 'frozen'`
  const isWaiting = (words: string) => async () => (await waitingSince(words)) !== undefined
  try {
    await writer.query(`begin; lock table ${table} in row exclusive mode`)
    await holder.query(`begin; lock table ${table} in share update exclusive mode`)
    const frozen = freezePartition(freezer, table)
    await until('the vacuum waits', isWaiting('vacuum (freeze)'))
    const indexed = pool.query(`create index concurrently meanwhile on ${table} (amount)`)
    await until('the index waits', isWaiting('create index concurrently meanwhile'))
    await holder.query('commit')
    await until('the index waits for a writer, and what is left of the vacuum for the index', isWaiting(mark))
    const tries = new Set<number>()
    await until('that has tried three times, or for longer than Postgres waits before it ends a deadlock', async () => {
      const since = await waitingSince(mark)
      if (since !== undefined) tries.add(since)
      return tries.size === 3 || (since !== undefined && Date.now() - since > 1_500)
    })
    await writer.query('commit')
    await Promise.all([frozen, indexed])
  } finally {
    holder.release()
    writer.release()
    await freezer.end()
  }
})
