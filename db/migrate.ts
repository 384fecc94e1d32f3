import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { ensureChainRows } from './chain-rows.ts'
import { ensureFacilitatorRows } from './facilitator-rows.ts'
import { lockKeys } from './lock-keys.ts'
import { type MigrationFile, readMigrations } from './migration-files.ts'
import { blockersOf, type Patience, patiently } from './patience.ts'
import { connectionTimeouts, sessionOf } from './pool.ts'
import { refusePooler } from './pooler.ts'
import { limitLockWait } from './queries/server/transaction-settings.ts'

/** Server routine that reports `raise notice`; the server's own notices ("does not exist, skipping") have others. */
const raisedByMigration = 'exec_stmt_raise'
/** How long to wait for another process that migrates, which may build indexes of large tables. */
const othersPatienceMs = 2 * 60 * 60_000
const pollMs = 200

const connectTimeoutMs = 10_000
const defaults = {
  folder: new URL('./migrations/', import.meta.url),
  patience: { lockTimeoutMs: 500, pauseMs: 2_000, totalMs: 10 * 60_000 } as Patience,
  onNotice: (_text: string) => {},
}

/**
 * Migrates a database to the newest schema and returns the names of the migrations that ran (empty: none was due). It
 * then always brings the database up to date with the chain table.
 *
 * Each file runs once, in name order, in its own transaction; one whose first line is `-- outside a transaction` runs
 * statement by statement, and from its first one again when it fails, so each statement has to be idempotent.
 * Concurrent callers wait for each other. A file that does not get its locks within `patience.lockTimeoutMs` is rolled
 * back and retried, for `patience.totalMs`.
 *
 * Throws when a transaction pooler is in front of the server, when an applied file has changed since, when the database
 * has a migration that this version does not know, or when a file fails. `onNotice` gets the migrations' notices for
 * the operator, and lines about what is being waited for.
 */
export async function migrate(databaseUrl: string, options: Partial<typeof defaults> = {}): Promise<string[]> {
  const { folder, patience, onNotice } = { ...defaults, ...options }
  await refusePooler(databaseUrl)
  const client = new pg.Client({
    connectionString: sessionOf(databaseUrl, { isPatient: true }),
    application_name: 'migrate',
    connectionTimeoutMillis: connectTimeoutMs,
    ...connectionTimeouts(0),
  })
  client.on('notice', ({ routine, message = '' }) => {
    if (routine === raisedByMigration) onNotice(message)
  })
  await client.connect()
  try {
    await beTheOne(client, onNotice)
    const files = await readMigrations(folder)
    const waiting = pendingOf(files, await readApplied(client))
    const runner = { databaseUrl, client, patience, onNotice }
    for (const file of waiting) {
      await applyPatiently(runner, `migration ${file.name}`, () => apply(client, file, patience), file.outside !== null)
    }
    if (folder === defaults.folder) {
      await applyPatiently(runner, 'the chain table', () =>
        inTransaction(client, patience, () => ensureChainRows(client)),
      )
      await applyPatiently(runner, 'the list of facilitators', () =>
        inTransaction(client, patience, () => ensureFacilitatorRows(client)),
      )
    }
    return waiting.map(({ name }) => name)
  } finally {
    await client.end()
  }
}

/**
 * Takes the lock that lets one process migrate at a time. It polls instead of waiting in the server: a waiting
 * statement holds a snapshot, and `create index concurrently` would wait for that to end.
 */
async function beTheOne(client: pg.Client, onNotice: (text: string) => void): Promise<void> {
  const deadline = Date.now() + othersPatienceMs
  for (let polls = 0; ; polls++) {
    const { rows } = await client.query('select pg_try_advisory_lock($1) as locked', [lockKeys.migration])
    if (rows[0].locked) return
    if (Date.now() >= deadline) throw new Error(`others have been migrating for ${othersPatienceMs / 60_000} minutes`)
    if (polls === 0) onNotice('waiting for another migration to end')
    await delay(pollMs)
  }
}

async function readApplied(client: pg.Client): Promise<Map<string, string>> {
  await client.query(
    `create table if not exists schema_migration (
       name text primary key,
       sha256 text not null,
       applied_at timestamptz not null default now()
     )`,
  )
  const { rows } = await client.query<{ name: string; sha256: string }>('select name, sha256 from schema_migration')
  return new Map(rows.map((row) => [row.name, row.sha256]))
}

function pendingOf(files: MigrationFile[], applied: Map<string, string>): MigrationFile[] {
  const unknown = [...applied.keys()].filter((name) => !files.some((file) => file.name === name))
  if (unknown.length > 0) {
    throw new Error(`the database is newer than this program: it holds ${unknown.join(', ')}; update the program`)
  }
  const changed = files.find(({ name, sha256 }) => applied.has(name) && applied.get(name) !== sha256)
  if (changed) {
    throw new Error(
      `migration ${changed.name} was applied with other content; add a new file instead of changing this one`,
    )
  }
  return files.filter(({ name }) => !applied.has(name))
}

interface Runner {
  readonly databaseUrl: string
  readonly client: pg.Client
  readonly patience: Patience
  readonly onNotice: (text: string) => void
}

async function applyPatiently(
  { databaseUrl, client, patience, onNotice }: Runner,
  what: string,
  run: () => Promise<void>,
  outside = false,
): Promise<void> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  const pid = rows[0]?.pid as number
  let blockers = ''
  const tryOnce = async () => {
    const look = setTimeout(async () => {
      blockers = (await blockersOf(databaseUrl, pid).catch(() => '')) || blockers
    }, patience.lockTimeoutMs / 2)
    await run().finally(() => clearTimeout(look))
  }
  const holders = () => (blockers ? `; held by ${blockers}` : '')
  try {
    await patiently(patience, tryOnce, ({ message }) =>
      onNotice(`${what} does not get a lock and will be retried: ${message}${holders()}`),
    )
  } catch (cause) {
    const left = outside ? 'failed; it is run again from its first statement' : 'failed and left nothing behind'
    throw new Error(`${what} ${left}: ${(cause as Error).message}${holders()}`, { cause })
  }
}

/** Runs one file. Statements outside a transaction get `totalMs` for their locks, as they block nobody meanwhile. */
async function apply(client: pg.Client, file: MigrationFile, patience: Patience): Promise<void> {
  if (!file.outside) {
    return inTransaction(client, patience, async () => {
      await client.query(file.sql)
      await note(client, file)
    })
  }
  await client.query(`select set_config('lock_timeout', $1, false)`, [`${patience.totalMs}ms`])
  for (const statement of file.outside) await client.query(statement)
  await note(client, file)
}

async function inTransaction(client: pg.Client, { lockTimeoutMs }: Patience, work: () => Promise<void>) {
  await client.query('begin')
  try {
    await limitLockWait(client, lockTimeoutMs)
    await work()
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw error
  }
}

async function note(client: pg.Client, { name, sha256 }: MigrationFile): Promise<void> {
  await client.query('insert into schema_migration (name, sha256) values ($1, $2)', [name, sha256])
}
