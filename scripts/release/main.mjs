// @ts-check
// npm run release: the version, the changelog and the list of what is shipped, if nothing breaks.
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readArguments } from '../arguments.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const usage = `
npm run release -- --version <version>

Prepares a release in the working tree: package.json, client/package.json, package-lock.json, ops/metrics.ts,
docs/releases.json and CHANGELOG.md, and in dist/release/ a list of what its images contain (CycloneDX). It commits and
publishes nothing.

It refuses, before anything is written: uncommitted changes, a version that is not above the last one, a release without a
change in the changelog, and an openapi.json that breaks programs written for the last release or has something new that no
change names. The first release begins these promises: nothing before it is compared.
`

const values = readArguments(usage, { version: { type: 'string' } })
if (values) {
  const { version } = values
  if (version === undefined) {
    console.error('--version <version> is missing (see --help)')
    process.exitCode = 2
  } else await release(version)
}

/** @param {string} version */
async function release(version) {
  // Later than the arguments: what is wrong with them is said at once.
  const { apiChanges } = await import('../../api/changelog/changes.ts')
  const { settings } = await import('../../config/settings.ts')
  const { prepareRelease } = await import('./prepare.mjs')
  const names = Object.values(settings).flatMap((group) => Object.keys(group))
  const day = new Date().toISOString().slice(0, 10)
  try {
    const bill = prepareRelease(root, version, { changes: apiChanges, settings: names, day })
    console.log(`The tree is that of ${version}; attach ${relative(root, bill)} to its images. Now:

  git commit --all --message "release: ${version}"
  git tag --sign v${version} --message ${version}
  git push --follow-tags`)
  } catch (error) {
    console.error(/** @type {Error} */ (error).message)
    process.exitCode = 1
  }
}
