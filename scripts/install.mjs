// @ts-check
import { accessSync, constants, existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { withLock } from '../ops/lock.mjs'
import { runChild } from './run.mjs'

/** Milliseconds to wait for another process's install, which may be on a slow line. */
const installWaitMs = 30 * 60_000

/**
 * Makes node_modules fit package-lock.json, running `npm ci` when it does not. Says so on standard error; silent when
 * there is nothing to do. Two at once: one installs, the other waits and finds it done.
 * @param {string} root
 * @throws one line saying what to do, when npm fails or may not write here
 */
export async function ensureInstalled(root) {
  if (misfit(root) === undefined) return
  const lock = { name: `install ${root}`, waitMs: installWaitMs, onWait: () => say('waiting for another install …') }
  await withLock(lock, async () => {
    const reason = misfit(root)
    if (reason === undefined) return
    refuseUnwritable(root)
    say(`installing packages: ${reason} …`)
    const started = Date.now()
    const { code, signal } = await npmCi(root)
    if (code !== 0) throw new Error(`npm ci failed (${signal ?? `exit code ${code}`}); what it said is above`)
    const still = misfit(root)
    if (still) throw new Error(`npm ci ended well, but ${still}; remove node_modules and try again`)
    say(`installed in ${Math.round((Date.now() - started) / 1000)} s`)
  })
}

/**
 * Why node_modules does not fit the lock file; undefined when it does.
 *
 * npm writes its own record of what it installed at the very end, so an interrupted install has none. Packages for
 * other platforms may be absent; an install without development packages does not fit.
 * @param {string} root
 */
function misfit(root) {
  const recordPath = join(root, 'node_modules/.package-lock.json')
  if (!existsSync(join(root, 'node_modules'))) return 'node_modules is missing'
  if (!existsSync(recordPath)) return 'an earlier install did not end'
  const wanted = packagesOf(join(root, 'package-lock.json'))
  const installed = packagesOf(recordPath)
  for (const [path, { version, integrity, optional }] of Object.entries(wanted)) {
    if (path === '') continue
    const there = installed[path]
    if (there ? there.version === version && there.integrity === integrity : optional) continue
    return `${path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)} is not as package-lock.json says`
  }
  return undefined
}

/**
 * @param {string} path
 * @returns {Record<string, { version?: string, integrity?: string, optional?: boolean }>}
 */
function packagesOf(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).packages
  } catch (cause) {
    throw new Error(`${path} is not readable as a lock file; run npm ci`, { cause })
  }
}

/** @param {string} root */
function npmCi(root) {
  const env = { ...process.env }
  // `npm run` puts node_modules/.bin first in the path; npm must not run on a node it is about to replace.
  const own = join(root, 'node_modules/.bin')
  env.PATH = (env.PATH ?? '')
    .split(':')
    .filter((folder) => folder !== own)
    .join(':')
  if (!isWritable(env.npm_config_cache ?? join(env.HOME ?? '/', '.npm'))) {
    env.npm_config_cache = join(root, '.data/npm-cache')
  }
  return runChild('npm', ['ci', '--include=dev', '--include=optional'], { cwd: root, env, isTool: true })
}

/** @param {string} root */
function refuseUnwritable(root) {
  const folder = join(root, 'node_modules')
  if (isWritable(folder)) return
  throw new Error(`packages have to be installed, but this user may not write to ${folder}; run "npm ci" as its owner`)
}

/**
 * Whether this user may write to a folder, or create it.
 * @param {string} folder
 */
function isWritable(folder) {
  let path = folder
  while (!existsSync(path) && path !== dirname(path)) path = dirname(path)
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** @param {string} line */
function say(line) {
  process.stderr.write(`${line}\n`)
}
