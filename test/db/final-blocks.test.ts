import { expect, test } from 'vitest'
import { noteFinalBlock, readFinalBlocks } from '../../db/queries/chain/final-blocks.ts'
import { testDatabase } from '../support/database.ts'

const database = testDatabase()
const hash = `0x${'ab'.repeat(32)}`

test('a chain with several blocks a second remembers final blocks of the days before', async () => {
  const { pool } = database
  // As many as are kept one by one, from an older part of the chain on.
  await pool.query(
    `insert into final_block (chain, height, hash)
     select 'arbitrum', height, $1 from generate_series(100001, 110000) as height`,
    [hash],
  )
  for (let height = 110_001; height <= 110_020; height++) await noteFinalBlock(pool, 'arbitrum', { height, hash })
  const heights = (await readFinalBlocks(pool, 'arbitrum')).map(({ height }) => height)
  expect(heights.at(-1)).toBe(100_001)
  expect(heights.at(-2)).toBe(100_021)
  expect(heights).toHaveLength(10_001)
})
