import { encodeFunctionResult, type Hex, pad, parseAbi, toHex } from 'viem'
import { expect, onTestFinished, test } from 'vitest'
import { chains } from '../../../config/chains.ts'
import { readingLimits } from '../../../config/limits.ts'
import { startDevChain } from '../../../devnet/chain/chain.ts'
import { readAccount } from '../../../enrichment/control/accounts.ts'
import { FinalNode } from '../../../enrichment/control/final-node.ts'
import { createProofWorld } from '../../../social/proof-world.ts'
import { answeringCode } from '../../support/chain/answering-code.ts'
import { addressOf } from '../../support/seed.ts'

const abi = parseAbi(['function getOwners() view returns (address[])'])
/** A contract with one signer to agree and as many owners as fit into the bytes. */
const codeWith = (bytes: number) => {
  const owners = Array.from({ length: bytes / 32 - 2 }, (_, n) => pad(toHex(n + 1), { size: 20 }))
  return answeringCode({
    '0xa0e67e2b': encodeFunctionResult({ abi, functionName: 'getOwners', result: owners }),
    '0xe75235b8': pad('0x1'),
  })
}

test('of an answer longer than a known account gives, no address is decoded', async () => {
  const chain = await startDevChain('base')
  onTestFinished(chain.stop)
  const world = createProofWorld({ ...chains, base: { ...chains.base, rpc: chain.rpc } })
  onTestFinished(() => world.close())
  const most = readingLimits.contractAnswerBytes
  const fits = addressOf('fits') as Hex
  const exceeds = addressOf('exceeds') as Hex
  await chain.client.setCode({ address: fits, bytecode: codeWith(most) })
  await chain.client.setCode({ address: exceeds, bytecode: codeWith(most + 32) })
  await chain.client.mine({ blocks: 100 })
  const node = await FinalNode.of(world.nodeOf(8_453)!, async () => {})
  expect((await node.call(fits, '0xa0e67e2b'))?.length).toBe(2 + 2 * most)
  expect(await node.call(exceeds, '0xa0e67e2b')).toBeUndefined()
  expect(await readAccount(node, 8_453, exceeds)).toMatchObject({ kind: 'contract', owners: [] })
})
