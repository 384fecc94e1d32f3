import { expect, onTestFinished, test } from 'vitest'
import { migrate } from '../../db/migrate.ts'
import { readMigrations, readSchema } from '../../db/schema-files.ts'
import { createTestDatabase } from '../support/database.ts'
import { createBefore } from '../support/schema/before.ts'
import { schemaOf } from '../support/schema/of.ts'

async function ownDatabase() {
  const database = await createTestDatabase()
  onTestFinished(() => database.drop())
  return database
}

test('a database of before goes on: with the migrations since, it has the schema that a new one gets', async () => {
  const made = await ownDatabase()
  const before = await ownDatabase()
  await createBefore(before.url)
  const migrations = await readMigrations(new URL('../../db/migrations/', import.meta.url))
  const { repeatable } = await readSchema()
  expect(await migrate(before.url)).toEqual([...migrations, ...repeatable].map(({ name }) => name))
  expect(await schemaOf(before.pool)).toEqual(await schemaOf(made.pool))
  const ran = async ({ pool }: typeof made) =>
    (await pool.query('select name from schema_migration order by name collate "C"')).rows.map(({ name }) => name)
  expect(await ran(before)).toEqual(await ran(made))
  expect(await migrate(before.url)).toEqual([])
})

test('the description of a schema tells columns, their order, indexes, triggers, rights and comments apart', async () => {
  const { pool } = await ownDatabase()
  const first = await schemaOf(pool)
  for (const change of [
    'alter table claim add column more text',
    'alter table claim alter column state drop default',
    'alter table claim alter column signer drop not null',
    'alter table agent set (fillfactor = 90)',
    'drop index agent_handle',
    'alter table claim_event disable trigger claim_event_seal',
    'alter table claim drop constraint claim_state_check',
    `comment on column directory.claims.nonce is 'other'`,
    'revoke select on directory.claims from directory_reader',
    'create or replace view directory.streams as select source, shard, now() as updated_at from public.source_cursor',
    `create or replace function chain_names() returns text[] language sql as 'select null::text[]'`,
  ]) {
    const client = await pool.connect()
    await client.query(`begin; ${change}`)
    const second = await schemaOf(client)
    await client.query('rollback')
    client.release()
    expect(second, change).not.toEqual(first)
  }
})

test.for([
  ['lacks the last migration', `delete from schema_migration where name = '5832_payers_alone_renamed.sql'`],
  ['lacks one in between', `delete from schema_migration where name = '5732_paid_through_channels.sql'`],
  [
    'is of before there was a row of its schema',
    `delete from schema_migration where name in ('schema', '5732_paid_through_channels.sql')`,
  ],
  [
    'had another text of one',
    `update schema_migration set sha256 = 'other' where name = '5732_paid_through_channels.sql'`,
  ],
])('a database of before that %s is refused in one line, and stays as it is', async ([, change]) => {
  const { url, pool } = await ownDatabase()
  await createBefore(url)
  await pool.query(change!)
  const names = async () => (await pool.query('select name, sha256 from schema_migration order by name')).rows
  const found = await names()
  await expect(migrate(url)).rejects.toThrow(
    /^taking the database over failed and left nothing behind: its migrations, the last of them \d+_\w+\.sql, are not all those to \d+_\w+\.sql, which this program goes on from; migrate the database with the last program that has that migration, then again with this one$/,
  )
  expect(await names()).toEqual(found)
})
