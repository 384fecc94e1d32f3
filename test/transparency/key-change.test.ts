import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { AgentDirectory } from '../../client/client.ts'
import { checkLog } from '../../client/log-check.ts'
import { inTransaction } from '../../db/pool.ts'
import { beginEpochRestored } from '../../db/queries/transparency/epoch.ts'
import { derivations } from '../../derive/derivations.ts'
import { settle } from '../../derive/pass.ts'
import { comparison } from '../../derive/transparency.ts'
import { makeLogKey, readLogKey } from '../../transparency/log-key.ts'
import { type ClaimStage, eip191Claim, post, startClaimStage } from '../support/api/claims.ts'
import { newPem } from './held-log.ts'
import { keepLog } from './put-back.ts'

const kinds = derivations.filter(({ kind }) => kind.startsWith('logged '))
const baseUrl = 'https://api.agents.example'
let stage: ClaimStage
let folder: string
let keyFile: string
beforeAll(async () => {
  stage = await startClaimStage()
  folder = await mkdtemp(join(tmpdir(), 'key-change-'))
  keyFile = join(folder, 'key.pem')
  makeLogKey(keyFile)
})
afterAll(() => Promise.all([stage.stop(), rm(folder, { recursive: true })]))

/** Starts the job with the keys that are in the file, as after a restart, until everything is appended. */
async function restart(): Promise<string> {
  const { pool } = stage.database
  const log = readLogKey(keyFile, baseUrl)
  await pool.query(`insert into due (kind, key) values ('logged facts', '${comparison}')`)
  await settle(kinds, { pool, now: () => new Date(), settlementOverloads: 'spec', log })
  stage.clock.now += 10_000 // what the service has read of the log before is old
  return log.key
}
async function claim(): Promise<void> {
  const { status } = await post(stage.api, await eip191Claim(stage, await stage.claimant()))
  expect(status).toBe(200)
}
/** What a mirror says that looks at the log of the running service. */
async function look(file: string): Promise<string[]> {
  const said: string[] = []
  const directory = new AgentDirectory(stage.api.url, { retries: 0, wait: async () => {} })
  await checkLog(directory, join(folder, file), {}, (words) => said.push(words))
  return said
}
const keys = async () => {
  const { rows } = await stage.database.pool.query('select entry from transparency_entry order by index')
  return rows.map(({ entry }) => JSON.parse(String(entry))).filter(({ type }) => type === 'key')
}

test('a key that is put behind the one before in its file is named by that in the log, once, and followed', async () => {
  await claim()
  const first = await restart()
  expect(await look('one.json')).toEqual([])
  await appendFile(keyFile, newPem())
  const second = await restart()
  await claim()
  expect(await restart()).toBe(second)
  expect(await keys()).toEqual([
    { type: 'key', at: expect.any(String), key: second, note: expect.stringContaining(`/log\nkey\n${second}\n`) },
  ])
  expect(await look('one.json')).toEqual([`the transparency log: its key is ${second} now, as the one before says`])
  expect(await look('one.json')).toEqual([])

  await writeFile(keyFile, (await readFile(keyFile, 'utf8')).match(/-----BEGIN.*?END PRIVATE KEY-----\n/gs)!.at(-1)!)
  expect(await restart()).toBe(second) // the one before is needed no more
  await claim()
  await restart()
  expect(await look('one.json')).toEqual([])
  expect(await keys()).toHaveLength(1)
  expect(first).not.toBe(second)
})

test('a key that takes the place of the one before is refused by who knows that', async () => {
  await restart()
  await look('two.json')
  const kept = await readFile(keyFile, 'utf8')
  onTestFinished(async () => {
    await writeFile(keyFile, kept)
    await restart()
  })
  await writeFile(keyFile, newPem())
  await restart()
  await expect(look('two.json')).rejects.toThrow(/is signed with .*, which .* does not name/)
})

test('a log that begins behind one whose entries were lost is followed, and a mirror says so, with a new key too', async () => {
  const { pool } = stage.database
  await claim()
  await restart()
  await look('three.json')
  await pool.query(`begin; set local session_replication_role = replica;
    delete from transparency_entry where index > 1; delete from transparency_tile; delete from transparency_checkpoint;
    insert into transparency_tile (level, number, hashes)
    select 0, 0, string_agg(sha256('\\x00'::bytea || entry), '' order by index) from transparency_entry; commit`)
  await appendFile(keyFile, newPem())
  const key = await restart()
  expect(key).toContain('/log+')
  expect(await look('three.json')).toEqual([
    expect.stringContaining('another log began, api.agents.example/log/2: the service says that it lost entries'),
    expect.stringMatching(/its key is api.agents.example\/log\/2\+.* now, as the one before says/),
    expect.stringContaining('three.json.log-1'),
  ])
  await claim()
  await restart()
  expect(await look('three.json')).toEqual([])
})

interface Entry {
  readonly type: string
  readonly before: unknown
  readonly earlier: readonly unknown[]
}

test('a restored database begins another log, which commits to the last one that the key remembers', async () => {
  const { pool } = stage.database
  await claim()
  await restart()
  await look('four.json')
  await look('five.json')
  const entries = async () => {
    const { rows } = await pool.query(`select entry from transparency_entry
      where index >= (select max(first) from transparency_epoch) order by index`)
    return rows.map(({ entry }) => JSON.parse(String(entry)) as Entry)
  }
  const before = await entries()
  expect(await inTransaction(pool, beginEpochRestored)).toBe(3)
  stage.clock.now += 10_000
  expect((await stage.api.get('/log/checkpoint')).status).toBe(404) // until the job has begun it
  await restart()
  const [first, ...after] = (await entries()) as [Entry, ...Entry[]]
  expect(first).toMatchObject({ type: 'log', epoch: 3, before: { origin: 'api.agents.example/log/2' } })
  const facts = before.filter(({ type }) => type !== 'log' && type !== 'key')
  for (const isOf of [({ type }: Entry) => type === 'change', ({ type }: Entry) => type !== 'change'])
    expect(after.filter(isOf)).toEqual(facts.filter(isOf))
  const began = (number: number) => expect.stringContaining(`another log began, api.agents.example/log/${number}:`)
  expect(await look('four.json')).toEqual([began(3), expect.stringContaining('four.json.log-2')])

  expect(await inTransaction(pool, beginEpochRestored)).toBe(4)
  await restart()
  const [fourth] = (await entries()) as [Entry]
  expect(fourth).toMatchObject({ epoch: 4, before: { origin: 'api.agents.example/log/3' } })
  expect(fourth.earlier).toEqual([first.before, ...first.earlier])
  expect(first.earlier).toEqual([expect.objectContaining({ origin: 'api.agents.example/log' })])
  expect(await look('five.json')).toEqual([began(4), expect.stringContaining('five.json.log-2')])
})

test('a database put back to before an earlier log commits to all that the key remembers, and every mirror goes on', async () => {
  const { pool } = stage.database
  await restart()
  const putBack = await keepLog(stage.database) // a backup of the fourth log
  await claim()
  await restart()
  await look('fourth.json') // which knows an entry that the backup lacks
  expect(await inTransaction(pool, beginEpochRestored)).toBe(5)
  await restart()
  await look('fifth.json')
  await putBack()
  await restart()
  const [first] = (
    await pool.query(`select entry from transparency_entry
      where index = (select max(first) from transparency_epoch)`)
  ).rows.map(({ entry }) => JSON.parse(String(entry)) as Entry)
  expect(first).toMatchObject({ epoch: 6, before: { origin: 'api.agents.example/log/5' } })
  expect(first!.earlier.map((one) => (one as { origin: string }).origin)).toEqual([
    'api.agents.example/log/4',
    'api.agents.example/log/3',
    'api.agents.example/log/2',
    'api.agents.example/log',
  ])
  for (const mirror of ['fourth', 'fifth'])
    expect((await look(`${mirror}.json`))[0]).toContain('another log began, api.agents.example/log/6:')
})

test('a database that never signed anything begins no log when it is restored', async () => {
  const { pool } = stage.database
  await pool.query('delete from transparency_checkpoint')
  expect(await inTransaction(pool, beginEpochRestored)).toBeUndefined()
})
