import { expect, onTestFinished, test } from 'vitest'
import { testDatabase } from '../support/database.ts'
import { exportFolder } from '../support/exports.ts'
import { endOf, startMain } from '../support/mains.ts'
import { until } from '../support/until.ts'

const database = testDatabase()

const ofBase = ['--chain', 'base']
const commands: Readonly<Record<string, readonly [main: string, args: readonly string[], goesOn: string]>> = {
  archive: ['export/archive/main.ts', [...ofBase, '--before', '2019-06-01'], 'run the same command again to continue'],
  backfill: [
    'processors/backfill/main.ts',
    [...ofBase, '--from', '30000000', '--to', '30000999'],
    'run the same command again to continue after the last batch',
  ],
  export: [
    'export/main.ts',
    ['--what', 'settlements', '--format', 'csv'],
    'run the same command again to continue after the last complete file',
  ],
  'export --served': ['export/main.ts', ['--served'], 'what is missing is written by the next round'],
}

test.each(Object.entries(commands))(
  'Ctrl-C ends %s at its work, with a line that says what goes on',
  async (_, [main, args, goesOn]) => {
    // All tables are locked, so the command waits at its first row.
    const holder = await database.pool.connect()
    onTestFinished(() => holder.release(true)) // with its locks
    await holder.query('begin')
    const { rows } = await holder.query<{ all: string }>(
      `select string_agg(oid::regclass::text, ', ') as all from pg_class
      where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace`,
    )
    await holder.query(`lock table ${rows[0]?.all} in access exclusive mode`)
    const begun = (await holder.query('select clock_timestamp() as at')).rows[0].at
    const folder = await exportFolder()
    const out = main === 'export/main.ts' && !args.includes('--served') ? ['--out', folder] : []
    const child = startMain(main, [...args, ...out], { env: { DATABASE_URL: database.url, EXPORT_DIR: folder } })
    onTestFinished(() => void child.kill('SIGKILL'))
    const ended = endOf(child)
    await until('it is at work', async () => {
      const waiting = await database.pool.query(
        `select from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock' and backend_start > $1`,
        [begun],
      )
      return waiting.rowCount !== 0 || child.exitCode !== null
    })
    child.kill('SIGINT')
    const { code, stderr } = await ended
    await holder.query('rollback')
    expect([code, stderr]).toEqual([130, `SIGINT: stopped; ${goesOn}\n`])
  },
)
