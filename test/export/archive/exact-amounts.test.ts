import { expect, onTestFinished, test } from 'vitest'
import { amendChain, chainOf } from '../../../config/chains.ts'
import { inTransaction } from '../../../db/pool.ts'
import { runArchive } from '../../../export/archive/run.ts'
import { readRequest } from '../../../export/request.ts'
import { runExport } from '../../../export/run.ts'
import { exportedRows, exportFolder } from '../../support/exports.ts'
import { addressOf, insert } from '../../support/seed.ts'
import { archiveOf, archiveWorld, task } from './world.ts'

test('an export has every digit of an archived amount, as of one that is in the database', async () => {
  const { tokens } = chainOf('base')
  const [usdc] = tokens
  const database = await archiveWorld()
  onTestFinished(async () => {
    amendChain('base', { tokens })
    await database.drop()
  })
  amendChain('base', { tokens: [...tokens, { ...usdc!, address: addressOf('token'), decimals: 18 }] })
  await database.pool.query(
    `create or replace function tokens_are_scaled() returns boolean language sql immutable parallel safe as 'select true'`,
  )
  const { rows: paid } = await database.pool.query<{ block_number: number; log_index: number; amount: string }>(
    'select block_number, log_index, amount from settlement order by block_number, log_index',
  )
  for (const { block_number, log_index, amount } of paid) {
    const row = { chain: 'base', block_number, log_index, decimals: 18 }
    await insert(database.pool, 'exact_amount', {
      ...row,
      id: `base-${block_number}-${log_index}`,
      base_units: `${amount}123456789012`,
    })
  }
  const folder = await exportFolder()
  const exported = async () => {
    const out = await exportFolder()
    const { request } = readRequest({ what: 'settlements', format: 'csv', out, 'part-rows': '1000' })
    const places = { folder: out, terms: {} as never, served: folder }
    await inTransaction(database.pool, (db) => runExport(db, request, places, () => ({ update() {}, stop() {} })))
    return exportedRows(out)
  }
  const before = await exported()
  await runArchive(archiveOf(database, folder), task('archive'))
  expect(await exported()).toEqual(before)
  expect(JSON.stringify(before[0])).toContain('1.000000123456789012')
})
