// @ts-check
// npm run build: what a server runs, as plain JavaScript below dist/, without tests and the local world.
import { spawnSync } from 'node:child_process'
import { cpSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = join(root, 'dist')
/** Read at run time, not imported, so the compiler does not carry them along. */
const data = ['db/migrations']

if (process.argv.includes('--help')) {
  console.log('npm run build\n\nCompiles the processes to dist/, to be run as "node dist/<room>/main.js".')
} else if (process.argv.length > 2) {
  console.error(`npm run build takes no arguments; ${process.argv[2]} is not one (--help shows what it does)`)
  process.exitCode = 2
} else {
  build()
}

function build() {
  rmSync(dist, { recursive: true, force: true }) // what has left the sources must leave dist
  const compiler = ['node_modules/typescript/bin/tsc', '--project', 'tsconfig.build.json']
  if (spawnSync(process.execPath, compiler, { cwd: root, stdio: 'inherit' }).status !== 0) {
    process.exitCode = 1
    return
  }
  for (const folder of data) cpSync(join(root, folder), join(dist, folder), { recursive: true })
  const files = readdirSync(dist, { recursive: true }).map(String)
  const mains = files.filter((file) => /(^|\/)(main|graphql)\.js$/.test(file)).sort()
  console.log(`dist: ${files.length} files; processes: ${mains.map((file) => `dist/${file}`).join(', ')}`)
}
