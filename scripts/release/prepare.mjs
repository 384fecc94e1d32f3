// @ts-check
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { breaksOf } from './breaks.mjs'
import { changelogOf, unreleased, untold } from './changelog.mjs'
import { documentOf, git, migrationsOf, readReleases, releasesFile } from './record.mjs'

/**
 * Makes the working tree that of a release: the version in each manifest, the release in `docs/releases.json` and
 * CHANGELOG.md, a list of what it ships (CycloneDX) in `dist/release/`, whose path it returns. Commits nothing.
 *
 * Throws before anything is written when files are not committed, when the version is not above that of the last
 * release, when no change was told since, and when openapi.json would break what was written for the last release or has
 * something new that no change names. Of the first release nothing of before is asked.
 *
 * @param {string} root
 * @param {string} version
 * @param {{ changes: readonly import('./changelog.mjs').Change[], settings: string[], day: string }} current
 */
export function prepareRelease(root, version, { changes, settings, day }) {
  const releases = readReleases(root)
  const [last] = releases
  if (git(root, 'status', '--porcelain') !== '') throw new Error('commit or take away what has changed, then again')
  if (compared(version, last?.version ?? '0.0.0') <= 0) {
    throw new Error(`${version} is not above ${last?.version ?? '0.0.0'}${last ? ', the last release' : ''}`)
  }
  const open = unreleased(changes, releases)
  if (open.length === 0) {
    throw new Error(`no change was told${last ? ` since ${last.version}` : ''}: see api/changelog/changes.ts`)
  }
  if (last) refuseBreaks(root, last.version, open)

  const ids = open.map(({ id }) => id)
  const release = { version, day, changes: ids, migrations: migrationsOf(root), settings }
  writeJson(root, releasesFile, [release, ...releases])
  writeFileSync(join(root, 'CHANGELOG.md'), changelogOf(changes, [release, ...releases]))
  for (const file of ['package.json', 'client/package.json', 'ops/metrics.ts']) {
    const text = readFileSync(join(root, file), 'utf8')
    writeFileSync(join(root, file), text.replace(/(\bversion(?:": "| = '))[^"']*/, `$1${version}`))
  }
  const lock = readJson(root, 'package-lock.json')
  lock.version = version
  for (const name of ['', 'client']) lock.packages[name].version = version
  writeJson(root, 'package-lock.json', lock)
  return writeBill(root, version)
}

/**
 * Throws when openapi.json would break programs that were written for a release, or when no change tells what is new in it.
 * @param {string} root
 * @param {string} version
 * @param {readonly import('./changelog.mjs').Change[]} changes those since
 */
function refuseBreaks(root, version, changes) {
  const before = documentOf(root, version)
  const now = readJson(root, 'openapi.json')
  const breaks = breaksOf(before, now)
  if (breaks.length === 0) {
    const requests = untold(before, now, changes)
    if (requests.length === 0) return
    throw new Error(`no change names what differs from ${version}: ${requests.join(', ')}`)
  }
  const shown = breaks.map((line) => `  ${line}`).join('\n')
  throw new Error(`this would break programs that were written for ${version}:\n${shown}`)
}

/**
 * Writes the list of packages (CycloneDX) in a release's images, from package-lock.json; no registry is asked.
 * @param {string} root
 * @param {string} version
 */
function writeBill(root, version) {
  const args = [
    'sbom',
    '--prefix',
    root,
    '--package-lock-only',
    '--omit',
    'dev',
    '--omit',
    'optional',
    '--sbom-format',
    'cyclonedx',
  ]
  const bill = JSON.parse(execFileSync('npm', args, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 }))
  bill.metadata.component.name = readJson(root, 'package.json').name // npm tells the folder's
  const folder = join(root, 'dist/release')
  mkdirSync(folder, { recursive: true })
  const path = join(folder, `${bill.metadata.component.name}-${version}.cdx.json`)
  writeFileSync(path, `${JSON.stringify(bill, null, 2)}\n`)
  return path
}

/** Compares two versions: below zero when `one` is lower. @param {string} one @param {string} other */
function compared(one, other) {
  const [left, right] = [one, other].map((version) => {
    const parts = /^(\d+)\.(\d+)\.(\d+)$/.exec(version)
    if (!parts) throw new Error(`${version} is no version: three numbers, as 1.2.0`)
    return parts.slice(1).map(Number)
  })
  const differences = (left ?? []).map((number, place) => number - (right?.[place] ?? 0))
  return differences.find((difference) => difference !== 0) ?? 0
}

/** @param {string} root @param {string} file */
function readJson(root, file) {
  return JSON.parse(readFileSync(join(root, file), 'utf8'))
}

/** @param {string} root @param {string} file @param {unknown} value */
function writeJson(root, file, value) {
  writeFileSync(join(root, file), `${JSON.stringify(value, null, 2)}\n`)
}
