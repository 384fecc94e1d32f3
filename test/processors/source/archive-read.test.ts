import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { readChains } from '../../../config/chains.file.ts'
import { Progress } from '../../../processors/progress.ts'
import { ChainProcessor } from '../../../processors/source/chain-processor.ts'
import { generatedSource } from '../../doubles/portal/generated-source.ts'
import { startPortal } from '../../doubles/portal/server.ts'

const token = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'
const firstBlock = 1_000

test('how far an archive was read is known batch by batch, whatever more it has', async () => {
  const source = generatedSource({ firstBlock, blocks: 40, settlementsPerBlock: 1, token, chunkBlocks: 10 })
  const portal = await startPortal({ datasets: { 'base-mainnet': source }, chunksPerAnswer: 1 })
  onTestFinished(() => portal.stop())
  const { processor, progress } = processorOf({ portal: portal.url })
  expect(progress.archiveReadTo).toBe(firstBlock - 1)
  const read: number[] = []
  const archive = processor.getArchiveDataSource()
  for await (const { blocks } of archive.getFinalizedBlocks(processor.getBatchRequests(), true)) {
    expect(progress.archiveReadTo).toBe(blocks.at(-1).header.height)
    read.push(blocks.at(-1).header.height)
  }
  expect(read.length).toBeGreaterThan(1)
  expect(read.at(-1)).toBe(firstBlock + 39)
})

test('without an archive nothing is read from one', () => {
  expect(processorOf({ portal: null, rpc: 'http://127.0.0.1:1' }).progress.archiveReadTo).toBeUndefined()
})

function processorOf(sources: object) {
  const contract = (address: string) => ({ address, fromBlock: firstBlock })
  const base = {
    rpc: null,
    registry: contract('0x8004a169fb4a3325136eb29fa0ceb6d2e539a432'),
    reputation: contract('0x8004baa17c55a88189ae136b182e5fda19de9b63'),
    tokens: [{ ...contract(token), decimals: 6 }],
    paymentContracts: [],
    ...sources,
  }
  const progress = new Progress()
  const processor = new ChainProcessor({
    chain: readChains({ env: {}, file: { base } }).base,
    portalKey: undefined,
    log: pino({ level: 'silent' }),
    progress,
    final: () => undefined,
    backfilled: [],
  })
  return { processor, progress }
}
