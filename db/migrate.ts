import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import pg from 'pg'
import { lockKeys } from './lock-keys.ts'
import { connectionTimeouts } from './pool.ts'

const folder = new URL('./migrations/', import.meta.url)
/** SQLSTATE of what `raise notice` says; what the server notices by itself ("exists, skipping") has others. */
const raisedByMigration = '00000'

/**
 * Brings a database to the newest schema and returns the names of the migrations that ran (empty: nothing to do).
 *
 * Each file runs once, in name order, in its own transaction. Several callers may run at once: the others wait.
 * Throws when an applied file has changed since, or when the database holds one this version does not know. `onNotice`
 * hears what a migration has to tell its operator.
 */
export async function migrate(databaseUrl: string, onNotice: (text: string) => void = () => {}): Promise<string[]> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    application_name: 'migrate',
    ...connectionTimeouts(0),
  })
  client.on('notice', ({ code, message = '' }) => {
    if (code === raisedByMigration) onNotice(message)
  })
  await client.connect()
  try {
    await client.query('select pg_advisory_lock($1)', [lockKeys.migration])
    await client.query(
      `create table if not exists schema_migration (
         name text primary key,
         sha256 text not null,
         applied_at timestamptz not null default now()
       )`,
    )
    const { rows } = await client.query<{ name: string; sha256: string }>('select name, sha256 from schema_migration')
    const applied = new Map(rows.map((row) => [row.name, row.sha256]))
    const files = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()
    refuseUnknown(applied, files)
    const ran: string[] = []
    for (const name of files) {
      const sql = await readFile(new URL(name, folder), 'utf8')
      const sha256 = createHash('sha256').update(sql).digest('hex')
      const before = applied.get(name)
      if (before === sha256) continue
      if (before) {
        throw new Error(`migration ${name} was applied with other content; add a new file instead of changing this one`)
      }
      await apply(client, name, sql, sha256)
      ran.push(name)
    }
    return ran
  } finally {
    await client.end()
  }
}

async function apply(client: pg.Client, name: string, sql: string, sha256: string) {
  await client.query('begin')
  try {
    await client.query(sql)
    await client.query('insert into schema_migration (name, sha256) values ($1, $2)', [name, sha256])
    await client.query('commit')
  } catch (cause) {
    await client.query('rollback')
    throw new Error(`migration ${name} failed and left nothing behind: ${(cause as Error).message}`, { cause })
  }
}

function refuseUnknown(applied: Map<string, string>, files: string[]) {
  const unknown = [...applied.keys()].filter((name) => !files.includes(name))
  if (unknown.length > 0) {
    throw new Error(`the database is newer than this program: it holds ${unknown.join(', ')}; update the program`)
  }
}
