import { type ChildProcess, type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { parse } from 'yaml'
import { freePort } from '../../ops/ports.ts'
import { testDatabase } from '../support/database.ts'
import { root } from '../support/source-files.ts'
import { until } from '../support/until.ts'

// The images are built by buildah as root of this machine, without a container engine, and run on the host's network.
// Without access to an image registry, their base image is put together from packages of Debian and npm.

const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8')
const [, base = '', release = ''] = /^FROM (node:\d+-(\w+)-slim) AS base$/m.exec(dockerfile) ?? []
const compose: { services: Record<string, { command?: string[] }> } = parse(
  readFileSync(join(root, 'docker-compose.yml'), 'utf8'),
  { merge: true },
)
const anyMain = /\bdist\/\S*main\.js\b/g
/** What Compose starts, also from a shell: `dist/api/main.js`, say. */
const mains = new Set(
  Object.values(compose.services).flatMap(({ command = [] }) => command.flatMap((words) => words.match(anyMain) ?? [])),
)
const graphql = [...mains].filter(isGraphql)
const others = [...mains].filter((main) => !isGraphql(main))

/** The npm that the image node:24 has. */
const npm = 'npm@11.21.2'
/** Addresses that a process must be given when it serves clients outside its container. */
const known = { BASE_URL: 'https://api.directory.example', SITE_URL: 'https://directory.example' }
/** Timeout in milliseconds: next to other tests on two cores a build takes a quarter of an hour. */
const stepMs = 1_800_000

/** Image store of this test alone: the machine's own images and containers are neither seen nor retagged. */
const store = mkdtempSync(join(inject('runFolder'), 'images-'))
const storage = ['--root', join(store, 'root'), '--runroot', join(store, 'run')]
const buildahEnv = { ...process.env, BUILDAH_ISOLATION: 'chroot' }
/** Folder of this machine's trusted CA certificates: a proxy before npm's registry may need them. */
const authorities = '/etc/ssl/certs'
/** npm needs up to a thousand open files, about as many as buildah allows. */
const files = ['--ulimit', 'nofile=4096:4096']
const trusting = [
  '--volume',
  `${authorities}:${authorities}:ro`,
  '--env',
  `NODE_EXTRA_CA_CERTS=${authorities}/ca-certificates.crt`,
]

const database = testDatabase()
let missing: string | undefined
beforeAll(async () => {
  missing = obstacle()
  if (missing) console.warn(`the images were not built: ${missing}`)
}, stepMs)
afterAll(async () => {
  buildah('rm', '--all')
  // Some storage drivers leave a mount behind.
  spawnSync('umount', [join(store, 'root/overlay')])
  rmSync(store, { recursive: true, force: true })
})

test('the Dockerfile and Compose tell what is built and started', () => {
  expect([base, release]).toEqual([expect.stringMatching(/^node:/), expect.stringMatching(/^\w+$/)])
  expect([graphql.length, others.length]).toEqual([1, 7])
})

test(
  'the image of the API and of every process that writes is built, and its processes run in it',
  async () => {
    if (missing) return
    const container = build([])
    expect(run(container, ['id', '--user']).stdout).toBe('1000\n')
    for (const main of others) expect(run(container, ['node', main, '--help']), main).toMatchObject({ status: 0 })

    await database.pool.query('drop schema public, directory cascade; create schema public')
    const migrated = run(container, ['node', 'dist/db/main.js'], { DATABASE_URL: database.url })
    expect(migrated, migrated.stderr).toMatchObject({ status: 0, stdout: expect.stringMatching(/^applied schema/) })
    const served = run(container, ['node', 'dist/export/main.js', '--served'], {
      ...known,
      DATABASE_URL: database.url,
      EXPORT_DIR: '/var/lib/agent-directory/exports',
    })
    expect(served, served.stderr).toMatchObject({ status: 0, stdout: expect.stringMatching(/new files$/m) })
    await answersFor(container, 'dist/api/main.js', 'PORT')
  },
  stepMs,
)

test(
  'the image of GraphQL is built, and answers',
  async () => {
    if (missing) return
    await answersFor(build(['--target', 'graphql']), graphql[0] as string, 'GRAPHQL_PORT')
  },
  stepMs,
)

/** Why this machine cannot build images, in one line; undefined when it can. */
function obstacle(): string | undefined {
  if (!has('buildah')) return 'there is no buildah'
  try {
    if (buildah('pull', base).status !== 0) composeBase()
    const container = outputOf(buildah('from', '--pull=false', base)).trim()
    outputOf(buildah('run', ...trusting, container, '--', 'npm', 'view', 'express', 'version'))
    return undefined
  } catch (error) {
    return (error as Error).message.split('\n', 1)[0]
  }
}

/** Builds the base image from packages into the store; throws when this machine cannot. */
function composeBase() {
  const files = join(store, 'debian')
  const local = join(files, 'usr/local')
  succeed('debootstrap', '--variant=minbase', release, files)
  mkdirSync(join(local, 'lib/node_modules'), { recursive: true })
  copyFileSync(join(root, `node_modules/node-linux-${process.arch}/bin/node`), join(local, 'bin/node'))
  succeed('npm', 'install', '--silent', '--global', '--prefix', local, npm)
  succeed('chroot', files, 'useradd', '--uid', '1000', '--create-home', 'node')
  const container = outputOf(buildah('from', 'scratch')).trim()
  outputOf(buildah('add', '--quiet', container, files, '/'))
  rmSync(files, { recursive: true })
  outputOf(buildah('commit', '--quiet', '--rm', container, `docker.io/library/${base}`))
}

/** Builds an image; returns the name of a container made from it. */
function build(more: readonly string[]): string {
  const image = ['localhost/directory', ...more].join('')
  const how = ['--layers', '--pull=false', '--format', 'docker', ...files, ...trusting]
  outputOf(buildah('build', ...how, ...more, '--tag', image, '.'))
  return outputOf(buildah('from', '--pull=false', image)).trim()
}

/** Starts a serving process, waits for /healthz, runs the image's health check on it, and ends it. */
async function answersFor(container: string, main: string, portVariable: string) {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const env = { DATABASE_URL: database.url, [portVariable]: String(port), ...known }
  const child = spawn('buildah', runOf(container, ['node', main], env), { env: buildahEnv, stdio: 'pipe' })
  const said = outputWhile(child)
  try {
    await until(`${main} answers`, async () => {
      if (child.exitCode !== null) throw new Error(`${main} ended: ${said()}`)
      return (await fetch(`${url}/healthz`).catch(() => undefined))?.status === 200
    })
    const { Docker } = JSON.parse(outputOf(buildah('inspect', '--type', 'container', container)))
    const [kind, ...check] = Docker.config.Healthcheck.Test
    expect(kind).toBe('CMD')
    expect(run(container, check, env), said()).toMatchObject({ status: 0 })
  } finally {
    if (child.exitCode === null) {
      child.kill('SIGTERM')
      await once(child, 'exit')
    }
  }
}

function outputWhile(child: ChildProcess): () => string {
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (piece) => (output += piece))
  return () => output
}

function isGraphql(main: string): boolean {
  return main.includes('/graphql/')
}

function has(command: string): boolean {
  return spawnSync(command, ['--version']).error === undefined
}

function buildah(...args: string[]) {
  return spawnSync('buildah', [...storage, ...args], { cwd: root, env: buildahEnv, encoding: 'utf8' })
}

/** Arguments of buildah that run a command in a container, as the user the image names. */
function runOf(container: string, command: readonly string[], env: Readonly<Record<string, string>>): string[] {
  const variables = Object.entries(env).flatMap(([name, value]) => ['--env', `${name}=${value}`])
  return [...storage, 'run', ...trusting, ...variables, container, '--', ...command]
}

function run(container: string, command: readonly string[], env: Readonly<Record<string, string>> = {}) {
  return spawnSync('buildah', runOf(container, command, env), { env: buildahEnv, encoding: 'utf8' })
}

function outputOf({ error, status, stdout, stderr }: SpawnSyncReturns<string>): string {
  if (error) throw error
  if (status !== 0) throw new Error(stderr + stdout)
  return stdout
}

function succeed(command: string, ...args: string[]) {
  outputOf(spawnSync(command, args, { encoding: 'utf8' }))
}
