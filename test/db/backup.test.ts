import { existsSync, realpathSync } from 'node:fs'
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { contentsOf, writeContents } from '../../db/backup/checklist.ts'
import { copyServer } from '../../db/backup/copy-server.ts'
import { migrate } from '../../db/migrate.ts'
import { createPool, inTransaction } from '../../db/pool.ts'
import { writeAudit } from '../../db/queries/chain/audit.ts'
import { insertClaim } from '../../db/queries/claims/claims.ts'
import { logHead } from '../../db/queries/log/log.ts'
import { lastBackup } from '../../db/queries/server/backup.ts'
import { lastCheckpoint, logEntries } from '../../db/queries/transparency/tree.ts'
import { derivations } from '../../derive/derivations.ts'
import { settle } from '../../derive/pass.ts'
import { withLock } from '../../ops/lock.mjs'
import { type EmbeddedPostgres, startPostgres } from '../../postgres/embedded.ts'
import { tallyTable } from '../../processors/backfill/verify.ts'
import { parseCheckpoint } from '../../transparency/checkpoint.ts'
import { makeLogKey, readLogKey } from '../../transparency/log-key.ts'
import { textOf } from '../../transparency/note.ts'
import { runMain } from '../support/mains.ts'
import { addressOf, birth, hashOf, seedAgent, seedSettlement } from '../support/seed.ts'

const fid = 8_004
let folder: string
let server: EmbeddedPostgres
let pool: pg.Pool
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agent-directory-backup-'))
  await chmod(folder, 0o755) // as root the server runs as another user, who has to reach its data
  server = await startIn(await installation('old'))
  await migrate(server.databaseUrl)
  pool = createPool({ databaseUrl: server.databaseUrl, name: 'backup test' })
})
afterAll(async () => {
  await pool?.end()
  await server?.stop()
  await rm(folder, { recursive: true, force: true })
})

test('a database that is copied while it is written to comes back whole, and what is wrong with it is found', async () => {
  await seedAgent(pool, { fid })
  await pool.query(`insert into agent_change (fid, kind, changed_at) values ($1, 'upsert', now())`, [fid])
  await claim(fid)
  for (const block of [100, 101, 102])
    await seedSettlement(pool, { chain: 'base', recipient: addressOf('payee'), block })
  await certify('base', 50, 149)
  makeLogKey(join(folder, 'key.pem'))
  await appendToLog(pool, 'key.pem')
  const signed = parseCheckpoint(textOf((await lastCheckpoint(pool))!.note))
  const { epoch } = await logHead(pool)

  const backup = join(folder, 'backup')
  let isWriting = true
  const writes = (async () => {
    let block = 1_000
    for (; isWriting; block++) await seedSettlement(pool, { chain: 'base', recipient: addressOf('payee'), block })
    return block - 1_000
  })()
  const made = await runMain('db/backup/main.ts', ['--out', backup], { cwd: join(folder, 'old') })
  isWriting = false
  const written = await writes
  expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/a copy is in .*, with claims of 1 accounts/) })

  const { taken_at } = JSON.parse(await readFile(join(backup, 'contents.json'), 'utf8'))
  expect(await lastBackup(pool)).toEqual(new Date(taken_at))

  const back = await installation('new')
  const restored = await runMain('processors/restore/main.ts', ['--from', backup], { cwd: back })
  expect(restored).toMatchObject({ code: 0, stdout: expect.stringMatching(/^ok {5}base 50 to 149 is as the audit/m) })
  expect(restored.stdout).not.toMatch(/^wrong/m)
  expect(restored.stdout).toMatch(/^note {3}transparency log 2 begins: entries that were signed may be missing$/m)

  const copy = await startIn(back)
  const its = createPool({ databaseUrl: copy.databaseUrl, name: 'backup test' })
  try {
    expect((await logHead(its)).epoch).not.toBe(epoch)
    const kept = `select count(*) as rows, coalesce(max(block_number) - 999, 0) as reach from settlement
                   where block_number >= 1000`
    const { rows, reach } = (await its.query(kept)).rows[0]
    expect(rows).toBe(reach) // what was committed up to a moment, and nothing after it
    expect(rows).toBeLessThanOrEqual(written)

    expect(await lastCheckpoint(its)).toBeUndefined() // nothing is served until the job has begun the log
    await copyFile(join(folder, 'key.pem'), join(folder, 'alone.pem')) // what lay next to the key is lost
    await appendToLog(its, 'alone.pem')
    const second = await lastCheckpoint(its)
    const [first] = (await logEntries(its, { epoch: 2, first: 0, count: 1 })) ?? []
    const before = { ...signed, root: Buffer.from(signed.root).toString('base64') }
    expect(JSON.parse(String(first))).toMatchObject({ type: 'log', epoch: 2, before })
    expect(second).toMatchObject({ epoch: 2, size: signed.size + 1, note: expect.stringMatching(/^.*\/log\/2\n/) })

    const again = await runMain('processors/restore/main.ts', ['--from', backup], { cwd: back })
    expect(again).toMatchObject({ code: 1, stderr: expect.stringMatching(/is there already; move it away first/) })

    await its.query('delete from settlement where block_number = 101')
    await its.query('delete from agent_change')
    const contents = JSON.parse(await readFile(join(backup, 'contents.json'), 'utf8'))
    contents.claims.push({ fid: 4_242, seq: 1, sha256: '0'.repeat(64) })
    await writeFile(join(backup, 'contents.json'), JSON.stringify(contents))
    const env = { DATABASE_URL: copy.databaseUrl }
    const worse = await runMain('processors/restore/main.ts', ['--from', backup], { env })
    expect(worse).toMatchObject({ code: 1, stderr: expect.stringMatching(/4 things differ from the backup/) })
    expect(worse.stdout.match(/^wrong .*/gm)).toEqual([
      expect.stringContaining('the log goes as far as that of the backup: 0 of 1'),
      expect.stringContaining('the log tells of every agent: 1 agents'),
      expect.stringContaining('among them of fid 4242'),
      expect.stringContaining('base 50 to 149 is as the audit certified: 2 settlements, certified 3'),
    ])
  } finally {
    await its.end()
    await copy.stop()
  }
})

test('an interrupted restore can be resumed, and until then nothing else opens the database', async () => {
  const backup = join(folder, 'interrupted')
  await mkdir(backup)
  await pool.query(`insert into schema_migration (name, sha256) values ('9999_of_a_newer_program.sql', '')`)
  const contents = await contentsOf(pool)
  await copyServer(server, backup)
  await writeContents(backup, contents)
  await pool.query(`delete from schema_migration where name = '9999_of_a_newer_program.sql'`)

  const back = await installation('back')
  const restore = (from: string) => runMain('processors/restore/main.ts', ['--from', from], { cwd: back })
  const open = () => runMain('db/main.ts', [], { cwd: back })
  expect(await restore(backup)).toMatchObject({ code: 1, stderr: expect.stringMatching(/newer than this program/) })
  expect(await open()).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^a restore into .* was interrupted .*; run npm run restore again\n$/),
  })

  const placed = await startIn(back)
  const its = createPool({ databaseUrl: placed.databaseUrl, name: 'backup test' })
  try {
    expect((await logHead(its)).epoch).toBe(contents.epoch)
    await its.query(`delete from schema_migration where name = '9999_of_a_newer_program.sql'`)
    const other = join(folder, 'other')
    await mkdir(other)
    await writeContents(other, contents)
    expect(await restore(other)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`is of a restore of ${backup}; end that`),
    })
    expect(await restore(backup)).toMatchObject({ code: 0 })
    expect((await logHead(its)).epoch).not.toBe(contents.epoch)
  } finally {
    await its.end()
    await placed.stop()
  }
  expect(await open()).toMatchObject({ code: 0 })
})

test('a database that is named is not copied; what a copy must hold is written when it is asked for', async () => {
  const out = join(folder, 'named')
  const options = { env: { DATABASE_URL: server.databaseUrl } }
  expect(await runMain('db/backup/main.ts', ['--out', out], options)).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^nothing was copied: .*npm run backup -- --out .* --contents\n$/),
  })
  expect(existsSync(out)).toBe(false)
  const made = await runMain('db/backup/main.ts', ['--out', out, '--contents'], options)
  expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/what a copy of it must hold is in/) })
  const twice = await runMain('db/backup/main.ts', ['--out', out, '--contents'], options)
  expect(twice).toMatchObject({ code: 2, stderr: expect.stringMatching(/is not empty/) })
})

test('where there is no database, or that of npm start alone, nothing is backed up, and none is created', async () => {
  const out = join(folder, 'nothing')
  const usual = 'set DATABASE_URL (.env is read by start:mainnet alone), or make it with npm run migrate'
  const refused = async (cwd: string, problem: string, remedy = usual) => {
    expect(await runMain('db/backup/main.ts', ['--out', out], { cwd })).toEqual({
      code: 1,
      stdout: '',
      stderr: `${problem}: ${remedy}\n`,
    })
    expect(existsSync(out)).toBe(false)
  }
  const empty = await installation('empty')
  await refused(empty, 'there is no embedded database yet')
  expect(existsSync(join(empty, '.data/postgres'))).toBe(false)
  // What npm start leaves: a server whose own database was never migrated.
  await pool.query('alter schema public rename to kept; create schema public')
  await refused(join(folder, 'old'), 'the embedded database is empty, as npm start keeps its data in another')
  // While it runs, the line that leads to its data; not when it was killed and left its file.
  await writeFile(join(folder, 'old/.data/devnet.env'), '')
  await refused(join(folder, 'old'), 'the embedded database is empty, as npm start keeps its data in another')
  await withLock({ name: `stack ${realpathSync(join(folder, 'old/.data'))}`, waitMs: 0 }, () =>
    refused(
      join(folder, 'old'),
      'the embedded database is empty, as npm start keeps its data in another',
      'for the data of npm start, which runs here: set -a; . ./.data/devnet.env; set +a',
    ),
  )
  await rm(join(folder, 'old/.data/devnet.env'))
  await pool.query('drop schema public; alter schema kept rename to public')
})

test('next to a local world its database is named with its chains or not at all, and can be copied', async () => {
  const cwd = join(folder, 'old')
  const world = new URL(server.urlOf('agents_devnet'))
  await pool.query('create database agents_devnet')
  await migrate(world.href)
  const chainsFile = join(folder, 'devnet.chains.json')
  await writeFile(chainsFile, '{"base": {"finality": 5}}')
  await writeFile(join(cwd, '.data/devnet.env'), `DATABASE_URL='${world.href}'\nCHAINS_FILE='${chainsFile}'\n`)
  const backup = join(folder, 'of the world')
  const copy = (env: NodeJS.ProcessEnv) => runMain('db/backup/main.ts', ['--out', backup], { cwd, env })
  const byName = world.href.replace('127.0.0.1', 'localhost')
  const others = { DATABASE_URL: server.databaseUrl }
  await withLock({ name: `stack ${realpathSync(join(cwd, '.data'))}`, waitMs: 0 }, async () => {
    for (const DATABASE_URL of [world.href, byName]) {
      expect(await copy({ DATABASE_URL })).toEqual({
        code: 1,
        stdout: '',
        stderr:
          'DATABASE_URL is that of npm start, which runs here, and CHAINS_FILE is not that of its chains: ' +
          'load both with set -a; . ./.data/devnet.env; set +a\n',
      })
    }
    expect(await runMain('db/main.ts', [], { cwd, env: others })).toMatchObject({ code: 0 })
    expect(await copy({ DATABASE_URL: byName, CHAINS_FILE: chainsFile })).toMatchObject({ code: 0 })
  })
  await rm(join(cwd, '.data/devnet.env'))

  const back = await installation('world again')
  const restored = await runMain('processors/restore/main.ts', ['--from', backup], { cwd: back })
  expect(restored).toMatchObject({ code: 0, stdout: expect.stringMatching(/everything of .* is there/) })
  const again = await startIn(back)
  const its = createPool({ databaseUrl: again.urlOf('agents_devnet'), name: 'backup test' })
  try {
    const { rows } = await its.query(`select count(*) as migrations from schema_migration`)
    expect(rows[0].migrations).toBeGreaterThan(0)
  } finally {
    await its.end()
    await again.stop()
  }
})

/** Appends what the database has to its transparency log, as the job does, and signs that. */
async function appendToLog(to: pg.Pool, key: string): Promise<void> {
  const log = readLogKey(join(folder, key), 'https://api.agents.example')
  const kinds = derivations.filter(({ kind }) => kind.startsWith('logged '))
  await settle(kinds, { pool: to, now: () => new Date(), settlementOverloads: 'spec', log })
}

async function installation(name: string): Promise<string> {
  await mkdir(join(folder, name, '.data'), { recursive: true })
  return join(folder, name)
}

const startIn = (place: string) => startPostgres({ dataFolder: join(place, '.data/postgres'), durable: false })

async function claim(of: number) {
  await inTransaction(pool, (client) =>
    insertClaim(client, {
      fid: of,
      method: 'eip191',
      nonce: '0123456789abcdef',
      proof: {},
      proofSha256: Buffer.from(hashOf('proof').slice(2), 'hex'),
      signer: addressOf('signer'),
      hostLink: null,
      manifestSha256: null,
      signedAt: birth,
      receivedAt: birth,
      claimedAt: birth,
      verifiedAddresses: [addressOf('signer')],
      evidence: '{}',
    }),
  )
}

/** Writes the certificate that the auditor would write for the rows in the table. */
async function certify(chain: 'base', fromBlock: number, toBlock: number) {
  const range = { firstBlock: fromBlock, lastBlock: toBlock }
  const tally = await inTransaction(pool, (client) => tallyTable(client, chain, range))
  if (!tally) throw new Error('the seeded settlements are of another shape than those of final blocks')
  const none = { missing: 0, surplus: 0, changed: 0, unpaid: 0, events: 0, agents: 0, custody: 0 }
  const hashes = { firstHash: hashOf('first'), lastHash: hashOf('last') }
  const noPayments = { payments: 0, paymentChecksum: 0n }
  await writeAudit(pool, chain, { fromBlock, toBlock, ...hashes, ...tally, ...noPayments, ...none, source: 'portal' })
}
