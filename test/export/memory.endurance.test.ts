import { beforeAll, expect, test } from 'vitest'
import { testDatabase } from '../support/database.ts'
import { exportFolder, manifestOf } from '../support/exports.ts'
import { runMain } from '../support/mains.ts'

const database = testDatabase()
const many = 60_000

beforeAll(async () => {
  await database.pool.query(`
    insert into settlement (chain, block_number, log_index, block_timestamp, amount, selector_source, selector, token,
                            payer, recipient, facilitator, payment_nonce, tx_hash)
    select 'polygon', n, n % 7, '2026-03-01'::timestamptz + n * interval '1 s',
           n, 'c', '\\xe3ee160e', address, address, address, address, hash, hash
      from generate_series(1, ${many}) n,
   lateral (select sha256(n::text::bytea) as hash) h, lateral (select substr(hash, 1, 20) as address) a`)
})

test.for(['ndjson', 'csv', 'parquet'])('%s of more rows than fit into the memory', async (format) => {
  const folder = await exportFolder()
  const args = ['--what', 'settlements', '--format', format, '--out', folder, '--chain', 'polygon']
  const env = { DATABASE_URL: database.url, NODE_OPTIONS: '--max-old-space-size=72' }
  const ended = await runMain('export/main.ts', args, { env })
  expect(ended).toMatchObject({ code: 0, stderr: '' })
  expect(manifestOf(folder).rows).toBe(many)
})
