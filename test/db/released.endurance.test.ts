import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, inject, onTestFinished, test } from 'vitest'
import { checkOutRelease, lastRelease } from '../support/schema/released.ts'
import { root } from '../support/source-files.ts'

// A rollout migrates first: until it is over, and after it was rolled back, the last release runs on today's schema. Until
// there is a release, the last commit is put in its place and not run: all other tests run it on this schema.

/** Tests that run the release's programs: the API, a processor with a chain, and the enrichment job. */
const include = [
  'test/api/recorded/golden.test.ts',
  'test/chain/registrations.test.ts',
  'test/enrichment/process.test.ts',
]
const globalSetup = ['test/support/compile/sources.ts', 'test/support/compile/contracts.ts']

/** As the project's own configuration has them: an unknown tag is refused. */
const tags = [{ name: 'rounds' }]

const config = (provide: object) => `export default {
  cacheDir: '.cache',
  test: ${JSON.stringify({ include, globalSetup, tags, testTimeout: 900_000, hookTimeout: 900_000, provide })},
}
`

test('API, processor and enrichment of the last release do what they did, on the schema of today', () => {
  const folder = mkdtempSync(join(tmpdir(), 'agent-directory-release-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  checkOutRelease(folder)
  expect(include.filter((file) => !existsSync(join(folder, file)))).toEqual([])
  if (!lastRelease) return
  const provide = {
    databaseServer: inject('databaseServer'),
    databaseTemplate: inject('databaseTemplate'),
    runFolder: inject('runFolder'),
    endurance: false,
  }
  writeFileSync(join(folder, 'vitest.config.ts'), config(provide))
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(VITEST|ENDURANCE)/.test(name)))
  const { status, stdout, stderr } = spawnSync(process.execPath, [vitest, 'run', '--no-color'], {
    cwd: folder,
    env: { ...env, CI: 'true' }, // snapshots are compared, not written
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  const counted = /Tests .*/.exec(stdout)?.[0] ?? ''
  const files = /Test Files .*/.exec(stdout)?.[0] ?? ''
  expect([status, counted], stdout + stderr).toEqual([0, expect.stringMatching(/\d+ passed/)])
  expect(files).toContain(`${include.length} passed`)
})
