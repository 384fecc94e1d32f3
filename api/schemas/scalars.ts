import { z } from 'zod'
import { chainNames, chains } from '../../chains.config.ts'

/** ISO 8601, UTC, milliseconds. */
export const time = z.iso.datetime({ precision: 3 }).meta({ id: 'Time', examples: ['2026-02-03T11:08:33.000Z'] })

export const address = z
  .string()
  .regex(/^0x[0-9a-f]{40}$/)
  .meta({ id: 'Address', description: '20 bytes, lowercase hex.' })

export const hash = z
  .string()
  .regex(/^0x[0-9a-f]{64}$/)
  .meta({ id: 'Hash', description: '32 bytes, lowercase hex.' })

export const fid = z.int().positive().meta({ id: 'Fid', description: 'The agent’s id in the social network.' })

/** Token ids are 256 bits wide on chain; JSON numbers carry them whole, JavaScript reads large ones rounded. */
export const tokenId = z
  .number()
  .nonnegative()
  .meta({
    id: 'TokenId',
    description: 'Id of an ERC-8004 token; 0 is a real one.',
    override: { type: 'integer', minimum: 0 },
  })

export const count = z.int().nonnegative()

/** Dollars with six decimals. */
export const dollars = z.number().nonnegative().meta({ description: 'Dollars; exact, six decimals.' })

export const chainName = z.enum(chainNames).meta({ id: 'ChainName', description: 'Chain, as rows name it.' })

export const chainId = z.literal(chainNames.map((name) => chains[name].id)).meta({ description: 'EIP-155 chain id.' })

export const chainLabel = z
  .enum(chainNames.map((name) => chains[name].label))
  .meta({ id: 'ChainLabel', description: 'Chain, as filters and profiles name it.' })

export const claimMethod = z.enum(['eip191', 'jfs', 'well-known']).meta({ id: 'ClaimMethod' })

export const agentStatus = z.enum(['active', 'historical', 'claimed-only']).meta({
  id: 'AgentStatus',
  description:
    'active: a verified address owns a token now; historical: it once did; claimed-only: claimed without a token.',
})

export const nextCursor = z
  .string()
  .nullable()
  .meta({ description: 'For the parameter `cursor` of the next page; null: this is the last.' })
