import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { zstdDecompressSync } from 'node:zlib'
import { DuckDBInstance } from '@duckdb/node-api'
import { asyncBufferFromUrl, parquetReadObjects } from 'hyparquet'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { readConfig } from '../../api/config.ts'
import { rollUpSettlements } from '../../enrichment/periodic/rollup.ts'
import type { ServedFile, ServedManifest } from '../../export/served/manifest.ts'
import { paceOf } from '../../export/served/pace.ts'
import { serveRound } from '../../export/served/round.ts'
import { type ClaimProof, sealProof } from '../../trust/proof/proof.ts'
import { runIncome } from '../derive/passes.ts'
import { failure, startApi, type TestApi } from '../support/api/api.ts'
import { testDatabase } from '../support/database.ts'
import { exportFolder, proofTerms } from '../support/exports.ts'
import { runMain, signalUntilEnded, startMain } from '../support/mains.ts'
import {
  addressOf,
  hashOf,
  insert,
  seedAgent,
  seedChainState,
  seedRegistration,
  seedSettlement,
} from '../support/seed.ts'
import { root } from '../support/source-files.ts'

const dayMs = 86_400_000
const start = Date.UTC(2026, 2, 1)
let clock = start + 5 * dayMs
const database = testDatabase()
let folder: string
let api: TestApi

beforeAll(async () => {
  const { pool } = database
  await seedAgent(pool, { fid: 1, addresses: [addressOf('a'), addressOf('b')], chains: ['base'], bio: 'naïve “🦑”' })
  await seedAgent(pool, { fid: 2, handle: null, chains: ['celo', 'base'] })
  for (const fid of [1, 2]) await insert(pool, 'agent_change', { fid, kind: 'upsert', changed_at: new Date(start) })
  await seedRegistration(pool, { chain: 'base', id: 2n ** 200n, owner: addressOf('a') })
  for (const chain of ['base', 'celo'] as const) {
    for (let block = 0; block < 8; block++) {
      if (chain === 'base' && block === 3) continue // what a backfill brings
      await pay(chain, block)
    }
    const at = new Date(start + 3.5 * dayMs)
    await seedChainState(pool, { chain, chainId: chain === 'base' ? 8453 : 42220, indexed: 7, finalized: 6, at })
  }
  await feedback(2)
  for (const [fid, nonce, proof] of [
    [1, 'one', '{"a":1}'],
    [1, 'two', '{"jfs":"a.b.c"}'],
    [2, 'three', '{"jfs":"d.e.f"}'],
  ] as const) {
    await insert(pool, 'claim', {
      fid,
      method: 'jfs',
      nonce,
      proof,
      proof_sha256: Buffer.from(hashOf(nonce).slice(2), 'hex'),
      signer: addressOf('a'),
      received_at: new Date(start),
      claimed_at: new Date(start + (nonce === 'two' ? 1 : 0)),
      verified_addresses: [addressOf('a')],
    })
  }
  await rollUp()
  folder = await mkdtemp(join(tmpdir(), 'agent-directory-served-'))
  await round()
  api = await startApi(database, { exportDir: folder })
})
afterAll(async () => {
  await api?.stop()
  await rm(folder, { recursive: true, force: true })
})

/** Half a day a block. */
const timeOf = (block: number) => new Date(start + block * (dayMs / 2) + 1)
const pay = (chain: 'base' | 'celo', block: number) =>
  seedSettlement(database.pool, { chain, recipient: addressOf('a'), block, at: timeOf(block), amount: 1_500_001n })
const feedback = (block: number) =>
  insert(database.pool, 'feedback', {
    id: `base-${block}`,
    chain: 'base',
    agent_id: '1',
    client: Buffer.from(addressOf('client').slice(2), 'hex'),
    feedback_index: String(block),
    value: '875',
    value_decimals: 1,
    tag1: 'quality',
    tag2: '',
    endpoint: '',
    feedback_uri: '',
    feedback_hash: Buffer.alloc(32),
    block_number: block,
    log_index: 0,
    tx_hash: Buffer.from(hashOf(`${block}`).slice(2), 'hex'),
    block_timestamp: timeOf(block),
  })

async function rollUp() {
  while ((await rollUpSettlements({ pool: database.pool })) > 0);
  while ((await runIncome({ pool: database.pool })) > 0);
}

const baseUrl = 'https://api.agents.example'
const registries = { base: addressOf('registry') } as never
const round = (at = folder) =>
  serveRound({
    pool: database.pool,
    folder: at,
    pace: paceOf(10_000_000),
    installation: { registries, baseUrl },
    terms: proofTerms(baseUrl),
    now: () => new Date(clock),
    tell: () => {},
  })

const manifestOf = async (at = folder): Promise<ServedManifest> =>
  JSON.parse(await readFile(join(at, 'manifest.json'), 'utf8'))
const filesOf = async (dataset: string) => (await manifestOf()).files.filter((file) => file.dataset === dataset)
const sha256 = (content: Uint8Array) => createHash('sha256').update(content).digest('hex')

test('days that are over are written by chain, state once a day, and nothing twice', async () => {
  const { files, datasets, replaced } = await manifestOf()
  const places = files.map(({ path }) => path.replace(/-[0-9a-f]{8}\./, '-….'))
  const snapshot = (name: string) => `${name}/snapshot=2026-03-06/part-00000-….parquet`
  expect(places).toEqual([
    ...['agents', 'claims', 'demand'].map(snapshot),
    'feedback/chain=base/day=2026-03-02/part-00000-….parquet',
    ...['flagged_addresses', 'identities', 'income', 'payments'].map(snapshot),
    'profiles/snapshot=2026-03-06/part-00000-….ndjson.gz',
    snapshot('registrations'),
    ...['base', 'celo'].flatMap((chain) =>
      [1, 2, 3].map((day) => `settlements/chain=${chain}/day=2026-03-0${day}/part-00000-….parquet`),
    ),
    ...['specs', 'tags'].map(snapshot),
  ])
  expect(replaced).toEqual([])
  const columnsOfAll = datasets.flatMap(({ columns }) => columns)
  expect(columnsOfAll.filter(({ about }) => !about)).toEqual([])
  for (const { path, bytes, sha256: digest, dataset, columns, min_time, max_time, partition } of files) {
    const described = datasets.find(({ name }) => name === dataset)?.columns.map(({ name }) => name)
    const days = [min_time, max_time].map((time) => time?.slice(0, 10))
    expect([columns, ...days]).toEqual([dataset === 'profiles' ? undefined : described, partition.day, partition.day])
    const content = await readFile(join(folder, path))
    expect([content.length, sha256(content)]).toEqual([bytes, digest])
    expect(path).toContain(`-${digest.slice(0, 8)}.`)
  }
  expect(await round()).toBe(0)
  expect(await filesOf('settlements')).toEqual(files.filter(({ dataset }) => dataset === 'settlements'))
})

async function read(dataset: string, at = 0) {
  const { path, bytes } = (await filesOf(dataset))[at] as ServedFile
  const file = await asyncBufferFromUrl({ url: `${api.url}/exports/${path}`, byteLength: bytes })
  const compressors = { ZSTD: (input: Uint8Array) => new Uint8Array(zstdDecompressSync(input)) }
  return parquetReadObjects({ file, compressors })
}

test('the rows are those of the view, with their types, read in ranges over HTTP', async () => {
  const [settlement] = await read('settlements')
  expect(settlement).toMatchObject({
    chain: 'base',
    block_number: 0,
    tx_hash: hashOf('tx base 0'),
    block_timestamp: timeOf(0),
    counted: true,
    amount: 1_500_001n,
    amount_usdc: 1.500001,
    final: true,
  })
  expect(Object.keys(settlement ?? {})).toEqual((await columnsOf('settlements')).map(({ name }) => name))
  expect(await read('agents')).toMatchObject([
    { fid: 1n, bio: 'naïve “🦑”', verified_addresses: [addressOf('a'), addressOf('b')].sort(), chains: ['base'] },
    { fid: 2n, handle: null, chains: ['celo', 'base'] },
  ])
  expect(await read('registrations')).toMatchObject([{ erc8004_id: String(2n ** 200n) }])
  const income = await read('income')
  const ofBase = income.filter(({ chain }) => chain === 'base')
  expect(ofBase.map(({ hour }) => hour)).toEqual([0, 1, 2, 4, 5, 6].map((block) => hourOf(timeOf(block))))
  expect(ofBase[0]).toMatchObject({ fid: 1n, recipient_address: addressOf('a'), payments: 1n, amount_usdc: 1.500001 })
  expect(Object.keys(income[0] ?? {})).toEqual((await columnsOf('income')).map(({ name }) => name))
  const claims = await read('claims')
  expect(claims).toMatchObject([
    { fid: 1n, nonce: 'one', proof: '{"a":1}', whole_proof: null },
    { fid: 1n, nonce: 'two' },
    { fid: 2n, nonce: 'three' },
  ])
  for (const { nonce, whole_proof } of claims.slice(1)) {
    const { sha256: seal, ...proof } = JSON.parse(String(whole_proof)) as ClaimProof
    expect([proof.nonce, sealProof(proof).sha256]).toEqual([nonce, seal])
  }
  expect(Object.keys(claims[0] ?? {})).toEqual((await columnsOf('claims')).map(({ name }) => name))
  expect(await read('feedback')).toMatchObject([{ value: expect.stringMatching(/^87\.50*$/), revoked_at: null }])
})

const hourOf = (time: Date) => new Date(Math.floor(time.getTime() / 3_600_000) * 3_600_000)
const columnsOf = async (dataset: string) =>
  (await manifestOf()).datasets.find(({ name }) => name === dataset)?.columns ?? []

test('files are immutable, known by their digest and sent in ranges; the lists for five minutes', async () => {
  const { path, bytes, sha256: digest } = (await filesOf('agents'))[0] as ServedFile
  const whole = await api.get(`/exports/${path}`, { headers: { 'accept-encoding': 'gzip, br' } })
  const content = new Uint8Array(await whole.arrayBuffer())
  const headers = {
    'content-type': 'application/vnd.apache.parquet',
    'cache-control': 'public, max-age=31536000, immutable',
    etag: `"${digest}"`,
    'repr-digest': `sha-256=:${Buffer.from(digest, 'hex').toString('base64')}:`,
    'accept-ranges': 'bytes',
    'access-control-allow-origin': '*',
  }
  expect([whole.status, sha256(content)]).toEqual([200, digest])
  expect(Object.fromEntries(whole.headers)).toMatchObject(headers)
  for (const name of ['content-encoding', 'ratelimit']) expect(whole.headers.get(name), name).toBeNull()
  const ask = (range: string, more = {}) => api.get(`/exports/${path}`, { headers: { range, ...more } })
  const part = await ask('bytes=4-9')
  expect([part.status, part.headers.get('content-range')]).toEqual([206, `bytes 4-9/${bytes}`])
  expect(Object.fromEntries(part.headers)).toMatchObject(headers)
  expect(new Uint8Array(await part.arrayBuffer())).toEqual(content.slice(4, 10))
  const beyond = await ask(`bytes=${bytes}-`)
  expect([beyond.status, beyond.headers.get('content-range'), await beyond.text()]).toEqual([
    416,
    `bytes */${bytes}`,
    '',
  ])
  expect((await ask('bytes=0-1,4-5')).status).toBe(200)
  expect((await ask('bytes=4-9', { 'if-range': headers.etag })).status).toBe(206)
  for (const tag of ['"another"', `W/${headers.etag}`, `"another", ${headers.etag}`, new Date().toUTCString()]) {
    expect([tag, (await ask('bytes=4-9', { 'if-range': tag })).status]).toEqual([tag, 200])
  }
  expect((await api.get(`/exports/${path}`, { headers: { 'if-none-match': headers.etag } })).status).toBe(304)
  expect((await api.get(`/exports/${path}`, { method: 'HEAD' })).headers.get('content-length')).toBe(String(bytes))
  const list = await api.get('/exports/manifest.json')
  expect([list.headers.get('cache-control'), await list.json()]).toEqual(['public, max-age=300', await manifestOf()])
})

test('nothing is served but what the manifest names', async () => {
  await mkdir(join(folder, '.writing'), { recursive: true })
  await writeFile(join(folder, '.writing/part'), 'half')
  await writeFile(join(folder, 'secret.txt'), 'secret')
  for (const path of [
    '.writing/part',
    'secret.txt',
    '..%2Fsecret.txt',
    'agents',
    'agents/',
    'manifest.json.partial',
    '%2e%2e/x',
  ]) {
    expect(await failure(await api.get(`/exports/${path}`)), path).toMatchObject({
      status: 404,
      error: 'ERR_NOT_FOUND',
    })
  }
  expect(await failure(await api.get('/exports/manifest.json', { method: 'POST' }))).toMatchObject({ status: 404 })
})

test('the list as a data package names every file, with its hash and the fields of its rows', async () => {
  const { files } = await manifestOf()
  const { resources, $schema } = (await (await api.get('/exports/datapackage.json')).json()) as {
    $schema: string
    resources: { name: string; path: string[]; hash: string; bytes: number; schema?: { fields: { name: string }[] } }[]
  }
  expect($schema).toBe('https://datapackage.org/profiles/2.0/datapackage.json')
  expect(resources.map(({ path, hash, bytes }) => [path, hash, bytes])).toEqual(
    files.map(({ path, sha256: digest, bytes }) => [[path], `sha256:${digest}`, bytes]),
  )
  expect(new Set(resources.map(({ name }) => name)).size).toBe(files.length)
  expect(resources.every(({ name }) => /^[a-z0-9._-]+$/.test(name))).toBe(true)
  const settlements = resources.find(({ path: [path] }) => path?.startsWith('settlements/'))
  expect(settlements?.schema?.fields.map(({ name }) => name)).toEqual(
    (await columnsOf('settlements')).map(({ name }) => name),
  )
  const free = resources.filter((one) => JSON.stringify(one).includes('"CC0-1.0"'))
  expect(free.map(({ path: [path] }) => path?.split('/')[0])).toEqual(['flagged_addresses'])
})

const document = readFileSync(join(root, 'docs/exports.md'), 'utf8')
const questions = [...document.matchAll(/```sql\n(SET [\s\S]*?)```/g)].map(([, sql]) => sql as string)

test('DuckDB answers the questions of the document, in its own types', async () => {
  expect(questions.length).toBe(3)
  const connection = await (await DuckDBInstance.create()).connect()
  const answers = []
  for (const question of questions) {
    const reader = await connection.runAndReadAll(question.replaceAll(`'exports/`, `'${folder}/`))
    answers.push({ types: reader.columnTypes().map(String), rows: reader.getRowsJson() })
  }
  connection.closeSync()
  const [byAgent, byDay, bySender] = answers
  expect(byAgent?.rows).toEqual([['1', 'agent1', '11', '16.500011']])
  expect(byAgent?.types).toEqual(['BIGINT', 'VARCHAR', 'BIGINT', 'DECIMAL(38,6)'])
  expect(byDay?.rows.map((row) => row.slice(0, 3))).toEqual([
    ['base', '2026-03-01', '2'],
    ['base', '2026-03-02', '1'],
    ['base', '2026-03-03', '2'],
    ['celo', '2026-03-01', '2'],
    ['celo', '2026-03-02', '2'],
    ['celo', '2026-03-03', '2'],
  ])
  expect(bySender?.types.slice(3)).toEqual(['TIMESTAMP WITH TIME ZONE', 'TIMESTAMP WITH TIME ZONE'])
})

test('a day that a backfill or an audit reached into is written again, and the old file stays a week', async () => {
  const before = (await filesOf('settlements')).find(({ partition }) => partition.day === '2026-03-02') as ServedFile
  const { pool } = database
  await pool.query(`insert into backfill (chain, from_block, to_block, completed_at) values ('base', 3, 3, now())`)
  expect(await round()).toBe(0) // its rows are not counted yet
  await pay('base', 3)
  await rollUp()
  expect(await round()).toBe(1)
  const after = (await filesOf('settlements')).find(({ partition }) => partition.day === '2026-03-02') as ServedFile
  expect([before.rows, after.rows, after.path === before.path]).toEqual([1, 2, false])
  const { replaced } = await manifestOf()
  expect(replaced).toEqual([
    expect.objectContaining({ path: before.path, until: new Date(clock + 7 * dayMs).toISOString() }),
  ])
  for (const { path } of [before, after]) expect((await api.get(`/exports/${path}`)).status).toBe(200)

  await pool.query(`update settlement set facilitator = $1 where chain = 'base' and block_number = 2`, [
    Buffer.from(addressOf('other').slice(2), 'hex'),
  ])
  await pool.query(`
    insert into audit_certificate (chain, from_block, to_block, first_hash, last_hash, settlements, amount, checksum, missing,
                                   surplus, changed, unpaid, source, payments, payment_checksum)
    values ('base', 2, 2, sha256(''), sha256(''), 1, 1500001, 1, 0, 0, 1, 0, 'archive', 0, 0)`)
  expect(await round()).toBe(1)
  expect(await round()).toBe(0)

  clock += 8 * dayMs
  await round()
  expect((await api.get(`/exports/${before.path}`)).status).toBe(404)
  expect(await readdir(join(folder, 'settlements/chain=base/day=2026-03-02'))).toHaveLength(1)
  expect((await filesOf('agents')).map(({ partition }) => partition.snapshot)).toEqual(['2026-03-14'])
})

test('feedback that was taken back is written again when a reorg has it taken back in another block, or at another time', async () => {
  for (const [block, at] of Object.values({ first: [7, 7], moved: [9, 7], later: [9, 9] } as const)) {
    const revoked = { revoked_block: block, revoked_at: timeOf(at) }
    await database.pool.query('update feedback set revoked_block = $1, revoked_at = $2', Object.values(revoked))
    expect(await round()).toBe(1)
    expect(await read('feedback')).toMatchObject([revoked])
  }
})

test('a day whose rows are gone is served no more, and what a kill left behind is taken away', async () => {
  const stray = 'settlements/chain=base/day=2026-03-01/part-00007-00000000.parquet'
  await writeFile(join(folder, stray), 'of a round that was killed')
  await database.pool.query(`delete from feedback`)
  await round()
  expect(await filesOf('feedback')).toEqual([])
  await expect(readFile(join(folder, stray))).rejects.toMatchObject({ code: 'ENOENT' })
  expect(await readFile(join(folder, 'secret.txt'), 'utf8')).toBe('secret')
})

test('a process that goes on has its health on a port of its own', async () => {
  const env = { DATABASE_URL: database.url, EXPORT_DIR: await exportFolder(), METRICS_PORT: '0' }
  const child = startMain('export/main.ts', ['--served', '--every', '60'], { env })
  try {
    let port = ''
    for await (const line of createInterface(child.stdout!)) {
      port = /^health and metrics on port (\d+)$/.exec(line)?.[1] ?? port
      if (line.endsWith(' new files')) break
    }
    const read = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).text()
    expect([await read('/readyz'), await read('/healthz')]).toEqual(['ready\n', 'ok\n'])
    expect(await read('/metrics')).toMatch(/^agent_directory_export_files_total [1-9]/m)
  } finally {
    await signalUntilEnded(child, 'SIGTERM')
  }
})

test('a folder that does not exist yet has no files, which is no error', async () => {
  const told: string[] = []
  const log = pino({ level: 'info' }, { write: (line) => void told.push(line) })
  const early = await startApi(database, { exportDir: join(folder, 'later'), log })
  onTestFinished(() => early.stop())
  expect(await failure(await early.get('/exports/'))).toMatchObject({ detail: expect.stringContaining('--served') })
  expect(told).toEqual([])
})

test('the command writes the same, to the folder that the API serves where neither is told of one', async () => {
  const cwd = await exportFolder()
  const own = join(cwd, readConfig({}).exportDir)
  const env = { DATABASE_URL: database.url }
  const ended = await runMain('export/main.ts', ['--served', '--rows-per-second', '1000000'], { env, cwd })
  expect(ended).toMatchObject({ code: 0, stderr: '' })
  expect(ended.stdout).toContain('settlements/chain=base/day=2026-03-02: 2 rows\n')
  const pathsOf = async (at: string) =>
    (await manifestOf(at)).files.filter(({ dataset }) => dataset === 'settlements').map(({ path }) => path)
  expect(await pathsOf(own)).toEqual(await pathsOf(folder))
})
