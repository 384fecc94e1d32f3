import { randomBytes } from 'node:crypto'
import pg from 'pg'
import type { Queryable } from '../pool.ts'

/** What a login of a reader gets. A session can change its times, never the number of connections. */
interface ReaderRights {
  /** Seconds a statement may take. */
  readonly seconds: number
  /** Connections at once. */
  readonly connections: number
}

export const usualRights: ReaderRights = { seconds: 10, connections: 3 }

/** Tells logins that were made here from all other roles. */
const mark = 'reads the schema directory'

/**
 * Makes a login that reads as `directory_reader` does, or gives the one of that name a new password and these rights.
 * Returns the password, which nobody can ask for again.
 *
 * Throws when the name is another role's, and when the user of the connection may not make roles.
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

/** Takes a login away and ends its sessions. Nothing happens when there is none. Throws for another role. */
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

/** The lines that programs connect by, with the password. `databaseUrl` is that of the login. */
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

/** The address of a database for a login; `at`: host and port that its user reaches it by, where they are others. */
export function loginUrl(databaseUrl: string, { name, password, at }: { name: string; password: string; at?: string }) {
  const given = new URL(databaseUrl)
  const mode = given.searchParams.get('sslmode')
  const { host, pathname } = given
  return `postgres://${name}:${password}@${at ?? host}${pathname}${mode ? `?sslmode=${mode}` : ''}`
}
