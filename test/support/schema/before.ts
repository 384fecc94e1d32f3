import { readFile } from 'node:fs/promises'
import { gunzipSync } from 'node:zlib'
import pg from 'pg'

/** Makes an empty database what the migrations made of it whose files are gone: test/fixtures/schema. */
export async function createBefore(databaseUrl: string): Promise<void> {
  const dump = gunzipSync(await readFile(new URL('../../fixtures/schema/before.sql.gz', import.meta.url)))
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    await client.query('drop schema if exists directory cascade; drop schema public cascade; create schema public')
    await client.query(dump.toString())
  } finally {
    await client.end()
  }
}
