import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { blockTables } from '../../db/queries/chain/block-rows.ts'
import { listFiles, readSources, root } from '../support/source-files.ts'
import { tableWriters } from './table-writers.ts'

/** Tables by the room that writes them without a literal name in SQL: by the SDK's store, or with a built name. */
const known = {
  processors: [
    'registration',
    'registration_metadata',
    'registration_transfer',
    'registration_approval',
    'registration_operator',
    'registry_event',
    'settlement',
    'feedback',
    'feedback_response',
  ],
  enrichment: [
    'settlement_hourly',
    'settlement_hour_total',
    'settlement_total',
    'settlement_payer',
    'facilitator_total',
  ],
  export: ['claim', 'claim_event', 'claim_action', 'unlisted', 'farcaster_message', 'signer_key', 'custody_reading'],
}
const restored = 'an import writes into tables that are empty, and nobody else meanwhile'
/** Exempt: it derives a claimed agent at once, with the join's own function under the join's lock. */
const except = ['api/claim/derive-claimed.ts']
/** Tables with two kinds of writers, and why. */
const shared: Record<string, string> = {
  claim: `the job notes when a claim of the API was checked last; ${restored}`,
  claim_event: `the API appends what owners say, the job what the network and the chains say, under one lock; ${restored}`,
  claim_action: restored,
  unlisted: restored,
  farcaster_message: restored,
  signer_key: restored,
  custody_reading: restored,
  settlement_hourly: 'a reset of the whole chain takes its sums with it, under the roll-up’s lock',
  settlement_total: 'as settlement_hourly',
  settlement_payer: 'as settlement_hourly',
  payer_move: 'whoever moves the sums of pairs notes it in the same statement',
  settlement_hour_total: 'as settlement_hourly',
  facilitator_total: 'as settlement_hourly',
  settlement_rollup: 'blocks that are undone or taken out move the roll-up of their chain back',
  transparency_epoch: 'a restore begins the next log, under the lock of the kind',
  transparency_tile: 'as transparency_epoch',
  transparency_checkpoint: 'as transparency_epoch',
  due: 'a restore marks all facts for that log',
  webhook: 'the job removes endpoints a day after the API deleted them',
  settlement_rollup_backfill: 'a load that is taken out is not rolled up any further',
}
/** Tables that the API writes: claims, their actions and events, and when a served document was first produced. */
const ofApi = ['claim', 'claim_action', 'claim_event', 'produced_content', 'unlisted', 'webhook']

test('a table has one kind of writer', async () => {
  const schema = listFiles().filter((path) => /^db\/schema\/tables\/.*\.sql$/.test(path))
  const created = schema.flatMap((path) =>
    [...readFileSync(join(root, path), 'utf8').matchAll(/^create table (?:if not exists )?(\w+)/gm)].map(
      ([, name]) => name,
    ),
  )
  const writers = tableWriters(await readSources(), { known, except })
  const tables = [...writers].filter(([table]) => created.includes(table))
  expect(tables.length).toBeGreaterThan(35)
  const wrong = tables.filter(([table, rooms]) => rooms.size > 1 && !shared[table])
  expect(wrong.map(([table, rooms]) => `${table}: ${[...rooms].join(', ')}`)).toEqual([])
  // Exceptions that are no longer needed must be removed from the list.
  expect(Object.keys(shared).filter((table) => (writers.get(table)?.size ?? 0) < 2)).toEqual([])
  const byApi = tables.filter(([, rooms]) => rooms.has('api')).map(([table]) => table)
  expect(byApi.sort()).toEqual(ofApi)
})

/** Tables whose rows of a block go otherwise, and how. */
const otherwise = {
  settlement: 'taken off the sums, the newest first',
  registration_metadata: 'with its registration, which is written again as it was',
}

test('a reset deletes the rows of all tables that have them by block', () => {
  const files = listFiles().filter((path) => /^db\/schema\/tables\/.*\.sql$/.test(path))
  const created = files.flatMap((path) => [
    ...readFileSync(join(root, path), 'utf8').matchAll(/^create table (\w+) \(\n([\s\S]*?)^\)/gm),
  ])
  const byBlock = created.filter(
    ([, , columns = '']) => /^ {2}chain /m.test(columns) && /^ {2}block_number /m.test(columns),
  )
  expect(byBlock.map(([, name]) => name).sort()).toEqual([...blockTables, ...Object.keys(otherwise)].sort())
})
