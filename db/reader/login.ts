import { randomBytes } from 'node:crypto'
import pg from 'pg'
import type { Queryable } from '../pool.ts'

/** Limits of a reader's login. A session can change its own statement timeout, never the number of connections. */
interface ReaderRights {
  /** Statement timeout, in seconds. */
  readonly seconds: number
  /** Greatest number of concurrent connections. */
  readonly connections: number
}

export const usualRights: ReaderRights = { seconds: 10, connections: 3 }

/** Comment on the role that marks logins created by this command. */
const mark = 'reads the schema directory'

/**
 * Settings of a login, as db/schema/readers.sql gives them to `directory_reader`. They are not read from that role: on Postgres 15
 * whoever has become it can change them. A transaction has longer than a statement, which would else end with it.
 */
const settingsOf = ({ seconds }: ReaderRights): Readonly<Record<string, string>> => ({
  default_transaction_read_only: 'on',
  idle_in_transaction_session_timeout: '30s',
  idle_session_timeout: '1h',
  lock_timeout: '5s',
  search_path: 'directory',
  statement_timeout: `${seconds}s`,
  temp_file_limit: '2GB',
  transaction_timeout: `${seconds + 50}s`,
  work_mem: '16MB',
})

/** A password that nobody guesses. */
export const newPassword = () => randomBytes(24).toString('base64url')

/**
 * Creates a login with the rights of `directory_reader`, or gives the existing one of that name a new password and
 * these limits. From Postgres 16 on it cannot become that role. Returns the password, which cannot be read again later.
 *
 * Throws when the name belongs to another role, when another grant lets it become `directory_reader`, and when the
 * connection's user may not create roles.
 */
export async function makeReader(
  db: Queryable,
  name: string,
  rights: ReaderRights = usualRights,
  password: string = newPassword(),
): Promise<string> {
  await refuseOthers(db, name)
  const { rows } = await db.query<{ verb: string; confines: boolean }>(
    `select case when exists (select from pg_roles where rolname = $1) then 'alter' else 'create' end as verb,
            current_setting('server_version_num')::int >= 160000 as confines`,
    [name],
  )
  const { verb, confines } = rows[0]!
  const role = pg.escapeIdentifier(name)
  // Who can become the role can give it a password, and log in with that after --drop. One transaction: a login without
  // the comment would be taken for a stranger's.
  await db.query(`
${verb} role ${role} login password ${pg.escapeLiteral(password)} connection limit ${rights.connections};
grant directory_reader to ${role}${confines ? ' with inherit true, set false' : ''};
comment on role ${role} is ${pg.escapeLiteral(mark)}`)
  if (confines) await refuseBecoming(db, name)
  // A member of a role does not inherit its settings.
  const settings = settingsOf(rights)
  const { rows: known } = await db.query<{ parameter: string }>(
    `select name as parameter from pg_settings
      where name = any ($1) and (context = 'user' or (select rolsuper from pg_roles where rolname = current_user))`,
    [Object.keys(settings)],
  )
  for (const { parameter } of known) {
    await db.query(
      `alter role ${role} set ${pg.escapeIdentifier(parameter)} = ${pg.escapeLiteral(settings[parameter]!)}`,
    )
  }
  return password
}

/** Drops a login and ends its sessions. Does nothing when it does not exist. Throws for a role not created here. */
export async function dropReader(db: Queryable, name: string): Promise<void> {
  await refuseOthers(db, name)
  const role = pg.escapeIdentifier(name)
  const { rowCount } = await db.query('select from pg_roles where rolname = $1', [name])
  if (!rowCount) return
  await db.query(`alter role ${role} nologin`)
  // Only who has a role's rights may end its sessions, and whoever made it need not have them.
  const { rows } = await db.query<{ has: boolean; confines: boolean }>(
    `select pg_has_role($1::name, 'USAGE') as has, current_setting('server_version_num')::int >= 160000 as confines`,
    [name],
  )
  // Without the option a user that does not inherit would be a member without rights.
  if (!rows[0]?.has) await db.query(`grant ${role} to current_user${rows[0]?.confines ? ' with inherit true' : ''}`)
  await db.query('select pg_terminate_backend(pid) from pg_stat_activity where usename = $1', [name])
  await db.query(`drop role ${role}`)
}

async function refuseOthers(db: Queryable, name: string): Promise<void> {
  const { rows } = await db.query<{ reader: boolean; other: boolean }>(
    `select exists (select from pg_roles where rolname = 'directory_reader') as reader,
            exists (select from pg_roles
                     where rolname = $1 and shobj_description(oid, 'pg_authid') is distinct from $2) as other`,
    [name, mark],
  )
  if (!rows[0]?.reader)
    throw new Error('there is no role directory_reader: npm run migrate makes it; docs/sql.md says who may')
  if (rows[0].other) throw new Error(`the role ${name} is no reader that was made here: choose another name`)
}

async function refuseBecoming(db: Queryable, name: string): Promise<void> {
  const { rows } = await db.query<{ can: boolean }>(`select pg_has_role($1::name, 'directory_reader', 'SET') as can`, [
    name,
  ])
  if (rows[0]?.can)
    throw new Error(`${name} can still become directory_reader by another grant: --drop it, then make it again`)
}

/** Connection lines for common programs, with the password. `databaseUrl` is that of the login. */
export function connectionLines(databaseUrl: string): [program: string, line: string][] {
  const { host, pathname, username, password, search } = new URL(databaseUrl)
  const jdbc = new URLSearchParams({ ...Object.fromEntries(new URLSearchParams(search)), user: username, password })
  const notebook = databaseUrl.replace(/^postgres:/, 'postgresql+psycopg:')
  return [
    ['psql', `psql '${databaseUrl}'`],
    ['DBeaver', `jdbc:postgresql://${host}${pathname}?${jdbc}`],
    ['notebook', `pandas.read_sql('select * from agents limit 10', '${notebook}')`],
  ]
}

/**
 * Connection string of a database for a login; `at`: `host:port` for its user, when it differs from `databaseUrl`'s.
 */
export function loginUrl(databaseUrl: string, { name, password, at }: { name: string; password: string; at?: string }) {
  const given = new URL(databaseUrl)
  const mode = given.searchParams.get('sslmode')
  const { host, pathname } = given
  return `postgres://${name}:${password}@${at ?? host}${pathname}${mode ? `?sslmode=${mode}` : ''}`
}
