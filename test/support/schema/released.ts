import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { commitOf, git, readReleases } from '../../../scripts/release/record.mjs'
import { root } from '../source-files.ts'

/** Undefined: nothing was released yet. */
export const lastRelease = readReleases(root).at(0)

/** Puts the last release's sources, with today's packages, into a folder; until there is a release, those of HEAD. */
export function checkOutRelease(folder: string): void {
  const commit = lastRelease ? commitOf(root, lastRelease.version) : 'HEAD'
  const archive = execFileSync('git', ['archive', commit], { cwd: root, maxBuffer: 1e9 })
  execFileSync('tar', ['-x', '-C', folder], { input: archive })
  git(folder, 'init', '--quiet') // its tests ask git for its files
  git(folder, 'add', '--all')
  // Packages alone: what is compiled into node_modules/.cache is of one version.
  const packages = join(root, 'node_modules')
  const theirs = join(folder, 'node_modules')
  mkdirSync(theirs)
  for (const name of readdirSync(packages)) {
    if (name !== '.cache') symlinkSync(join(packages, name), join(theirs, name))
  }
}
