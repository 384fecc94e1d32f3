import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { baseline, isOfBefore, note, pendingOf, readApplied, takeOver } from './applied.ts'
import { ensureChainRows } from './chain-rows.ts'
import { ensureFacilitatorRows } from './facilitator-list.ts'
import { lockKeys } from './lock-keys.ts'
import { blockersOf, type LockRetry, retryLocked } from './lock-retry.ts'
import { connectionTimeouts, sessionOf } from './pool.ts'
import { refusePooler } from './pooler.ts'
import { limitLockWait } from './queries/server/transaction-settings.ts'
import { type MigrationFile, readMigrations, readSchema, type SchemaFiles, toFile } from './schema-files.ts'

/** Server routine that reports `raise notice`; the server's own notices ("does not exist, skipping") have others. */
const raisedByMigration = 'exec_stmt_raise'
/** How long to wait for another process that migrates, which may build indexes of large tables. */
const othersTimeoutMs = 2 * 60 * 60_000
const pollMs = 200

const connectTimeoutMs = 10_000
const defaults = {
  migrations: new URL('./migrations/', import.meta.url),
  lockRetry: { lockTimeoutMs: 500, pauseMs: 2_000, totalMs: 10 * 60_000 } as LockRetry,
  onNotice: (_text: string) => {},
}

/**
 * Brings a database to the newest schema and returns the names of what ran (empty: nothing was due).
 *
 * An empty one gets the tables of `db/schema` in one transaction, and no migration: the schema says how the database is
 * with all of them. Any other gets the migrations that it has not had, each file once, in name order, in its own
 * transaction; one whose first line is `-- outside a transaction` runs statement by statement, and from its first one
 * again when it fails, so each statement has to be idempotent. Then the views of the SQL contract and the triggers that
 * mark what is due run whose text is new, and the database is brought up to date with the chain table.
 *
 * Concurrent callers wait for each other. What does not get its locks within `lockRetry.lockTimeoutMs` is rolled back and
 * retried, for `lockRetry.totalMs`.
 *
 * Throws when a transaction pooler is in front of the server, when an applied migration has changed since, when the
 * database has one that this version does not know, or is older than `db/schema`, or when a file fails. `onNotice` gets
 * the notices for the operator, and lines about what is being waited for.
 */
export async function migrate(databaseUrl: string, options: Partial<typeof defaults> = {}): Promise<string[]> {
  const { migrations, lockRetry, onNotice } = { ...defaults, ...options }
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
    const runner = { databaseUrl, client, lockRetry, onNotice }
    const ran = await applySchema(runner, await readSchema(), await readMigrations(migrations))
    await applyInTransaction(runner, 'the chain table', () => ensureChainRows(client))
    await applyInTransaction(runner, 'the list of facilitators', () => ensureFacilitatorRows(client))
    return ran
  } finally {
    await client.end()
  }
}

/** Applies what a database lacks of the schema and the migrations; returns the names of what ran. */
async function applySchema(runner: Runner, schema: SchemaFiles, migrations: MigrationFile[]): Promise<string[]> {
  const { client } = runner
  const found = await readApplied(client)
  if (found.size === 0) await applyInTransaction(runner, 'the schema', () => create(client, schema, migrations))
  else if (isOfBefore(migrations, found))
    await applyInTransaction(runner, 'taking the database over', () => takeOver(client, migrations, found))
  const waiting = pendingOf(migrations, await readApplied(client))
  for (const file of waiting) {
    await applyRetrying(runner, `migration ${file.name}`, () => apply(runner, file), file.outside !== null)
  }
  const applied = await readApplied(client) // a migration may have taken views or triggers away
  const changed = schema.repeatable.filter(({ name, sha256 }) => applied.get(name) !== sha256)
  for (const file of changed) {
    await applyInTransaction(runner, file.name, async () => {
      await client.query(file.sql)
      await note(client, file)
    })
  }
  return [...(found.has(baseline) ? [] : [baseline]), ...[...waiting, ...changed].map(({ name }) => name)]
}

/** Makes the tables of an empty database, which then has what each migration brings. */
async function create(client: pg.Client, { tables }: SchemaFiles, migrations: MigrationFile[]): Promise<void> {
  for (const { sql } of tables) await client.query(sql)
  await note(client, toFile(baseline, tables.map(({ sql }) => sql).join('')))
  for (const file of migrations) await note(client, file)
}

/**
 * Takes the lock that lets one process migrate at a time. It polls instead of waiting in the server: a waiting
 * statement holds a snapshot, and `create index concurrently` would wait for that to end.
 */
async function beTheOne(client: pg.Client, onNotice: (text: string) => void): Promise<void> {
  const deadline = Date.now() + othersTimeoutMs
  for (let polls = 0; ; polls++) {
    const { rows } = await client.query('select pg_try_advisory_lock($1) as locked', [lockKeys.migration])
    if (rows[0].locked) return
    if (Date.now() >= deadline) throw new Error(`others have been migrating for ${othersTimeoutMs / 60_000} minutes`)
    if (polls === 0) onNotice('waiting for another migration to end')
    await delay(pollMs)
  }
}

interface Runner {
  readonly databaseUrl: string
  readonly client: pg.Client
  readonly lockRetry: LockRetry
  readonly onNotice: (text: string) => void
}

async function applyRetrying(
  { databaseUrl, client, lockRetry, onNotice }: Runner,
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
    }, lockRetry.lockTimeoutMs / 2)
    await run().finally(() => clearTimeout(look))
  }
  const holders = () => (blockers ? `; held by ${blockers}` : '')
  try {
    await retryLocked(lockRetry, tryOnce, ({ message }) =>
      onNotice(`${what} does not get a lock and will be retried: ${message}${holders()}`),
    )
  } catch (cause) {
    const left = outside ? 'failed; it is run again from its first statement' : 'failed and left nothing behind'
    throw new Error(`${what} ${left}: ${(cause as Error).message}${holders()}`, { cause })
  }
}

/** Runs one migration. Statements outside a transaction get `totalMs` for their locks, as they block nobody meanwhile. */
async function apply({ client, lockRetry }: Runner, file: MigrationFile): Promise<void> {
  if (!file.outside) {
    return inTransaction(client, lockRetry, async () => {
      await client.query(file.sql)
      await note(client, file)
    })
  }
  await client.query(`select set_config('lock_timeout', $1, false)`, [`${lockRetry.totalMs}ms`])
  for (const statement of file.outside) await client.query(statement)
  await note(client, file)
}

function applyInTransaction(runner: Runner, what: string, work: () => Promise<void>): Promise<void> {
  return applyRetrying(runner, what, () => inTransaction(runner.client, runner.lockRetry, work))
}

async function inTransaction(client: pg.Client, { lockTimeoutMs }: LockRetry, work: () => Promise<void>) {
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
