import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const root = fileURLToPath(new URL('../..', import.meta.url))
const run = promisify(execFile)

/** Environment of a person's shell: without the variables that npm and Vitest add for the tests. */
export const shell: NodeJS.ProcessEnv = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_OPTIONS$|VITEST)/.test(name))),
  PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`,
  npm_config_cache: join(root, '.data/npm-cache'), // the user who runs the tests may have no home
}

/**
 * A project with this project's bootstrap, one package and one entry, as a fresh clone: nothing is installed.
 *
 * The package's install script hangs until the file that TOY_HANGS names exists. The entry prints its arguments and
 * does what the first one says: `exit <code>`, `die`, or `wait` until SIGTERM, printing each signal.
 */
export async function createToy(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'agent-directory-toy-'))
  await mkdir(join(folder, 'ops'))
  await cp(join(root, 'scripts'), join(folder, 'scripts'), { recursive: true })
  await cp(join(root, 'ops/lock.mjs'), join(folder, 'ops/lock.mjs'))
  await writeFile(join(folder, 'entry.mjs'), entry)
  await packToy(folder, '1.0.0')
  return folder
}

/** Sets the package's version in the manifest and the lock file, as a git pull would; nothing is installed. */
export async function packToy(folder: string, version: string) {
  const work = await mkdtemp(join(tmpdir(), 'agent-directory-package-'))
  const scripts = { install: 'node install.js' }
  const project = {
    name: 'project',
    type: 'module',
    scripts: { entry: 'exec node scripts/bootstrap.mjs entry.mjs' },
    dependencies: { toy: `file:toy-${version}.tgz` },
  }
  await mkdir(join(work, 'toy'))
  await writeFile(join(work, 'toy/package.json'), JSON.stringify({ name: 'toy', version, scripts }))
  await writeFile(join(work, 'toy/index.js'), `export const version = '${version}'\n`)
  await writeFile(join(work, 'toy/install.js'), hangingInstaller)
  await writeFile(join(work, 'package.json'), JSON.stringify(project))
  await run('npm', ['pack', '--silent', './toy'], { cwd: work, env: shell })
  await run('npm', ['install', '--package-lock-only', '--silent'], { cwd: work, env: shell })
  await rm(join(work, 'toy'), { recursive: true })
  await cp(work, folder, { recursive: true })
  await rm(work, { recursive: true })
}

/** Starts a command in the toy. `ended`: its code, signal and output once it is over; `said()`: its stderr so far. */
export function runToy(folder: string, command: string, args: string[], env: NodeJS.ProcessEnv = shell) {
  const child = spawn(command, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text))
  const ended = once(child, 'close').then(([code, signal]) => ({
    code: code as number | null,
    signal: signal as string | null,
    stdout,
    stderr,
  }))
  return { child, ended, said: () => stderr }
}

const hangingInstaller = `
if (process.env.TOY_HANGS) {
  const { existsSync, writeFileSync } = require('node:fs')
  writeFileSync('hanging', '')
  setInterval(() => existsSync(process.env.TOY_HANGS) && process.exit(), 20)
}
`

const entry = `
import { appendFileSync, writeFileSync } from 'node:fs'
const [what, argument] = process.argv.slice(2)
console.log(JSON.stringify({ args: process.argv.slice(2), nodeOptions: process.env.NODE_OPTIONS ?? null }))
if (what === 'exit') process.exitCode = Number(argument)
if (what === 'die') process.kill(process.pid, 'SIGKILL')
if (what === 'wait') {
  process.on('SIGINT', () => {
    console.log('SIGINT')
    appendFileSync('interrupts', '.')
  })
  process.on('SIGTERM', () => {
    console.log('SIGTERM')
    writeFileSync('stopped', '')
    process.exit(3)
  })
  setInterval(() => {}, 1000)
  writeFileSync('waiting', String(process.pid))
}
`
