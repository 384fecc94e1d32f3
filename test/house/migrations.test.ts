import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Release } from '../../scripts/release/changelog.mjs'
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
const script = join(root, 'node_modules/squawk-cli/js/bin/squawk')
const [first] = readReleases(root).slice(-1)
const added = migrationsOf(root).filter((name) => !first?.migrations.includes(name))

/**
 * What squawk says about migrations, by name: one line a problem, which begins with the name. One start for all that run
 * in a transaction, and one for the others; a `-- squawk-ignore <rule>` above a statement takes a problem away.
 */
function problemsOf(migrations: Record<string, string>): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'agent-directory-squawk-'))
  try {
    for (const [name, sql] of Object.entries(migrations)) writeFileSync(join(folder, name), sql)
    const names = Object.keys(migrations)
    const isOutside = (name: string) => migrations[name]!.startsWith('-- outside a transaction\n')
    const inside = names.filter((name) => !isOutside(name))
    return [...squawk(folder, names.filter(isOutside)), ...squawk(folder, inside, '--assume-in-transaction')]
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function squawk(cwd: string, names: string[], ...options: string[]): string[] {
  if (names.length === 0) return []
  const rules = excluded.flatMap((rule) => ['--exclude', rule])
  const args = [script, '--pg-version', '15', ...options, ...rules, '--reporter', 'gcc', ...names]
  const { stdout, error } = spawnSync(process.execPath, args, { cwd, encoding: 'utf8' })
  if (error) throw error
  return stdout.split('\n').filter((line) => names.some((name) => line.startsWith(`${name}:`)))
}

test('a migration that the first release had not keeps nobody waiting, as far as squawk can tell', () => {
  const texts = added.map((name) => [name, readFileSync(join(root, 'db/migrations', name), 'utf8')])
  expect(problemsOf(Object.fromEntries(texts))).toEqual([])
})

test('squawk objects to what reads or rewrites a table under its lock, and not to what does not', () => {
  const bad = ['create index a on settlement (amount);', 'alter table settlement add check (amount > 0);']
  const named = (list: string[]) => Object.fromEntries(list.map((sql, number) => [`${number}.sql`, sql]))
  expect(problemsOf(named(bad)).map((line) => line.split(':')[0])).toEqual(['0.sql', '1.sql'])
  const good = [
    'alter table settlement add column more text;',
    'alter table settlement add constraint a check (amount > 0) not valid;',
    '-- outside a transaction\ndrop index concurrently if exists a;\ncreate index concurrently a on settlement (amount);',
    '-- squawk-ignore require-concurrent-index-creation\ncreate index a on settlement (amount);',
  ]
  expect(problemsOf(named(good))).toEqual([])
})

/** Migrations that releases had and that are not there any more. */
const goneOf = (releases: readonly Pick<Release, 'migrations'>[]) => {
  const there = migrationsOf(root)
  return releases.flatMap(({ migrations }) => migrations).filter((name) => !there.includes(name))
}

test('what was released stays as it was released: by name', () => {
  expect(goneOf(readReleases(root))).toEqual([])
  expect(goneOf([{ migrations: ['0001_gone.sql', ...migrationsOf(root)] }])).toEqual(['0001_gone.sql'])
})
