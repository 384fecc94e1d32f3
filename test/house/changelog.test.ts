import { expect, test } from 'vitest'
import { apiChanges } from '../../api/routes/developers/changes.ts'
import { changelogOf } from '../../scripts/release/changelog.mjs'
import { readReleases } from '../../scripts/release/record.mjs'
import { root } from '../support/source-files.ts'

test('CHANGELOG.md tells what the API and the releases tell; `npx vitest run test/house/changelog.test.ts -u` writes it', async () => {
  await expect(changelogOf(apiChanges, readReleases(root))).toMatchFileSnapshot('../../CHANGELOG.md')
})

test('a release names changes that there are, each in one release', () => {
  const named = readReleases(root).flatMap(({ changes }) => changes)
  expect(named.filter((id) => !apiChanges.some((change) => change.id === id))).toEqual([])
  expect(new Set(named).size).toBe(named.length)
})
