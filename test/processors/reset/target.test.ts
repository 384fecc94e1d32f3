import { expect, test } from 'vitest'
import { readChains } from '../../../config/chains.file.ts'
import { findTarget } from '../../../processors/reset/target.ts'

const { base } = readChains({ env: {} })
const remembered = [300, 200, 100].map((height) => ({ height, hash: `0x${height}` }))

/** A source of the chain with the indexed blocks up to height `same`, and other blocks above it. */
const source = (same: number) => ({
  hashOf: async (height: number) => (height <= same ? `0x${height}` : `0xother${height}`),
})

test.for([
  ['the block itself, where both chains are one', 250, 300, 250],
  ['the newest block that both have, where they parted below it', 250, 220, 200],
  ['the oldest, where they parted right behind it', 250, 100, 100],
] as const)('goes back to %s', async ([, height, same, expected]) => {
  expect(await findTarget(base, height, remembered, source(same))).toEqual({ height: expected, hash: `0x${expected}` })
})

test('where no remembered block is on the chain, says what that means and which command remains', async () => {
  const what = /is known to be on the chain that its sources report.*npm run reset -- --chain base --all$/
  await expect(findTarget(base, 250, remembered, source(99))).rejects.toThrow(/^base: none of .*, down to 100, is/)
  await expect(findTarget(base, 250, remembered, source(99))).rejects.toThrow(what)
  await expect(findTarget(base, 250, [], source(300))).rejects.toThrow(/^base: no final block is/)
})

test('where the source does not show the block asked for, refuses rather than go back to a block above it', async () => {
  const { hashOf } = source(300)
  const gapped = { hashOf: async (height: number) => (height === 250 ? undefined : hashOf(height)) }
  const refused = /^base: its sources do not show block 250; .*choose another block, such as 200$/
  await expect(findTarget(base, 250, remembered, gapped)).rejects.toThrow(refused)
  const young = { hashOf: async (height: number) => (height < 100 ? undefined : hashOf(height)) }
  await expect(findTarget(base, 50, remembered, young)).rejects.toThrow(/do not show block 50; .*such as 100$/)
})
