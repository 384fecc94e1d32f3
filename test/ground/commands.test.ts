import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runMain } from '../support/mains.ts'
import { root } from '../support/source-files.ts'

const entries = Object.entries(scripts()).map(([name, command]) => ({
  name,
  entry: command.replace('exec node scripts/bootstrap.mjs ', ''),
}))
/** All but the tests, whose arguments are vitest's. */
const strict = entries.filter(({ name }) => name !== 'test')

test('every command goes through the bootstrap, in place of the shell', () => {
  expect(scripts()).toHaveProperty('start')
  for (const command of Object.values(scripts())) {
    expect(command).toMatch(/^exec node scripts\/bootstrap\.mjs [\w/.-]+\.(ts|mjs)$/)
  }
})

test.for(entries)('npm run $name -- --help says how it is used', async ({ name, entry }) => {
  const { code, stdout, stderr } = await runMain(entry, ['--help'])
  expect(stderr).toBe('')
  expect(stdout).toMatch(new RegExp(`^.*npm (run )?${name}\\b`)) // in the first line
  expect(code).toBe(0)
})

test.for(strict)('npm run $name -- --nonsense is one line and exit code 2', async ({ entry }) => {
  const { code, stdout, stderr } = await runMain(entry, ['--nonsense'])
  expect(stderr).toMatch(/^[^\n]*--nonsense[^\n]*--help[^\n]*\n$/)
  expect(stdout).toBe('')
  expect(code).toBe(2)
})

test.for(strict)('npm run $name -- nonsense is one line and exit code 2', async ({ entry }) => {
  const { code, stderr } = await runMain(entry, ['nonsense'])
  expect(stderr).toMatch(/^[^\n]*nonsense[^\n]*\n$/)
  expect(code).toBe(2)
})

test('without redis-server, and no way to install it, npm test says in one line what to install', () => {
  const test = spawnSync(process.execPath, ['scripts/test.mjs'], { cwd: root, env: { PATH: '' }, encoding: 'utf8' })
  expect(test.stderr).toMatch(/^the tests need redis-server on the path: [^\n]*apt-get install redis-server[^\n]*\n$/)
  expect(test).toMatchObject({ stdout: '', status: 1 })
})

test('a command that only works on what is stored creates no embedded database', () => {
  const creating = entries
    .filter(({ entry }) => /\bopenDatabase\([^)]*\)/.test(readFileSync(join(root, entry), 'utf8')))
    .map(({ name }) => name)
  expect(creating).toEqual(['start:mainnet', 'migrate', 'processor', 'backfill', 'restore', 'enrichment', 'docs:sql'])
})

function scripts(): Record<string, string> {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).scripts
}
