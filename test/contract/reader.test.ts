import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { migrate } from '../../db/migrate.ts'
import { startPostgres } from '../../postgres/embedded.ts'

test('a migrating user who may not create roles gets the views; the reader is let in once there is one', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'agent-directory-reader-'))
  await chmod(folder, 0o755) // as root the server runs as another user, who has to reach its data
  const server = await startPostgres({ dataFolder: join(folder, 'postgres'), durable: false })
  onTestFinished(async () => {
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  })
  const connect = async (url: string) => {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    onTestFinished(() => client.end())
    return client
  }
  const admin = await connect(server.databaseUrl)
  await admin.query(`create role plain login password 'plain'`)
  await admin.query('create database plain owner plain')
  const url = new URL(server.urlOf('plain'))
  url.username = 'plain'
  url.password = 'plain'

  const notices: string[] = []
  expect(await migrate(url.href, { onNotice: (text) => notices.push(text) })).toContain('0008_sql_contract.sql')
  expect(notices).toEqual([expect.stringContaining('role directory_reader was not created: plain may not')])
  const owner = await connect(url.href)
  expect((await owner.query('select from directory.agents')).rowCount).toBe(0)
  expect((await owner.query('select directory.grant_reader() as let_in')).rows).toEqual([{ let_in: false }])

  await admin.query(`create role directory_reader login password 'reader'`)
  expect((await owner.query('select directory.grant_reader() as let_in')).rows).toEqual([{ let_in: true }])
  url.username = 'directory_reader'
  url.password = 'reader'
  const reader = await connect(url.href)
  expect((await reader.query('select from directory.claims')).rowCount).toBe(0)
  await expect(reader.query('select from claim')).rejects.toThrow('permission denied')
})
