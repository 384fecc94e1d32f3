// @ts-check
// npm run build: what a server runs, as plain JavaScript, without tests and the local world.
import { spawnSync } from 'node:child_process'
import { cpSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'
import { readArguments } from './arguments.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
/** Folders that are read at run time and not imported, so the compiler does not copy them. */
const data = ['db/schema', 'db/migrations', 'api/pages/assets']

const usage = `
npm run build [-- --out <folder>] [--without verify-proof]

Compiles the processes into the folder (dist), to be run as "node_modules/.bin/node dist/<room>/main.js": the Node of the lock
file. Next to them it puts verify-proof.mjs, a single file that runs anywhere by itself; an image without optional packages
cannot build that file and does not need it.

Records the commit for agent_directory_build_info in /metrics: COMMIT if it is set, for builds without a repository, else git's HEAD.
`
const values = readArguments(usage, { out: { type: 'string' }, without: { type: 'string' } })
if (values) build(resolve(root, values.out ?? 'dist'), values.without === 'verify-proof')

/**
 * @param {string} dist
 * @param {boolean} withoutVerifier
 */
function build(dist, withoutVerifier) {
  rmSync(dist, { recursive: true, force: true }) // files removed from the sources must not stay here
  const compiler = ['node_modules/typescript/bin/tsc', '--project', 'scripts/tsconfig.build.json', '--outDir', dist]
  // npm run check has the types checked; without that the compiler writes the same in a third of the time.
  compiler.push('--noCheck')
  if (spawnSync(process.execPath, compiler, { cwd: root, stdio: 'inherit' }).status !== 0) {
    process.exitCode = 1
    return
  }
  for (const folder of data) cpSync(join(root, folder), join(dist, folder), { recursive: true })
  writeFileSync(join(dist, 'commit'), `${commitOf(process.env.COMMIT)}\n`)
  if (!withoutVerifier) bundleVerifier(join(dist, 'verify-proof.mjs'))
  const files = readdirSync(dist, { recursive: true }).map(String)
  const mains = files.filter((file) => /(^|\/)main\.js$/.test(file)).sort()
  console.log(`${dist}: ${files.length} files; processes: ${mains.join(', ')}`)
}

/**
 * Commit of the sources; empty: unknown.
 * @param {string | undefined} given
 */
function commitOf(given) {
  if (given) return given
  const { stdout } = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' })
  return (stdout ?? '').trim()
}

/**
 * Bundles the check of proofs into one script that runs without this project.
 * @param {string} outfile
 */
function bundleVerifier(outfile) {
  const head = '// Checks the proof of a claim: node verify-proof.mjs --help. Needs Node 20 or newer and nothing else.'
  buildSync({
    absWorkingDir: root,
    entryPoints: ['trust/proof/main.ts'],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    external: ['isows'], // only a WebSocket client needs it, and the script makes none
    banner: { js: head },
    logLevel: 'warning',
  })
}
