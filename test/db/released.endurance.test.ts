import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, inject, onTestFinished, test } from 'vitest'
import { commitOf, readReleases } from '../../scripts/release/record.mjs'
import { root } from '../support/source-files.ts'

// A rollout migrates first: until it is over, and after it was rolled back, the last release runs on today's schema.

const config = (database: object) => `export default {
  cacheDir: '.cache',
  test: { include: ['test/api/golden.test.ts'], testTimeout: 300_000, hookTimeout: 300_000, provide: ${JSON.stringify(database)} },
}
`

test('the last release answers as it did, on the schema of today', () => {
  const folder = mkdtempSync(join(tmpdir(), 'agent-directory-release-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const [last] = readReleases(root)
  const archive = execFileSync('git', ['archive', commitOf(root, last!.version)], { cwd: root, maxBuffer: 1e9 })
  execFileSync('tar', ['-x', '-C', folder], { input: archive })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  const database = { databaseServer: inject('databaseServer'), databaseTemplate: inject('databaseTemplate') }
  writeFileSync(join(folder, 'vitest.config.ts'), config(database))
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST')))
  const { status, stdout, stderr } = spawnSync(process.execPath, [vitest, 'run', '--no-color'], {
    cwd: folder,
    env: { ...env, CI: 'true' }, // snapshots are compared, not written
    encoding: 'utf8',
  })
  const counted = /Tests .*/.exec(stdout)?.[0] ?? ''
  expect([status, counted], stdout + stderr).toEqual([0, expect.stringMatching(/\d+ passed/)])
})
