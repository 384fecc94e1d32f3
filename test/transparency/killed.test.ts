import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { tileReader } from '../../db/queries/transparency/tree.ts'
import { derivations } from '../../derive/derivations.ts'
import { derivePass, settle } from '../../derive/pass.ts'
import { comparison } from '../../derive/transparency.ts'
import { parseCheckpoint } from '../../transparency/checkpoint.ts'
import { leafHash } from '../../transparency/hashes.ts'
import { makeLogKey, readLogKey } from '../../transparency/log-key.ts'
import { openNote, textOf } from '../../transparency/note.ts'
import { inclusionProof, rootOf } from '../../transparency/tree.ts'
import { type ClaimStage, eip191Claim, post, startClaimStage } from '../support/api/claims.ts'
import { endOf, startMain } from '../support/mains.ts'
import { until } from '../support/until.ts'
import { MemoryTiles } from './memory-tiles.ts'
import { keepLog } from './put-back.ts'

const baseUrl = 'https://api.agents.example'
let stage: ClaimStage
let folder: string
let keyFile: string
beforeAll(async () => {
  stage = await startClaimStage()
  folder = await mkdtemp(join(tmpdir(), 'killed-'))
  keyFile = join(folder, 'key.pem')
  makeLogKey(keyFile)
})
afterAll(() => Promise.all([stage.stop(), rm(folder, { recursive: true })]))

async function stored() {
  const { pool } = stage.database
  const entries = await pool.query<{ subject: string; entry: Buffer }>(
    'select subject, entry from transparency_entry order by index',
  )
  const tiles = await pool.query<{ level: number; number: number; hashes: Buffer }>('table transparency_tile')
  const [signed] = (await pool.query<{ note: string }>('select note from transparency_checkpoint')).rows
  return {
    subjects: entries.rows.map(({ subject }) => subject),
    entries: entries.rows.map(({ entry }) => entry),
    tiles: Object.fromEntries(tiles.rows.map((one) => [`${one.level} ${one.number}`, one.hashes.toString('hex')])),
    note: signed?.note,
  }
}

const kinds = derivations.filter(({ kind }) => kind.startsWith('logged '))
function context() {
  const log = readLogKey(keyFile, baseUrl)
  return { pool: stage.database.pool, now: () => new Date(), settlementOverloads: 'spec' as const, log }
}
const append = () => settle(kinds, context())

async function claim(): Promise<string> {
  const claimant = await stage.claimant()
  expect((await post(stage.api, await eip191Claim(stage, claimant))).status).toBe(200)
  return `claim:${claimant.fid}:1`
}

const untilTransactionIsOver = () =>
  until('its transaction is over', async () => {
    const { rows } = await stage.database.pool.query(`select from pg_stat_activity where application_name = 'derive'
      and datname = current_database()`)
    return rows.length === 0
  })

test('a kill between the append and the checkpoint loses no entry, and leaves no half of one', async () => {
  const { pool, url } = stage.database
  const first = await claim()
  await append()
  const before = await stored()
  expect(before.subjects).toContain(first)
  const second = await claim()

  const lock = await pool.connect()
  await lock.query('begin; lock table transparency_checkpoint in share row exclusive mode')
  const job = startMain('derive/main.ts', ['--kind', 'logged facts'], {
    env: { DATABASE_URL: url, LOG_KEY_FILE: keyFile, BASE_URL: baseUrl },
  })
  const ended = endOf(job)
  await until('the entries are appended, and the checkpoint waits', async () => {
    expect(job.exitCode).toBeNull()
    const { rows } = await pool.query(`select from pg_locks join pg_stat_activity using (pid)
      where not granted and relation = 'transparency_checkpoint'::regclass and application_name = 'derive'`)
    return rows.length > 0
  })
  job.kill('SIGKILL')
  expect((await ended).code).toBeNull()
  await lock.query('rollback')
  lock.release()
  await untilTransactionIsOver()
  expect(await stored()).toEqual(before)

  await append()
  const after = await stored()
  expect(after.subjects.slice(0, before.subjects.length)).toEqual(before.subjects)
  expect(after.subjects.filter((subject) => subject === second)).toHaveLength(1)
  const { origin, size, root } = parseCheckpoint(openNote(after.note!, readLogKey(keyFile, baseUrl).key))
  expect([origin, size]).toEqual(['api.agents.example/log', after.subjects.length])
  const tiles = new MemoryTiles()
  await tiles.append(after.entries.map(leafHash))
  expect(root).toEqual(await rootOf(size, tiles.read))
})

test('tiles that are made again from the entries are those that grew with them', async () => {
  const { pool } = stage.database
  const { rows } = await pool.query(`select fid from claim limit 1`)
  for (let round = 0; round < 3; round++) {
    await pool.query(
      `insert into claim_event (fid, method, nonce, kind, at, evidence)
       select fid, method, nonce, case nth % 2 when 0 then 'resumed' else 'suspended' end, now(), '{}'
         from claim, generate_series(1, 333) nth where fid = $1 order by nth`,
      [rows[0].fid],
    )
    await append()
  }
  const grown = await stored()
  expect(grown.entries.length).toBeGreaterThan(1_000)
  const again = new MemoryTiles()
  await again.append(grown.entries.map(leafHash))
  expect(grown.tiles).toEqual(again.all())
  await pool.query(`insert into due (kind, key) values ('logged facts', '${comparison}')`)
  await append()
  expect(await stored()).toEqual(grown) // the log is whole, and no other begins

  const statement = vi.spyOn(pool, 'query')
  const proof = await inclusionProof(3, grown.entries.length, tileReader(pool, 1))
  expect(statement).toHaveBeenCalledOnce()
  expect(proof).toEqual(await inclusionProof(3, grown.entries.length, again.read))
  await expect(inclusionProof(3, grown.entries.length, tileReader(pool, 2))).rejects.toThrow('has no tile 0 of level 0')
  statement.mockRestore()
})

test('a tree that was visible before a kill and is lost in a failover is followed by another log', async () => {
  const { pool, url } = stage.database
  const putBack = await keepLog(stage.database)
  await claim()
  await pool.query(`create function wait_in_commit() returns trigger language plpgsql as $$
      begin perform pg_advisory_xact_lock(39); return null; end $$;
    create constraint trigger wait_in_commit after insert or update on transparency_checkpoint
      deferrable initially deferred for each row execute function wait_in_commit()`)
  const lock = await pool.connect()
  await lock.query('select pg_advisory_lock(39)')
  const job = startMain('derive/main.ts', ['--kind', 'logged facts'], {
    env: { DATABASE_URL: url, LOG_KEY_FILE: keyFile, BASE_URL: baseUrl },
  })
  const ended = endOf(job)
  await until('the job commits', async () => {
    expect(job.exitCode).toBeNull()
    const { rows } = await pool.query(`select from pg_locks join pg_stat_activity using (pid)
      where not granted and locktype = 'advisory' and application_name = 'derive' and query ilike 'commit'`)
    return rows.length > 0
  })
  job.kill('SIGKILL')
  expect((await ended).code).toBeNull()
  await lock.query('select pg_advisory_unlock(39)')
  lock.release()
  await untilTransactionIsOver()
  await pool.query('drop function wait_in_commit cascade')
  const shown = parseCheckpoint(textOf((await stored()).note!))
  await putBack()
  expect(parseCheckpoint(textOf((await stored()).note!)).size).toBeLessThan(shown.size)

  await append()
  const { note, entries } = await stored()
  expect(parseCheckpoint(textOf(note!)).origin).toBe('api.agents.example/log/2')
  const first = entries.map((entry) => JSON.parse(String(entry))).find(({ type }) => type === 'log')
  const { origin, size, root } = shown
  expect(first.before).toEqual({ origin, size, root: Buffer.from(root).toString('base64') })
})

test('a job that can keep no tree any more, where it kept one before, shows none', async () => {
  await append()
  const before = await stored()
  await mkdir(`${keyFile}.checkpoint.new`) // stands in the way of the file
  await claim()
  await expect(append()).rejects.toThrow('EISDIR')
  expect(await stored()).toEqual(before)
  await rm(`${keyFile}.checkpoint.new`, { recursive: true })
  await stage.database.pool.query(`update due set due_at = '-infinity' where kind = 'logged facts' and attempts > 0`)
  await append()
  expect((await stored()).subjects.length).toBeGreaterThan(before.subjects.length)
})

test('a claim is in the signed tree within a pass, behind what its account was before, however many changes were marked', async () => {
  const { pool } = stage.database
  await append()
  const claimant = await stage.claimant()
  const { fid } = claimant
  await pool.query(`insert into agent_change (fid, kind, changed_at)
    select fid, 'delist', now() from generate_series(900001, 901200) fid`)
  await pool.query(`insert into agent_change (fid, kind, changed_at) values ($1, 'delist', $2)`, [
    fid,
    new Date(stage.clock.now - 1_000),
  ])
  expect((await post(stage.api, await eip191Claim(stage, claimant))).status).toBe(200)
  await Promise.all(kinds.map((kind) => derivePass(kind, context())))
  const { entries, subjects, note } = await stored()
  const { size } = parseCheckpoint(textOf(note!))
  const signed = entries.slice(-size).map((entry) => JSON.parse(String(entry)))
  const ofAccount = signed.filter((entry) => entry.fid === fid)
  expect(ofAccount.map(({ type, kind }) => kind ?? type)).toEqual(['delist', 'claim', 'upsert'])
  expect(subjects.filter((one) => one.startsWith('2/change:')).length).toBeLessThan(600) // the others wait
})
