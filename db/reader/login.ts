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
 * Creates a login with the rights of `directory_reader`, or gives the existing one of that name a new password and
 * these limits. Returns the password, which cannot be read again later.
 *
 * Throws when the name belongs to another role, and when the connection's user may not create roles.
 */
export async function makeReader(db: Queryable, name: string, rights: ReaderRights = usualRights): Promise<string> {
  await refuseOthers(db, name)
  const password = randomBytes(24).toString('base64url')
  const { rowCount } = await db.query('select from pg_roles where rolname = $1', [name])
  const role = pg.escapeIdentifier(name)
  const may = `login password ${pg.escapeLiteral(password)} connection limit ${rights.connections}`
  if (rowCount) await db.query(`alter role ${role} ${may}`)
  else await db.query(`create role ${role} ${may} in role directory_reader`)
  await db.query(`comment on role ${role} is ${pg.escapeLiteral(mark)}`)
  // A member of a role does not inherit its settings.
  const { rows } = await db.query<{ setting: string }>(
    `select given.setting
       from pg_db_role_setting, unnest(setconfig) as given (setting)
       join pg_settings p on p.name = split_part(given.setting, '=', 1)
      where setrole = 'directory_reader'::regrole and setdatabase = 0
        and (p.context = 'user' or (select rolsuper from pg_roles where rolname = current_user))`,
  )
  const settings = rows.map(({ setting }) => setting.split('=', 2) as [string, string])
  for (const [parameter, value] of [...settings, ['statement_timeout', `${rights.seconds}s`]] as const) {
    await db.query(`alter role ${role} set ${pg.escapeIdentifier(parameter)} = ${pg.escapeLiteral(value)}`)
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
