import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { migrationsOf, readReleases } from '../../scripts/release/record.mjs'
import { root } from '../support/source-files.ts'

/**
 * Rules of squawk that do not fit: the runner sets the timeouts, and it takes what it runs outside a transaction away
 * before it makes it again; blocks and counts of a chain fit an int where one stands; `char(1)` is of nobody's making.
 */
const excluded = [
  'ban-char-field',
  'prefer-bigint-over-int',
  'prefer-bigint-over-smallint',
  'prefer-robust-stmts',
  'require-timeout-settings',
]
const [first] = readReleases(root).slice(-1)
const added = migrationsOf(root).filter((name) => !first!.migrations.includes(name))

/** What squawk says about a migration, a line each; a `-- squawk-ignore <rule>` above a statement takes one away. */
function problemsOf(sql: string): string[] {
  const inTransaction = sql.startsWith('-- outside a transaction\n') ? [] : ['--assume-in-transaction']
  const rules = excluded.flatMap((rule) => ['--exclude', rule])
  const args = ['--pg-version', '15', ...inTransaction, ...rules, '--reporter', 'gcc', '--stdin-filepath', 'migration']
  const squawk = join(root, 'node_modules/squawk-cli/js/bin/squawk')
  const { stdout, error } = spawnSync(process.execPath, [squawk, ...args], { input: sql, encoding: 'utf8' })
  if (error) throw error
  return stdout.split('\n').filter((line) => line.startsWith('migration:'))
}

test('a migration since the first release keeps nobody waiting, as far as squawk can tell', () => {
  const problems = added.flatMap((name) => {
    const sql = readFileSync(join(root, 'db/migrations', name), 'utf8')
    return problemsOf(sql).map((problem) => `${name} ${problem}`)
  })
  expect(problems).toEqual([])
})

test('squawk objects to what reads or rewrites a table under its lock, and not to what does not', () => {
  const bad = ['create index a on settlement (amount);', 'alter table settlement add check (amount > 0);']
  for (const sql of bad) expect(problemsOf(sql), sql).toHaveLength(1)
  const good = [
    'alter table settlement add column more text;',
    'alter table settlement add constraint a check (amount > 0) not valid;',
    '-- outside a transaction\ndrop index concurrently if exists a;\ncreate index concurrently a on settlement (amount);',
    '-- squawk-ignore require-concurrent-index-creation\ncreate index a on settlement (amount);',
  ]
  for (const sql of good) expect(problemsOf(sql), sql).toEqual([])
})

test('what was released stays as it was released: by name', () => {
  expect(first!.migrations.filter((name) => !migrationsOf(root).includes(name))).toEqual([])
})
