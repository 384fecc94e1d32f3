import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { asyncBufferFromFile, parquetMetadataAsync } from 'hyparquet'
import { beforeAll, expect, test } from 'vitest'
import { type ClaimProof, sealProof } from '../../trust/proof/proof.ts'
import { testDatabase } from '../support/database.ts'
import { exportedRows, exportFolder, manifestOf } from '../support/exports.ts'
import { runMain } from '../support/mains.ts'
import { addressOf, birth, hashOf, insert, seedAgent, seedRegistration, seedSettlement } from '../support/seed.ts'
import { root } from '../support/source-files.ts'

const database = testDatabase()
const day = 86_400_000
const formula = '=HYPERLINK("https://example.org";"a, b")\r\n+1'
const beyond64Bits = 2n ** 200n

beforeAll(async () => {
  const { pool } = database
  await seedAgent(pool, { fid: 1, addresses: [addressOf('a'), addressOf('b')], chains: ['base'], bio: formula })
  await seedAgent(pool, { fid: 2, handle: null, bio: '', chains: ['celo', 'base'] })
  await seedAgent(pool, { fid: 30, displayName: 'naïve “🦑”', changedAt: new Date(birth.getTime() + day) })
  await pool.query(`update agent set changed_at = changed_at + interval '123456 microseconds'`)
  for (const [at, chain] of (['base', 'celo', 'base'] as const).entries()) {
    await seedRegistration(pool, { chain, id: at === 2 ? beyond64Bits : at, owner: at === 0 ? null : addressOf('a') })
    for (const logIndex of [9, 10]) {
      const time = new Date(birth.getTime() + at * day)
      const amount = 9_007_199_254_740_993n
      await seedSettlement(pool, { chain, recipient: addressOf('a'), block: at + 99, logIndex, at: time, amount })
    }
  }
  for (const nonce of ['one', '-two']) {
    const proof = {
      proof: '{"jfs":"a.b.c"}',
      proof_sha256: Buffer.from(hashOf(nonce).slice(2), 'hex'),
      signer: addressOf('a'),
    }
    const times = { received_at: birth, claimed_at: new Date(birth.getTime() + nonce.length * day) }
    await insert(pool, 'claim', { fid: 1, method: 'jfs', nonce, ...proof, ...times, verified_addresses: [] })
  }
})

const runExport = (...args: string[]) => runMain('export/main.ts', args, { env: { DATABASE_URL: database.url } })

/** A view's rows, every value as text: what an export has to hold. */
async function viewRows(what: string, order: string, where = 'true'): Promise<Record<string, unknown>[]> {
  const { rows: columns } = await database.pool.query<{ name: string; type: string }>(
    `select attname as name, format_type(atttypid, atttypmod) as type from pg_attribute
      where attrelid = $1::regclass and attnum > 0 and atttypid <> 'bytea'::regtype order by attnum`,
    [`directory.${what}`],
  )
  const texts = columns.map(({ name, type }) => {
    if (type === 'text[]') return `array_to_json(${name})::text as ${name}`
    if (type !== 'timestamp with time zone') return `${name}::text`
    return `to_char(${name} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as ${name}`
  })
  const sql = `select ${texts.join(', ')} from (select * from directory.${what} where ${where}) v order by ${order}`
  return (await database.pool.query(sql)).rows
}

const orders = {
  agents: 'v.fid',
  settlements: 'v.chain, v.block_number, v.log_index',
  registrations: 'v.chain, v.erc8004_id',
  claims: 'v.fid, v.method, v.nonce',
}
const cases = Object.entries(orders).flatMap(([what, order]) =>
  ['ndjson', 'csv', 'parquet'].map((format) => ({ what, order, format })),
)

test.for(cases)('$what as $format are the rows of the view', async ({ what, order, format }) => {
  const folder = await exportFolder()
  const ended = await runExport('--what', what, '--format', format, '--out', folder, '--part-rows', '2')
  expect(ended).toMatchObject({ code: 0, stderr: '' })
  const expected = await viewRows(what, order)
  const exported = await exportedRows(folder)
  expect(exported.map(({ whole_proof: _, ...row }) => row)).toEqual(expected)
  const proofs = exported.flatMap(({ whole_proof, nonce }) => (whole_proof ? [{ nonce, ...proofIn(whole_proof) }] : []))
  expect(proofs).toEqual(what === 'claims' ? [{ nonce: '-two', ofNonce: '-two', isWhole: true }] : [])
  const { rows, complete, parts, snapshot_at } = manifestOf(folder)
  expect({ rows, complete }).toEqual({ rows: expected.length, complete: true })
  const times = parts.map((part) => part.snapshot_at)
  // Settlements are many: a snapshot for each file, so that none is held for hours.
  expect(times).toEqual(what === 'settlements' ? [...new Set(times)].sort() : parts.map(() => snapshot_at))
  expect(times[0]).toBe(snapshot_at)
  expect(parts.map((part) => part.rows).slice(0, -1)).toEqual(parts.slice(1).map(() => 2))
})

/** Nonce of the claim that a proof is of, and whether the checksum of the proof is right. */
function proofIn(text: unknown) {
  const { sha256, ...proof } = JSON.parse(String(text)) as ClaimProof
  return { ofNonce: proof.nonce, isWhole: sealProof(proof).sha256 === sha256 }
}

test('each kind of file is read by the query that the document gives for it', async () => {
  const document = readFileSync(join(root, 'docs/exports.md'), 'utf8')
  const questions = [...document.matchAll(/```sql\n([\s\S]*?)```/g)]
    .map(([, sql]) => sql as string)
    .filter((sql) => sql.includes("'.data/agents/"))
  const formats = ['csv', 'parquet']
  expect(questions.length).toBe(formats.length)
  for (const [at, format] of formats.entries()) {
    const folder = await exportFolder()
    await runExport('--what', 'agents', '--format', format, '--out', folder)
    expect(manifestOf(folder).columns.find(({ name }) => name === 'chains')?.about).toMatch(/^Names of the chains/)
    const { rows } = await askDuckDb(questions[at]!.replaceAll('.data/agents', folder))
    expect([format, rows]).toEqual([
      format,
      [
        ['1', 'agent1', 'base'],
        ['2', null, 'base'],
        ['2', null, 'celo'],
      ],
    ])
  }
})

test('dollars of a Parquet export are decimals, and its times have a zone', async () => {
  const folder = await exportFolder()
  await runExport('--what', 'settlements', '--format', 'parquet', '--out', folder, '--chain', 'celo')
  const from = `from read_parquet('${folder}/settlements-*.parquet')`
  const { types } = await askDuckDb(`select amount_usdc, block_timestamp ${from}`)
  expect(types).toEqual(['DECIMAL(18,6)', 'TIMESTAMP WITH TIME ZONE'])
})

async function askDuckDb(question: string) {
  const connection = await (await DuckDBInstance.create()).connect()
  const reader = await connection.runAndReadAll(question)
  connection.closeSync()
  return { types: reader.columnTypes().map(String), rows: reader.getRowsJson() }
}

test('text like a formula stays as it is, in quotes', async () => {
  const folder = await exportFolder()
  await runExport('--what', 'agents', '--format', 'csv', '--out', folder)
  const content = readFileSync(join(folder, 'agents-00001.csv'), 'utf8')
  expect(content).toContain(`,"${formula.replaceAll('"', '""')}",`)
})

test('numbers of NDJSON have all their digits', async () => {
  const folder = await exportFolder()
  await runExport('--what', 'settlements', '--format', 'ndjson', '--out', folder)
  const content = readFileSync(join(folder, 'settlements-00001.ndjson'), 'utf8')
  expect(content).toContain('"amount":9007199254740993,"amount_usdc":9007199254.740993')
})

test.for([
  { what: 'agents', args: ['--chain', 'celo'], where: `fid = 2` },
  { what: 'agents', args: ['--since', '2026-03-02'], where: `fid = 30` },
  { what: 'settlements', args: ['--chain', 'base'], where: `chain = 'base'` },
  { what: 'settlements', args: ['--since', '2026-03-02T01:00:00+01:00'], where: `block_number in (100, 101)` },
  { what: 'settlements', args: ['--chain', 'base', '--since', '2026-03-02'], where: `block_number = 101` },
  { what: 'registrations', args: ['--chain', 'celo'], where: `chain = 'celo'` },
  { what: 'claims', args: ['--since', '2026-03-05'], where: `nonce = '-two'` },
] as const)('$what with $args are those alone', async ({ what, args, where }) => {
  const folder = await exportFolder()
  await runExport('--what', what, '--format', 'parquet', '--out', folder, ...args)
  const expected = await viewRows(what, orders[what], where)
  expect(expected.length).toBeGreaterThan(0)
  expect((await exportedRows(folder)).map(({ whole_proof: _, ...row }) => row)).toEqual(expected)
})

test('an export without rows is whole, and its file has the columns', async () => {
  const folder = await exportFolder()
  await runExport('--what', 'settlements', '--format', 'parquet', '--out', folder, '--chain', 'polygon')
  const manifest = manifestOf(folder)
  expect(manifest).toMatchObject({ complete: true, rows: 0, parts: [{ rows: 0 }] })
  expect(readFileSync(join(folder, 'manifest.json'), 'utf8')).toBe(`${JSON.stringify(manifest)}\n`) // as all JSON here
  const { schema } = await parquetMetadataAsync(await asyncBufferFromFile(join(folder, 'settlements-00001.parquet')))
  expect(schema.slice(1).map(({ name }) => name)).toEqual(manifestOf(folder).columns.map(({ name }) => name))
})
