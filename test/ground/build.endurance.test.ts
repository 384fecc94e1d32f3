import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildSync } from 'esbuild'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testDatabase } from '../support/database.ts'
import { listFiles, root } from '../support/source-files.ts'
import { testTimeoutMs } from '../support/until.ts'
import { keyOffChain, proofOf } from '../trust/proof.ts'

/** The build goes into a folder of the project, so that Node resolves packages from there. */
mkdirSync(join(root, '.data'), { recursive: true })
const dist = mkdtempSync(join(root, '.data/build-'))
const mains = listFiles()
  .filter((path) => /^(db|derive|processors|enrichment|api|export|trust)\/(.*\/)?main\.ts$/.test(path))
  .map((path) => path.replace(/\.ts$/, '.js'))
/** Processes that a person starts; one deeper in a room is started by another process. */
const commands = mains.filter((main) => main.split('/').length === 2).map((main) => ({ main }))

const database = testDatabase()
beforeAll(async () => {
  const build = spawnSync(process.execPath, ['scripts/build.mjs', '--out', dist], { cwd: root, encoding: 'utf8' })
  expect(build.stdout + build.stderr).toContain(`processes: ${mains.sort().join(', ')}\n`)
})
afterAll(async () => {
  rmSync(dist, { recursive: true, force: true })
})

test.for(commands)('$main runs from the build without a loader', ({ main }) => {
  expect(run(main, '--help')).toMatchObject({ stderr: '', status: 0 })
})

test('the build carries the schema along', async () => {
  await database.pool.query('drop schema public, directory cascade; create schema public')
  const { stdout, status } = run('db/main.js')
  expect(stdout).toMatch(/^applied schema\n/)
  expect(status).toBe(0)
})

test('the build carries along what the pages load', () => {
  expect(readdirSync(join(dist, 'api/pages/assets'))).toEqual(readdirSync(join(root, 'api/pages/assets')))
})

test('the build paints pictures, in a thread that keeps no process from ending', () => {
  const script = `
    const { createPainter } = await import('./api/pages/card/painter.js')
    const painter = createPainter(Date.now)
    const { type } = await painter.paint('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')
    console.log(type)`
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: dist,
    encoding: 'utf8',
    timeout: testTimeoutMs,
  })
  expect([stdout, stderr, status]).toEqual(['image/png\n', '', 0])
})

test('the local world and the tests stay out of the build', () => {
  const folders = readdirSync(dist)
  expect(folders.filter((name) => ['devnet', 'test', 'bench'].includes(name))).toEqual([])
})

describe('the check of proofs as one script', () => {
  const elsewhere = mkdtempSync(join(tmpdir(), 'verify-proof-'))
  afterAll(() => rmSync(elsewhere, { recursive: true, force: true }))

  /** Runs the script on a proof in a folder without this project; returns its exit code and counts of checks. */
  function verify(proof: string | Buffer) {
    const script = join(elsewhere, 'verify-proof.mjs')
    const file = join(elsewhere, 'proof.json')
    copyFileSync(join(dist, 'verify-proof.mjs'), script)
    writeFileSync(file, proof)
    const { status, stdout } = spawnSync(process.execPath, [script, file], {
      cwd: elsewhere,
      env: {},
      encoding: 'utf8',
    })
    return { status, failed: (stdout.match(/^FAILED/gm) ?? []).length, held: (stdout.match(/^held/gm) ?? []).length }
  }

  test('tests itself', () => {
    copyFileSync(join(dist, 'verify-proof.mjs'), join(elsewhere, 'verify-proof.mjs'))
    const script = [join(elsewhere, 'verify-proof.mjs'), '--self-test']
    const { status, stdout } = spawnSync(process.execPath, script, { cwd: elsewhere, env: {}, encoding: 'utf8' })
    expect([status, stdout.trim().split('\n').at(-1)]).toEqual([
      0,
      '30 held, 0 failed, 0 without an answer, 0 not asked',
    ])
  })

  test('needs a chain for a claim whose key is on none, as only a chain knows the custody address', async () => {
    expect(verify(JSON.stringify(await proofOf('eip191', keyOffChain)))).toMatchObject({ status: 3, failed: 0 })
  })

  test.for(['eip191', 'jfs', 'well-known'] as const)(
    'holds up a claim by %s, and finds a flipped bit',
    async (method) => {
      const bytes = Buffer.from(JSON.stringify(await proofOf(method)))
      expect(verify(bytes)).toMatchObject({ status: 3, failed: 0 }) // 3: no source of keys was given
      for (const place of ['"data_bytes":"0x', '"signature":"0x', '"sha256":"', '"first_seen_at":"']) {
        const at = bytes.indexOf(place) + place.length + 5
        const flipped = Buffer.from(bytes)
        flipped[at] = bytes[at]! ^ 1
        expect(verify(flipped).status, place).toBe(1)
      }
    },
  )

  test('has nothing inside but the check itself, the forms of the log, zod for the form of a proof, viem and what viem needs', () => {
    const { metafile } = buildSync({
      absWorkingDir: root,
      entryPoints: ['trust/proof/main.ts'],
      bundle: true,
      platform: 'node',
      format: 'esm',
      external: ['isows'],
      metafile: true,
      write: false,
    })
    const packages = Object.keys(metafile.inputs).map(
      (path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? path,
    )
    const foreign = packages.filter(
      (name) => !/^(trust\/|transparency\/|@noble\/|@scure\/|zod$|viem$|ox$|abitype$)/.test(name),
    )
    expect(foreign).toEqual([])
  })
})

function run(main: string, ...args: string[]) {
  const env = { PATH: process.env.PATH, DATABASE_URL: database.url }
  return spawnSync(process.execPath, [join(dist, main), ...args], { cwd: dist, env, encoding: 'utf8' })
}
