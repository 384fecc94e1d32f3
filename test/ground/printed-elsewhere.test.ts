import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { runMain } from '../support/mains.ts'
import { root } from '../support/source-files.ts'
import { elsewhereOf, printedCommands } from './printed-commands.ts'

// What can be said of printed commands that no test runs as they stand.

const read = (path: string) => readFileSync(join(root, path), 'utf8')
const { scripts }: { scripts: Record<string, string> } = JSON.parse(read('package.json'))
const compose = parse(read('docker-compose.yml'), { merge: true })
const commands = [...new Set(printedCommands.filter(({ command }) => elsewhereOf(command)).map((one) => one.command))]
const beginning = (words: string) => commands.filter((command) => command.startsWith(`${words} `))

test('a shell reads each printed command', () => {
  const input = printedCommands.map(({ command }) => `${command}\n`).join('')
  expect(spawnSync('/bin/sh', ['-n'], { input, encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' })
})

/** Entries with the arguments that are printed for them, of commands that begin where no test can end them. */
const given = commands.flatMap((command) => {
  const npm = /^(?:[A-Z_]+=\S+ )?npm run ([\w:]+) -- (.+)$/.exec(command)
  const built = /\bnode dist\/(\S+)\.js (.+)$/.exec(command)
  const [entry, args] = npm
    ? [scripts[npm[1] as string]?.split(' ').at(-1), npm[2]]
    : built
      ? [`${built[1]}.ts`, built[2]]
      : []
  return entry && args ? [{ command, entry, args }] : []
})

test('there are commands with arguments to look at', () => {
  expect(given.map(({ entry }) => entry)).toEqual(
    expect.arrayContaining(['processors/backfill/main.ts', 'processors/reset/main.ts', 'export/archive/main.ts']),
  )
})

test.for(given)('the arguments are taken: $command', async ({ entry, args }) => {
  const folder = mkdtempSync(join(tmpdir(), 'printed-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const { code, stderr } = await runMain(entry, args.split(' '), {
    cwd: folder,
    env: {
      DATABASE_URL: 'postgres://127.0.0.1:9/nowhere',
      HUB_URL: 'http://127.0.0.1:9',
      BASE_URL: 'https://agents.example',
      EXPORT_DIR: folder,
      CLAIMS_DIR: folder,
    },
  })
  // It went on to what is not there: a database, a copy.
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.not.stringContaining('--help') })
  expect(stderr).toMatch(/ECONNREFUSED|^\/var\/lib\/agent-directory\/backup\/\S+ /)
})

test.for(beginning('docker compose'))('Compose knows what is named: %s', (command) => {
  const [sub, ...words] = command.split(' ').slice(2)
  expect(['up', 'down', 'ps', 'logs', 'run', 'start', 'stop']).toContain(sub)
  const [service, program, main] = words.filter((word) => !word.startsWith('--'))
  if (service !== undefined) expect(Object.keys(compose.services)).toContain(service)
  if (program === undefined) return
  expect([sub, program]).toEqual(['run', 'node'])
  expect(existsSync(join(root, main?.replace(/^dist\/(.*)\.js$/, '$1.ts') ?? ''))).toBe(true)
})

test('the copy of a backup is put in place as printed', () => {
  const [command = ''] = beginning('docker run')
  const mounts = [...command.matchAll(/--volume (\w[\w-]*)_(\w+):(\/\w+)/g)].map(([, project, volume, at]) => {
    // Compose names the project after the folder that it was cloned into.
    expect(beginning('git clone')[0]).toMatch(new RegExp(`/${project}$`))
    expect(Object.keys(compose.volumes)).toContain(volume)
    return { volume, at: at as string }
  })
  expect(mounts.map(({ volume }) => volume)).toEqual(['postgres', 'backup'])
  expect(command).toContain(` ${compose.services.postgres.image} sh -ec `)
  const place = mkdtempSync(join(tmpdir(), 'put-back-'))
  onTestFinished(() => rmSync(place, { recursive: true }))
  mkdirSync(join(place, 'to/18/docker'), { recursive: true })
  writeFileSync(join(place, 'to/18/docker/lost'), '')
  mkdirSync(join(place, 'from/2026-11-22T030000Z/data'), { recursive: true })
  writeFileSync(join(place, 'from/2026-11-22T030000Z/data/PG_VERSION'), '18\n')
  writeFileSync(join(place, 'chown'), '#!/bin/sh\ntest -e "$3"\n', { mode: 0o755 }) // there is no user of that name here
  const [, script = ''] = /sh -ec '(.*)'$/.exec(command) ?? []
  const { status, stderr } = spawnSync('/bin/sh', ['-ec', script.replaceAll(/(?<= )\/(?=to|from)/g, `${place}/`)], {
    env: { PATH: `${place}:${process.env.PATH}` },
    encoding: 'utf8',
  })
  expect([status, stderr]).toEqual([0, ''])
  expect(readdirSync(join(place, 'to/18/docker'))).toEqual(['PG_VERSION'])
  expect(readdirSync(join(place, 'to/18.lost/docker'))).toEqual(['lost'])
})

test('files of the installation are put where they are read, with their modes', () => {
  const place = mkdtempSync(join(tmpdir(), 'installed-'))
  onTestFinished(() => rmSync(place, { recursive: true }))
  for (const folder of ['etc/systemd/system', 'etc/postgresql/18/main/conf.d'])
    mkdirSync(join(place, folder), { recursive: true })
  writeFileSync(join(place, '.env'), '')
  const installs = beginning('install')
  expect(installs.length).toBeGreaterThan(2)
  for (const command of installs) {
    const here = command.replace(/ (\.env) /, ` ${place}/$1 `).replaceAll(/ \/etc\//g, ` ${place}/etc/`)
    const { status, stderr } = spawnSync('/bin/sh', ['-c', here], { cwd: root, encoding: 'utf8' })
    expect([command, status, stderr]).toEqual([command, 0, ''])
  }
  expect(readdirSync(join(place, 'etc/systemd/system')).sort()).toEqual(
    readdirSync(join(root, 'deploy/systemd')).sort(),
  )
  expect(readdirSync(join(place, 'etc/postgresql/18/main/conf.d'))).toEqual(['24gb.conf', 'common.conf'])
  const read = [...new Set(readdirSync(join(place, 'etc/systemd/system')).flatMap(environmentFiles))]
  expect(read).toEqual(['/etc/agent-directory.env'])
  expect(existsSync(join(place, ...read))).toBe(true)
  const enabled = beginning('systemctl').flatMap((command) => /agent-directory\.\w+/.exec(command) ?? [])
  expect(enabled).toEqual(['agent-directory.target'])
})

/** Files with settings that a unit reads. */
function environmentFiles(unit: string): string[] {
  const text = read(`deploy/systemd/${unit}`)
  return [...text.matchAll(/^EnvironmentFile=(\S+)$/gm)].map(([, path]) => path as string)
}
