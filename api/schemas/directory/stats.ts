import { z } from 'zod'
import { chainNames } from '../../../config/chains.ts'
import { chainName, count, time } from '../scalars.ts'

const chainProgress = z
  .strictObject({
    chain: chainName,
    indexed_block: count.nullable(),
    finalized_block: count.nullable(),
    head_block: count.nullable(),
    lag_seconds: count.nullable().meta({ description: 'Age of the newest indexed block.' }),
  })
  .meta({ id: 'ChainProgress', description: 'How far a chain is indexed; nulls before its first block.' })

/** A count for every chain of the table. */
const perChain = z
  .record(z.string(), count)
  .refine((counts) => Object.keys(counts).join() === chainNames.join())
  .meta({
    description: 'Registrations of each chain, without those that were burned.',
    override: ({ jsonSchema }) => {
      const { additionalProperties: ofEach, description } = jsonSchema
      for (const key of Object.keys(jsonSchema)) delete jsonSchema[key as never]
      const properties = Object.fromEntries(chainNames.map((name) => [name, ofEach]))
      const required = [...chainNames]
      Object.assign(jsonSchema, { type: 'object', properties, required, additionalProperties: false, description })
    },
  })

export const stats = z
  .strictObject({
    total_agents: count,
    claimed_count: count,
    cross_chain_count: count.meta({ description: 'Agents on two chains or more.' }),
    addresses_indexed: count.meta({
      description: 'Addresses that hold or held a registration, and verified addresses of agents.',
    }),
    erc8004_supply: perChain,
    settlements: z
      .strictObject({ last_24h: count, last_7d: count, last_30d: count, all: count })
      .meta({ description: 'To agents’ verified addresses.' }),
    chains: z.array(chainProgress),
    hub: z
      .strictObject({
        host: z.string(),
        since: time,
        believed: z
          .boolean()
          .meta({ description: 'false: it is behind, or knows too little; nothing is read from it.' }),
      })
      .nullable()
      .meta({ description: 'The hub of the social network that is followed; null: none was yet.' }),
    log: z
      .strictObject({
        number: count.meta({ description: '1: no other log was before it.' }),
        entries: count.nullable().meta({ description: 'Entries of the signed tree; null: nothing is signed yet.' }),
        before: z
          .strictObject({
            origin: z.string(),
            entries: count,
            checkpoint: z.string().meta({ description: 'As it was signed, by C2SP tlog-checkpoint.' }),
          })
          .nullable()
          .meta({
            description:
              'The last checkpoint that is known of the log before, of which entries were lost; null: there was none.',
          }),
      })
      .nullable()
      .meta({ description: 'The transparency log, of which docs/log.md tells; null: the service keeps none.' }),
    generated_at: time,
  })
  .meta({
    id: 'Stats',
    description: 'Totals as they were counted within the last minute or two; `chains`, `hub` and `log` as they are.',
  })
