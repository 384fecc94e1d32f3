// @ts-check
// npm run build: what a server runs, as plain JavaScript, without tests and the local world.
import { spawnSync } from 'node:child_process'
import { cpSync, readdirSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readArguments } from './arguments.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
/** Read at run time, not imported, so the compiler does not carry them along. */
const data = ['db/migrations', 'api/pages/assets']

const usage = `
npm run build [-- --out <folder>]

Compiles the processes into the folder (dist), to be run as "node dist/<room>/main.js".
`
const values = readArguments(usage, { out: { type: 'string' } })
if (values) build(resolve(root, values.out ?? 'dist'))

/** @param {string} dist */
function build(dist) {
  rmSync(dist, { recursive: true, force: true }) // what has left the sources must leave here too
  const compiler = ['node_modules/typescript/bin/tsc', '--project', 'tsconfig.build.json', '--outDir', dist]
  if (spawnSync(process.execPath, compiler, { cwd: root, stdio: 'inherit' }).status !== 0) {
    process.exitCode = 1
    return
  }
  for (const folder of data) cpSync(join(root, folder), join(dist, folder), { recursive: true })
  const files = readdirSync(dist, { recursive: true }).map(String)
  const mains = files.filter((file) => /(^|\/)main\.js$/.test(file)).sort()
  console.log(`${dist}: ${files.length} files; processes: ${mains.join(', ')}`)
}
