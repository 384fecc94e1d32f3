import { beforeAll, expect, test } from 'vitest'
import { inTransaction } from '../../db/pool.ts'
import type { Display } from '../../export/display.ts'
import { readRequest } from '../../export/request.ts'
import { runExport } from '../../export/run.ts'
import { testDatabase } from '../support/database.ts'
import { exportedRows, exportFolder, proofTerms } from '../support/exports.ts'
import { addressOf, seedSettlement } from '../support/seed.ts'

const database = testDatabase()
beforeAll(async () => {
  for (const block of [1, 2, 3, 4]) await settle(block)
})

const settle = (block: number) => seedSettlement(database.pool, { chain: 'base', recipient: addressOf('a'), block })

/** Exports the settlements, one row to a file; runs `meanwhile` after the first page, when the snapshot is taken. */
async function exportWhile(folder: string, meanwhile: () => Promise<void>) {
  const { request } = readRequest({ what: 'settlements', format: 'csv', out: folder, 'part-rows': '1' })
  const silent: Display = { update() {}, stop() {} }
  await inTransaction(database.pool, async (client) => {
    let begun = false
    const query = client.query.bind(client) as (...args: unknown[]) => Promise<unknown>
    const watched = {
      async query(...args: unknown[]) {
        const result = await query(...args)
        const isPage = typeof args[0] === 'object'
        if (isPage && !begun) {
          begun = true
          await meanwhile()
        }
        return result
      },
    }
    const terms = proofTerms('https://api.example')
    await runExport(watched as unknown as typeof client, request, { folder, terms, served: folder }, () => silent)
  })
}

test('what is written while an export runs is not in it', async () => {
  const folder = await exportFolder()
  await exportWhile(folder, () => settle(5))
  expect((await exportedRows(folder)).map((row) => row.block_number)).toEqual(['1', '2', '3', '4'])
})

test('a folder is written to by one process at a time', async () => {
  const folder = await exportFolder()
  let second: unknown
  await exportWhile(folder, async () => {
    second = await exportWhile(folder, async () => {}).catch((error) => error)
  })
  expect(second).toMatchObject({ name: 'UsageError', message: `another process exports to ${folder}` })
})
