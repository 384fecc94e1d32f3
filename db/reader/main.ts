import { openChains, readChains } from '../../config/chains.file.ts'
import { readSettings } from '../../config/settings.check.ts'
import { runCommand, UsageError } from '../../ops/cli.ts'
import { openExisting } from '../open.ts'
import { createPool } from '../pool.ts'
import { connectionLines, dropReader, loginUrl, makeReader, usualRights } from './login.ts'

const usage = `
npm run reader -- --name NAME [--seconds N] [--connections N] [--at HOST:PORT]
npm run reader -- --name NAME --drop

Creates a login that can read the schema directory and nothing else, and prints the lines to connect with from psql, DBeaver
and a notebook. The password is shown only once; run the command again with the same name to get a new one.

  --name         of the login: a letter, then letters, digits and underscores, all lowercase
  --seconds      how long a statement may take (${usualRights.seconds}, at most 3600)
  --connections  how many at once (${usualRights.connections}, at most 100)
  --at           host and port where its user reaches the database, if not those of DATABASE_URL
  --drop         removes the login and ends its sessions

Reads DATABASE_URL (its user must be allowed to create roles) and CHAINS_FILE: see .env.example.
`

const options = {
  name: { type: 'string' },
  seconds: { type: 'string' },
  connections: { type: 'string' },
  at: { type: 'string' },
  drop: { type: 'boolean' },
} as const

await runCommand({ usage, options }, async ({ values }) => {
  const { name, at, drop } = values
  if (!name || !/^[a-z][a-z0-9_]{0,62}$/.test(name) || /^(pg_|directory_reader$)/.test(name)) {
    throw new UsageError('--name must be a letter, then letters, digits and underscores, all lowercase')
  }
  if (at !== undefined && !/^([a-zA-Z0-9.-]+|\[[0-9a-fA-F:]+\]):[0-9]{1,5}$/.test(at)) {
    throw new UsageError('--at must be a host and a port: db.example:5432')
  }
  const rights = {
    seconds: countOf('seconds', values.seconds, 3_600) ?? usualRights.seconds,
    connections: countOf('connections', values.connections, 100) ?? usualRights.connections,
  }
  readChains({ env: process.env, file: openChains(process.env) })
  const database = await openExisting(readSettings('migrate', process.env).vars.DATABASE_URL)
  const pool = createPool({ databaseUrl: database.databaseUrl, name: 'reader', max: 1 })
  try {
    if (drop) {
      await dropReader(pool, name)
      process.stdout.write(`${name} can no longer log in\n`)
      return
    }
    const password = await makeReader(pool, name, rights)
    const { seconds, connections } = rights
    const may = `${seconds} s a statement, ${connections} connections`
    const lines = connectionLines(loginUrl(database.databaseUrl, { name, password, at }))
    process.stdout.write(`${name} reads ${database.description}: ${may}\n`)
    for (const [program, line] of lines) process.stdout.write(`  ${program.padEnd(9)} ${line}\n`)
  } finally {
    await pool.end()
    await database.close()
  }
})

function countOf(name: string, given: string | undefined, most: number): number | undefined {
  if (given === undefined) return undefined
  const count = /^[0-9]{1,9}$/.test(given) ? Number(given) : 0
  if (count < 1 || count > most) throw new UsageError(`--${name} must be from 1 to ${most}`)
  return count
}
