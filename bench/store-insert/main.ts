import { pino } from 'pino'
import { chains } from '../../chains.config.ts'
import { readChains } from '../../chains.file.ts'
import { settleBlocks } from '../../processors/mapping/settle-blocks.ts'
import { Progress } from '../../processors/progress.ts'
import { createSource } from '../../processors/source/source.ts'
import { ChainDatabase } from '../../processors/store/database.ts'
import { toEntity } from '../../processors/store/settlement-record.ts'

// The plain program that the backfill is compared with: EvmBatchProcessor, an entity a settlement, `store.insert`.
// node bench/store-insert/main.ts <from> <to>, with the settings in the environment.

const [from, to] = process.argv.slice(2).map(Number)
const chain = readChains({
  env: process.env,
  file: {
    base: {
      registry: { address: chains.base.registry.address, fromBlock: from },
      reputation: { address: chains.base.reputation.address, fromBlock: from },
      tokens: [{ ...chains.base.tokens[0], fromBlock: from }],
    },
  },
}).base
const progress = new Progress()
const database = new ChainDatabase(process.env.DATABASE_URL as string, chain, progress)
const log = pino({ level: 'error' })
const source = createSource({ chain, portalKey: undefined, log, progress, final: () => undefined, backfilled: [] })
const tokens = new Set(chain.tokens.map(({ address }) => address))

source.processor.setBlockRange({ from: from as number, to }).run(database, async ({ store, blocks }) => {
  const { settlements } = await settleBlocks(chain.name, tokens, blocks, source.findCalls)
  await store.insert(settlements.map(toEntity))
})
