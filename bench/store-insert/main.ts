import { pino } from 'pino'
import { readChains, settingsOf } from '../../config/chains.file.ts'
import { busiestChain, chainOf } from '../../config/chains.ts'
import { tokensOf } from '../../processors/mapping/scale.ts'
import { settleBlocks } from '../../processors/mapping/settle-blocks.ts'
import { Progress } from '../../processors/progress.ts'
import { createSource } from '../../processors/source/source.ts'
import { ChainDatabase } from '../../processors/store/database.ts'
import { toEntity } from '../../processors/store/writer.ts'

// The plain program that the backfill is compared with: EvmBatchProcessor, an entity a settlement, `store.insert`.
// node bench/store-insert/main.ts <from> <to>, with the settings in the environment.

const [from, to] = process.argv.slice(2).map(Number)
const { registry, reputation, tokens: dollars } = chainOf(busiestChain)
const fromBlock = from as number
const file = {
  [busiestChain]: {
    registry: { address: registry.address, fromBlock },
    reputation: { address: reputation.address, fromBlock },
    tokens: dollars.map(({ address, decimals }) => ({ address, decimals, fromBlock })),
  },
}
const chain = settingsOf(readChains({ env: process.env, file }), busiestChain)
const progress = new Progress()
const database = new ChainDatabase(process.env.DATABASE_URL as string, chain, progress, console)
const log = pino({ level: 'error' })
const source = createSource({ chain, portalKey: undefined, log, progress, final: () => undefined, backfilled: [] })
const tokens = tokensOf(chain)

source.processor.setBlockRange({ from: fromBlock, to }).run(database, async ({ store, blocks }) => {
  const { settlements } = await settleBlocks(chain.name, tokens, blocks, source.findCalls, new Map())
  await store.insert(settlements.map(toEntity))
})
