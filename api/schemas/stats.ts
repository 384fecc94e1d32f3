import { z } from 'zod'
import { type ChainName, chainNames } from '../../chains.config.ts'
import { chainName, count, time } from './scalars.ts'

const chainProgress = z
  .strictObject({
    chain: chainName,
    indexed_block: count.nullable(),
    finalized_block: count.nullable(),
    head_block: count.nullable(),
    lag_seconds: count.nullable().meta({ description: 'Age of the newest indexed block.' }),
  })
  .meta({ id: 'ChainProgress', description: 'How far a chain is indexed; nulls before its first block.' })

const perChain = Object.fromEntries(chainNames.map((name) => [name, count])) as Record<ChainName, typeof count>

export const stats = z
  .strictObject({
    total_agents: count,
    claimed_count: count,
    cross_chain_count: count.meta({ description: 'Agents on two chains or more.' }),
    addresses_indexed: count.meta({ description: 'Addresses that hold or held a token, and verified ones of agents.' }),
    erc8004_supply: z.strictObject(perChain).meta({ description: 'Minted minus burned.' }),
    settlements: z
      .strictObject({ last_24h: count, last_7d: count, last_30d: count, all: count })
      .meta({ description: 'To agents’ verified addresses, as counted within the last minute or two.' }),
    chains: z.array(chainProgress),
    generated_at: time,
  })
  .meta({ id: 'Stats' })
