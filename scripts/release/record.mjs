// @ts-check
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Where the releases are listed, newest first. */
export const releasesFile = 'docs/releases.json'

/** @typedef {import('./changelog.mjs').Release} Release */

/** @param {string} root @returns {Release[]} */
export function readReleases(root) {
  return JSON.parse(readFileSync(join(root, releasesFile), 'utf8'))
}

/** Names of all migrations there are. @param {string} root */
export function migrationsOf(root) {
  return readdirSync(join(root, 'db/migrations'))
    .filter((name) => name.endsWith('.sql'))
    .sort()
}

/**
 * The commit of a release: the one that listed it. In a clone without that history it is the oldest commit there is.
 * @param {string} root
 * @param {string} version
 */
export function commitOf(root, version) {
  const listed = ['log', '--format=%H', '--reverse', `-S"version": "${version}"`, '--', releasesFile]
  const [commit] = git(root, ...listed).split('\n')
  if (!commit) throw new Error(`no commit lists release ${version} in ${releasesFile}`)
  return commit
}

/**
 * The OpenAPI document of a release.
 * @param {string} root
 * @param {string} version
 */
export function documentOf(root, version) {
  return JSON.parse(git(root, 'show', `${commitOf(root, version)}:openapi.json`))
}

/** @param {string} root @param {string[]} args */
export function git(root, ...args) {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 }).trim()
}
