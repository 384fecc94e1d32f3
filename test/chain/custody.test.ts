import { afterAll, beforeAll, expect, test } from 'vitest'
import { accountOf, type DevChain, funder, startDevChain } from '../../devnet/chain/chain.ts'
import { recoverFid, registerFid, transferFid } from '../../devnet/chain/farcaster.ts'
import { forkHere } from '../support/chain/branches.ts'
import { type ChainIndex, cleanTables, indexChain, untilSame } from '../support/chain/index-chain.ts'

const [first, second, third, other] = ['first', 'second', 'third', 'other'].map((name) => accountOf(`custody ${name}`))
const finality = 20

let chain: DevChain
let index: ChainIndex
beforeAll(async () => {
  chain = await startDevChain('optimism', {})
  index = await indexChain(chain, { finality })
})
afterAll(async () => {
  await index?.close()
  await chain?.stop()
})

const custody = async () => {
  const { rows } = await index.database.pool.query(
    `select fid::int, encode("from", 'hex') as "from", encode("to", 'hex') as "to", kind from fid_custody
      order by block_number, log_index`,
  )
  return rows
}
const hexOf = (account: { address: string } | undefined) => account?.address.slice(2).toLowerCase()

test('a FID that is given away, and one that is recovered, each change their custody', async () => {
  await chain.execute(funder, registerFid(7n, first!.address))
  await chain.execute(funder, registerFid(8n, other!.address))
  expect(await custody()).toEqual([])
  await chain.execute(funder, transferFid(7n, second!.address))
  await chain.execute(funder, recoverFid(7n, third!.address))
  await index.untilHead()
  expect(await custody()).toEqual([
    { fid: 7, from: hexOf(first), to: hexOf(second), kind: 't' },
    { fid: 7, from: hexOf(second), to: hexOf(third), kind: 'r' },
  ])
})

test('a change of custody is undone with its block', { timeout: 120_000 }, async () => {
  const before = await custody()
  const fork = await forkHere(chain)
  await fork.mine([[{ from: funder, call: transferFid(8n, first!.address) }]])
  await index.untilHead()
  expect(await custody()).toHaveLength(before.length + 1)
  await fork.mine([[], [], []])
  await untilSame(index, chain, await cleanTables(chain, { finality }))
  expect(await custody()).toEqual(before)
})
