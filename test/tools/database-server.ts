import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { startPostgres } from '../../db/embedded.ts'
import { migrate } from '../../db/migrate.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Superuser's connection string to the test server. */
    databaseServer: string
    /** Migrated database the tests' databases are cloned from. */
    databaseTemplate: string
  }
}

/** One server a test run, with a migrated template; `createTestDatabase` clones it. */
export default async function setup(project: TestProject) {
  const folder = await mkdtemp(join(tmpdir(), 'agent-directory-test-'))
  const server = await startPostgres({ dataFolder: join(folder, 'postgres'), durable: false })
  const template = `template_${randomBytes(4).toString('hex')}`
  const client = new pg.Client({ connectionString: server.databaseUrl })
  await client.connect()
  await client.query(`create database ${template}`)
  await client.end()
  await migrate(server.urlOf(template))
  project.provide('databaseServer', server.databaseUrl)
  project.provide('databaseTemplate', template)
  return async () => {
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
}
