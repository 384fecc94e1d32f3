import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { root } from '../support/source-files.ts'

interface Service {
  image?: string
  command?: string[]
  volumes?: (string | object)[]
  environment?: object
  profiles?: string[]
}

const read = (path: string) => readFileSync(join(root, path), 'utf8')
const compose: { services: Record<string, Service> } = parse(read('docker-compose.yml'), { merge: true })
const dockerfile = read('Dockerfile')

test('docker compose --profile backup copies the database of its own Postgres, after what a copy must hold', () => {
  const { backup, 'backup-contents': contents, postgres } = compose.services
  const inProfile = Object.keys(compose.services).filter((name) => compose.services[name]?.profiles?.includes('backup'))
  expect(inProfile.sort()).toEqual(['backup', 'backup-contents'])
  const begun = mkdtempSync(join(tmpdir(), 'begun-'))
  mkdirSync(join(begun, 'next'))
  writeFileSync(join(begun, 'next/contents.json'), '') // by a night whose copy did not begin
  writeFileSync(join(begun, 'node'), '#!/bin/sh\nls next 2>/dev/null\necho "$@"\n', { mode: 0o755 })
  const [sh, ...first] = (contents?.command ?? []).map((part) =>
    part.replaceAll('/var/lib/agent-directory/backup', begun),
  )
  const env = { ...process.env, PATH: `${begun}:${process.env.PATH}` }
  const [main, ...args] = spawnSync(sh as string, first, { cwd: begun, env, encoding: 'utf8' })
    .stdout.trim()
    .split(/\s+/)
  expect(existsSync(join(root, (main as string).replace(/^dist\/(.*)\.js$/, '$1.ts')))).toBe(true)
  expect(args).toEqual(['--out', join(begun, 'next'), '--contents'])
  rmSync(begun, { recursive: true })
  expect(contents?.environment).toEqual(compose.services.migrate?.environment)
  expect(backup).toMatchObject({
    image: postgres?.image, // a copy is made by tools of the server's version
    depends_on: { 'backup-contents': { condition: 'service_completed_successfully' } },
    network_mode: 'service:postgres',
  })
  const volume = 'backup:/var/lib/agent-directory/backup'
  expect([contents?.volumes?.includes(volume), backup?.volumes]).toEqual([true, [volume]])
  expect(dockerfile).toContain(`--owner 1000 --group 1000 /var/lib/agent-directory/exports ${volume.split(':')[1]} `)

  const place = mkdtempSync(join(tmpdir(), 'backup-'))
  const [shell, ...script] = (backup?.command ?? []).map((part) => part.replaceAll('$$', '$'))
  /** Runs the service's script where `copying` stands for the tool that copies. */
  const run = (copying: string) => {
    writeFileSync(join(place, 'pg_basebackup'), `#!/bin/sh\n${copying}\n`, { mode: 0o755 })
    writeFileSync(join(place, 'pg_verifybackup'), '#!/bin/sh\ntest -f "$2/PG_VERSION"\n', { mode: 0o755 })
    const folder = mkdtempSync(join(place, 'volume-'))
    mkdirSync(join(folder, 'next'))
    const env = { ...process.env, PATH: `${place}:${process.env.PATH}` }
    const { status } = spawnSync(shell as string, script, { cwd: folder, env })
    return { status, left: readdirSync(folder).map((name) => name.replace(/^[\dT:-]+Z/, 'time')) }
  }
  const copy = 'folder=$(echo "$1" | cut -d = -f 2); mkdir "$folder"; '
  expect(run(`${copy} touch "$folder/PG_VERSION"`)).toEqual({ status: 0, left: ['time'] })
  expect(run(copy)).toEqual({ status: 1, left: ['time.partial'] })
  expect(run('exit 1')).toEqual({ status: 1, left: ['time.partial'] })
  rmSync(place, { recursive: true })
})
