import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { chmod, cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { openCopy } from '../support/open-copy.ts'
import { until } from '../support/until.ts'
import { createToy, packToy, runToy, shell } from './toy-project.ts'

let clone: string
/** The clone after its first run. */
let installed: string
let toy: string
const leftovers: string[] = []

beforeAll(async () => {
  clone = await createToy()
  installed = await mkdtemp(join(tmpdir(), 'agent-directory-toy-'))
  await cp(clone, installed, { recursive: true })
  const { code, stderr } = await runToy(installed, process.execPath, ['scripts/bootstrap.mjs', 'entry.mjs']).ended
  expect(code, stderr).toBe(0)
})
afterAll(async () => {
  for (const folder of [clone, installed]) await rm(folder, { recursive: true, force: true })
})
beforeEach(async () => {
  toy = await mkdtemp(join(tmpdir(), 'agent-directory-toy-'))
  await cp(clone, toy, { recursive: true })
})
afterEach(async () => {
  for (const path of [toy, ...leftovers.splice(0)]) await rm(path, { recursive: true, force: true })
})

test('a fresh clone installs its packages and runs the entry, whose output stays its own', async () => {
  const { code, stdout, stderr } = await bootstrap('--help').ended
  expect(JSON.parse(stdout)).toEqual({ args: ['--help'], nodeOptions: null })
  expect(stderr).toMatch(/^installing packages: node_modules is missing …/)
  expect(code).toBe(0)
})

test('an installed clone says nothing and runs the entry at once', async () => {
  await install()
  const { stdout, stderr } = await bootstrap('--help').ended
  expect(JSON.parse(stdout).args).toEqual(['--help'])
  expect(stderr).toBe('')
})

test('packages somebody installed by hand are taken as they are', async () => {
  await promisify(execFile)('npm', ['ci', '--silent'], { cwd: toy, env: shell })
  expect((await bootstrap().ended).stderr).toBe('')
})

test('a lock file that asks for other packages is followed', async () => {
  await install()
  await packToy(toy, '2.0.0')
  const { stderr } = await bootstrap().ended
  expect(stderr).toMatch(/^installing packages: toy is not as package-lock\.json says …/)
  expect(await readFile(join(toy, 'node_modules/toy/index.js'), 'utf8')).toContain('2.0.0')
})

test('an install that was killed ends with its process and is repeated', async () => {
  const killed = bootstrapWith({ ...shell, TOY_HANGS: join(toy, 'never') })
  const hanging = join(toy, 'node_modules/toy/hanging')
  await until('npm installs', () => existsSync(hanging))
  killed.child.kill('SIGKILL')
  await killed.ended // once npm and its installers are gone too: they share its output
  const { code, stderr } = await bootstrap().ended
  expect(stderr).toMatch(/^installing packages: (an earlier install did not end|node_modules is missing) …/)
  expect(code).toBe(0)
})

test('of two that start at once one installs and the other waits for it', async () => {
  const env = { ...shell, TOY_HANGS: join(toy, 'go') }
  const started = [bootstrapWith(env, 'first'), bootstrapWith(env, 'second')]
  await until('one waits', () => started.some(({ said }) => said().includes('waiting for another install')))
  await writeFile(env.TOY_HANGS, '')
  const both = await Promise.all(started.map(({ ended }) => ended))
  expect(both.map(({ code }) => code)).toEqual([0, 0])
  const said = both.map(({ stderr }) => stderr)
  expect(said.filter((stderr) => stderr.includes('installing packages'))).toHaveLength(1)
  expect(said.filter((stderr) => stderr === 'waiting for another install …\n')).toHaveLength(1)
})

test('a failed install is one line and exit code 1', async () => {
  const lock = await readFile(join(toy, 'package-lock.json'), 'utf8')
  const otherHash = `sha512-${Buffer.alloc(64).toString('base64')}`
  await writeFile(join(toy, 'package-lock.json'), lock.replace(/sha512-[^"]+/, otherHash))
  const { code, stdout, stderr } = await bootstrap().ended
  expect(stderr).toMatch(/npm ci failed \(exit code \d+\); what it said is above\n$/)
  expect(stdout).toBe('')
  expect(code).toBe(1)
})

test('a plain user without a home installs, and one who may not write is told so in one line', async () => {
  const isRoot = process.getuid?.() === 0
  const open = await openCopy([])
  leftovers.push(open.folder)
  const project = join(open.folder, 'project')
  await cp(clone, project, { recursive: true })
  await chmod(project, 0o555)
  if (isRoot) await promisify(execFile)('chown', ['-R', 'nobody', project])
  const asPlainUser = () => {
    const command = isRoot ? ['setpriv', '--reuid=nobody', '--clear-groups', '--inh-caps=-all', open.node] : [open.node]
    const [program, ...args] = [...command, 'scripts/bootstrap.mjs', 'entry.mjs']
    return runToy(project, program as string, args, { PATH: shell.PATH }).ended
  }
  const refused = await asPlainUser()
  expect(refused.stderr).toMatch(/^packages have to be installed, but this user may not write to .*\n$/)
  expect(refused.code).toBe(1)
  await chmod(project, 0o755)
  expect(await asPlainUser()).toMatchObject({ code: 0 })
})

test('a Node that is too old is refused by one line', async () => {
  await writeFile(join(toy, 'old.cjs'), `Object.defineProperty(process, 'versions', { value: { node: '18.20.8' } })\n`)
  const { code, stderr } = await bootstrapWith({ ...shell, NODE_OPTIONS: `--require ${join(toy, 'old.cjs')}` }).ended
  expect(stderr).toBe('this project needs Node 20 or newer; this is Node 18.20.8\n')
  expect(code).toBe(1)
})

test('an entry that does not exist is refused by one line', async () => {
  const { code, stderr } = await runToy(toy, process.execPath, ['scripts/bootstrap.mjs', 'nothing.ts']).ended
  expect(stderr).toBe('usage: node scripts/bootstrap.mjs <entry> [arguments]; there is no entry nothing.ts\n')
  expect(code).toBe(1)
})

test('the exit code of the entry, or the signal that ended it, is passed through', async () => {
  await install()
  expect(await bootstrap('exit', '7').ended).toMatchObject({ code: 7, signal: null })
  expect(await bootstrap('die').ended).toMatchObject({ code: null, signal: 'SIGKILL' })
})

test('the options of Node that the caller set are the entry’s too', async () => {
  await install()
  const { stdout } = await bootstrapWith({ ...shell, NODE_OPTIONS: '--no-deprecation' }).ended
  expect(JSON.parse(stdout).nodeOptions).toBe('--no-deprecation')
})

test('an interrupt that comes from the terminal and from npm reaches the entry once, a later one again', async () => {
  await install()
  const { child, ended } = bootstrap('wait')
  await untilWaiting()
  child.kill('SIGINT')
  child.kill('SIGINT')
  await untilInterrupted(1)
  await delay(600) // longer than an echo takes
  child.kill('SIGINT')
  await untilInterrupted(2)
  child.kill('SIGTERM')
  const { code, stdout } = await ended
  expect(stdout.split('\n').slice(1, -1)).toEqual(['SIGINT', 'SIGINT', 'SIGTERM'])
  expect(code).toBe(3)
})

test('npm ends after the entry, with its exit code', async () => {
  await install()
  const { child, ended } = runToy(toy, 'npm', ['run', '--silent', 'entry', '--', 'wait'])
  await untilWaiting()
  child.kill('SIGTERM')
  const { code } = await ended
  expect(existsSync(join(toy, 'stopped'))).toBe(true)
  expect(code).toBe(3)
})

test('when the bootstrap is killed the entry stops in order', async () => {
  await install()
  const { child } = bootstrap('wait')
  await untilWaiting()
  child.kill('SIGKILL')
  await until('it has stopped', () => existsSync(join(toy, 'stopped')))
})

test('when npm is killed the entry stops in order', async () => {
  await install()
  const { child } = runToy(toy, 'npm', ['run', '--silent', 'entry', '--', 'wait'])
  await untilWaiting()
  child.kill('SIGKILL')
  await until('it has stopped', () => existsSync(join(toy, 'stopped')))
})

/** Copies the packages of the first run: an npm install takes a second, and its result is the same every time. */
function install() {
  return cp(join(installed, 'node_modules'), join(toy, 'node_modules'), { recursive: true, preserveTimestamps: true })
}

function bootstrap(...args: string[]) {
  return bootstrapWith(shell, ...args)
}

function bootstrapWith(env: NodeJS.ProcessEnv, ...args: string[]) {
  return runToy(toy, process.execPath, ['scripts/bootstrap.mjs', 'entry.mjs', ...args], env)
}

async function untilWaiting() {
  await until('the entry has started', () => existsSync(join(toy, 'waiting')))
}

async function untilInterrupted(times: number) {
  const file = join(toy, 'interrupts')
  await until('it was interrupted', () => existsSync(file) && readFileSync(file, 'utf8').length >= times)
}
