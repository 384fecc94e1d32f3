import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type ApiChange, apiChanges } from '../../api/changelog/changes.ts'
import { changelogOf, type Release } from '../../scripts/release/changelog.mjs'
import { readReleases } from '../../scripts/release/record.mjs'
import { root } from '../support/source-files.ts'

test('CHANGELOG.md tells what the API and the releases tell; `npx vitest run test/house/changelog.test.ts -u` writes it', async () => {
  await expect(changelogOf(apiChanges, readReleases(root))).toMatchFileSnapshot('../../CHANGELOG.md')
})

test('the program, the client and the last release, once there is one, are of one version', () => {
  const read = (path: string) => readFileSync(join(root, path), 'utf8')
  const versions = ['package.json', 'client/package.json'].map((path) => JSON.parse(read(path)).version)
  const last = readReleases(root)[0]?.version ?? versions[0]
  expect([...versions, /version = '(.*)'/.exec(read('ops/metrics.ts'))?.[1]]).toEqual(Array(3).fill(last))
})

/** What releases say of changes that cannot be: a line each. */
function wrongIn(releases: readonly Release[], changes: readonly ApiChange[]): string[] {
  const named = releases.flatMap(({ version, changes }) => changes.map((id) => ({ version, id })))
  return named.flatMap(({ version, id }, place) => {
    if (!changes.some((change) => change.id === id)) return [`${version} names ${id}, which is no change`]
    const other = named.slice(0, place).find((one) => one.id === id)
    return other ? [`${version} names ${id}, as ${other.version} does`] : []
  })
}

test('a release names changes that there are, each in one release', () => {
  expect(wrongIn(readReleases(root), apiChanges)).toEqual([])
})

test('the check of what releases name sees a change that is gone, and one that was released twice', () => {
  const release = (version: string, changes: string[]) => ({
    version,
    day: '2027-01-01',
    changes,
    migrations: [],
    settings: [],
  })
  const [{ id }] = apiChanges as [ApiChange]
  expect(wrongIn([release('0.3.0', [id]), release('0.2.0', ['gone']), release('0.1.0', [id])], apiChanges)).toEqual([
    '0.2.0 names gone, which is no change',
    `0.1.0 names ${id}, as 0.3.0 does`,
  ])
})
