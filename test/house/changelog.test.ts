import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { apiChanges } from '../../api/changelog/changes.ts'
import { changelogOf } from '../../scripts/release/changelog.mjs'
import { readReleases } from '../../scripts/release/record.mjs'
import { root } from '../support/source-files.ts'

test('CHANGELOG.md tells what the API and the releases tell; `npx vitest run test/house/changelog.test.ts -u` writes it', async () => {
  await expect(changelogOf(apiChanges, readReleases(root))).toMatchFileSnapshot('../../CHANGELOG.md')
})

test('the program, the client and the last release, once there is one, are of one version', () => {
  const read = (path: string) => readFileSync(join(root, path), 'utf8')
  const versions = ['package.json', 'client/package.json'].map((path) => JSON.parse(read(path)).version)
  const last = readReleases(root)[0]?.version ?? versions[0]
  expect([...versions, /version = '(.*)'/.exec(read('ops/build.ts'))?.[1]]).toEqual(Array(3).fill(last))
})

test('a release names changes that there are, each in one release', () => {
  const named = readReleases(root).flatMap(({ changes }) => changes)
  expect(named.filter((id) => !apiChanges.some((change) => change.id === id))).toEqual([])
  expect(new Set(named).size).toBe(named.length)
})
