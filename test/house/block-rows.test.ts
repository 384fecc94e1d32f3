import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { blockTables } from '../../db/queries/chain/block-rows.ts'
import { listFiles, root } from '../support/source-files.ts'

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
