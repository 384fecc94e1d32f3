// @ts-check
// npm test: makes sure that redis-server, chromium and ip are there, then runs vitest with the given arguments.
import { spawnSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
/** Seconds that apt waits for the lock of another package tool. */
const aptLockSeconds = 300
/** Commands, and Debian packages, that report how Postgres, disks and Redis are to Prometheus. */
const exporters = ['postgres', 'node', 'redis'].map((name) => `prometheus-${name}-exporter`)

const args = process.argv.slice(2)
if (args.includes('--help')) {
  console.log(
    'npm test -- [files] [vitest options]\n\nRuns the tests, or those whose path contains one of the words; npm run test:endurance has those that take long.',
  )
} else {
  try {
    // The limiter's tests need a real Redis, the pages' a real browser: system packages, which npm does not have.
    ensure('redis-server')
    ensure('chromium')
    ensure('ip', 'iproute2') // the door's tests run in networks that lack something
    if (process.env.ENDURANCE === '1') {
      ensure('promtool', 'prometheus') // the checker of alerts
      wish('buildah', 'debootstrap', ...exporters)
    }
    // vitest runs in this process, so that a signal reaches it and it stops what the tests have started.
    process.chdir(root)
    process.argv.splice(2, 0, 'run')
    await import(new URL('../node_modules/vitest/vitest.mjs', import.meta.url).href)
  } catch (error) {
    console.error(/** @type {Error} */ (error).message)
    process.exitCode = 1
  }
}

/**
 * Installs a command from its package, by default the one of its name.
 * @param {string} command
 */
function ensure(command, name = command) {
  if (has(command)) return
  if (process.getuid?.() !== 0 || !has('apt-get')) {
    throw new Error(`the tests need ${command} on the path: "apt-get install ${name}", or its like, then again`)
  }
  console.error(`installing ${name} with apt-get …`)
  const apt = (/** @type {string[]} */ ...words) => {
    const lock = ['-q', '-o', `DPkg::Lock::Timeout=${aptLockSeconds}`]
    // The package must not start a server of its own: one word for sysvinit, one for systemd.
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1', SYSTEMD_OFFLINE: '1' }
    return spawnSync('apt-get', [...lock, ...words], { env, stdio: ['ignore', 2, 2] }).status === 0
  }
  const install = ['install', '-y', '--no-install-recommends', name]
  if (!apt(...install) && !(apt('update') && apt(...install))) {
    throw new Error(`apt-get could not install ${command}, which the tests need; what it said is above`)
  }
}

/**
 * Installs commands that a test can do without; prints a line for each that cannot be installed.
 * @param {string[]} commands
 */
function wish(...commands) {
  for (const command of commands) {
    try {
      ensure(command)
    } catch (error) {
      console.error(/** @type {Error} */ (error).message)
    }
  }
}

/** @param {string} command */
function has(command) {
  return (process.env.PATH ?? '').split(':').some((folder) => {
    try {
      accessSync(join(folder, command), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}
