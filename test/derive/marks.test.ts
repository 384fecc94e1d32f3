import { expect, test } from 'vitest'
import { kinds } from '../../db/due/kinds.ts'
import type { Mark } from '../../db/due/mark.ts'
import { migrate } from '../../db/migrate.ts'
import { derivations } from '../../derive/derivations.ts'
import { testDatabase } from '../support/database.ts'

const database = testDatabase()

/** Kinds that triggers of the database mark, as `table event kind`. */
async function installed(): Promise<string[]> {
  const { rows } = await database.pool.query<{ mark: string }>(`
    select concat_ws(' ', event_object_table, lower(event_manipulation), kind[1]) as mark
      from information_schema.triggers
     cross join regexp_matches(action_statement, $$[(,] ?'([a-z ]+)', 'select $$, 'g') as kind
     where action_statement like '%mark\\_due(%'`)
  return rows.map(({ mark }) => mark).sort()
}

const listed = Object.entries(kinds)
  .flatMap(([kind, { marks }]) =>
    marks.flatMap(({ table, on = ['insert', 'update', 'delete'] }: Mark) =>
      on.map((event) => `${table} ${event} ${kind}`),
    ),
  )
  .sort()

test('the triggers of a database are those of the list', async () => {
  expect(await installed()).toEqual(listed)
})

test('triggers of a table whose marks are new are made again, those of others left', async () => {
  const { pool, url } = database
  const ids = async () =>
    (
      await pool.query(`select tgrelid::regclass::text || ' ' || tgname as name, xmin::text from pg_trigger
      where tgfoid = 'mark_due'::regproc order by 1`)
    ).rows
  const before = await ids()
  // A list of before: it marked other kinds of this table, and at other times.
  await pool.query(`
    drop trigger mark_added on unlisted;
    create trigger mark_changed after update on unlisted referencing new table as moved
      for each statement execute function mark_due('edges', 'select fid from moved');
    update schema_migration set sha256 = 'of before' where name = 'schema/marks/unlisted'`)
  expect(await migrate(url)).toEqual(['schema/marks/unlisted'])
  expect(await installed()).toEqual(listed)
  const others = (rows: { name: string }[]) => rows.filter(({ name }) => !name.startsWith('unlisted '))
  expect(others(await ids())).toEqual(others(before))
})

test('each kind is derived, in the order of the list', () => {
  expect(derivations.map(({ kind }) => kind)).toEqual(Object.keys(kinds))
})
