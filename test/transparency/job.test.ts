import { mkdtemp, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { AgentDirectory } from '../../client/client.ts'
import { readerOf } from '../../client/log-check.ts'
import { sources } from '../../config/sources.ts'
import { inTransaction } from '../../db/pool.ts'
import { markDue } from '../../db/queries/due/queue.ts'
import { addSubjects } from '../../db/queries/sources/source-state.ts'
import { lockLog } from '../../db/queries/transparency/epoch.ts'
import { derivations } from '../../derive/derivations.ts'
import { settle } from '../../derive/pass.ts'
import { comparison } from '../../derive/transparency.ts'
import { type Hub, startHub } from '../../devnet/hub/server.ts'
import { HubState } from '../../devnet/hub/state.ts'
import { witnessSubject } from '../../enrichment/cosignatures/source.ts'
import { parseCheckpoint } from '../../transparency/checkpoint.ts'
import { cosignedBy, cosigner } from '../../transparency/cosignature.ts'
import { makeLogKey, readLogKey } from '../../transparency/log-key.ts'
import { textOf } from '../../transparency/note.ts'
import { witnessServer } from '../../witness/server.ts'
import { WatchedLog } from '../../witness/watched-log.ts'
import { startApi, type TestApi } from '../support/api/api.ts'
import { testDatabase } from '../support/database.ts'
import { spawnEnrichment } from '../support/enrichment-process.ts'
import { until } from '../support/until.ts'
import { newPem } from './held-log.ts'

const baseUrl = 'https://api.agents.example'
const database = testDatabase()
let api: TestApi
let hub: Hub
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'log-job-'))
  api = await startApi(database)
  hub = await startHub(new HubState(), { apiKey: 'key' })
  makeLogKey(join(folder, 'key.pem'))
})
afterAll(() => Promise.all([api.stop(), hub.stop(), rm(folder, { recursive: true })]))

async function startWitness() {
  const by = cosigner('witness.example/w1', newPem())
  const readFile = readerOf(new AgentDirectory(api.url, { retries: 0 }))
  const log = { readFile, wait: async () => {} }
  const watched = new WatchedLog({ path: join(folder, 'witness'), cosigner: by, log, now: () => new Date() })
  watched.begin({ note: String(await readFile('checkpoint')), key: String(await readFile('key')).trim() })
  const server = witnessServer(watched, by.key)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { key: by.key, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

const change = (fid: number) =>
  database.pool.query(`insert into agent_change (fid, kind, changed_at) values ($1, 'delist', now())`, [fid])

test('the job signs what changed, has the witnesses of LOG_WITNESSES cosign it, and tells how long facts wait', async () => {
  const { pool, url } = database
  const log = readLogKey(join(folder, 'key.pem'), baseUrl)
  await markDue(pool, 'logged facts', [comparison])
  const kinds = derivations.filter(({ kind }) => kind === 'logged facts')
  await settle(kinds, { pool, now: () => new Date(), settlementOverloads: 'spec', log })
  const witness = await startWitness()
  const gone = witnessSubject({ key: '', url: 'https://gone.example' })
  await addSubjects(pool, sources.cosignatures.name, [gone], { priority: 0, dueAt: new Date() })

  const job = spawnEnrichment({
    DATABASE_URL: url,
    HUB_URL: hub.url,
    BASE_URL: baseUrl,
    LOG_KEY_FILE: join(folder, 'key.pem'),
    LOG_WITNESSES: `${witness.key}@${witness.url}`,
  })
  onTestFinished(async () => void (await job.kill('SIGKILL')))
  await job.untilOutput(/"metrics":"/)
  const { metrics } = JSON.parse(job.output().split('\n')[0]!)
  await change(7)
  await until('the entry is in a checkpoint that is cosigned', async () => {
    const note = await (await api.get('/log/checkpoint')).text()
    return parseCheckpoint(textOf(note)).size > 0 && cosignedBy(note, witness.key) !== undefined
  })
  const { rows } = await pool.query('select subject from source_state where source = $1', [sources.cosignatures.name])
  expect(rows).toEqual([{ subject: witnessSubject(witness) }])

  const told = async () => (await fetch(`http://${metrics}/metrics`)).text()
  for (const outcome of ['fork', 'knows_more'])
    expect(await told()).toContain(`reads_total{source="log_cosignatures",outcome="${outcome}"} 0\n`) // else the first is no increase
  const oldest = async () => {
    const text = await told()
    return Number(/^agent_directory_enrichment_keys_oldest_seconds\{kind="logged facts"\} (.*)$/m.exec(text)?.[1])
  }
  await inTransaction(pool, async (db) => {
    await lockLog(db)
    await change(8)
    await until('the fact that waits is told of', async () => (await oldest()) > 0.5)
  })
  await until('it waits no more', async () => (await oldest()) === 0)
})
