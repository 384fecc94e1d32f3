import { z } from 'zod'
import { coverageLimits } from '../../../config/limits.ts'
import { chainId, chainName, count, hash, time } from '../scalars.ts'

const list = <T extends z.ZodType>(member: T, description: string) =>
  z.array(member).max(coverageLimits.members).meta({ description })

const range = z
  .strictObject({
    from_block: count,
    to_block: count,
    by: z.enum(['processor', 'backfill']),
    state: z.enum(['indexed', 'loaded', 'loading', 'archived']).meta({
      description:
        'archived: the settlements were taken out of the database, and are in the files under /exports; counts have them.',
    }),
  })
  .meta({ id: 'CoveredRange', description: 'Blocks whose settlements somebody indexes; both ends included.' })

const gap = z
  .strictObject({
    from_block: count,
    to_block: count.nullable().meta({ description: 'Null: without an end.' }),
    command: z.string().meta({ description: 'What the operator closes it with.' }),
  })
  .meta({ id: 'CoverageGap' })

const certificate = z
  .strictObject({
    by: z.enum(['backfill', 'audit']),
    from_block: count,
    to_block: count,
    settlements: count,
    amount: z.string().regex(/^\d+$/).meta({ description: 'Sum in base units.' }),
    checksum: z
      .string()
      .regex(/^[0-9a-f]{16}$/)
      .meta({ description: 'Sum modulo 2^64 over the blocks: first eight bytes of the SHA-256 of their rows.' }),
    payments: count.meta({
      description: 'What forwarders passed on and contracts of x402 settled, which are no settlements.',
    }),
    payment_checksum: z
      .string()
      .regex(/^[0-9a-f]{16}$/)
      .meta({ description: 'Sum modulo 2^64 over them: first eight bytes of the SHA-256 of each.' }),
    first_hash: hash,
    last_hash: hash,
    sources: z.array(z.string()).meta({
      description:
        'Which sources agree on it: portal, archive, rpc. A node does where it wrote the same rows, or confirmed a sample ' +
        'of the blocks in which the other source had nothing.',
    }),
    certified_at: time,
    mended: count.nullable().meta({ description: 'Settlements that an audit put right; null: no audit.' }),
  })
  .meta({ id: 'Certificate', description: 'Whoever indexed the same blocks has the same, whatever the source.' })

export const coverage = z
  .strictObject({
    count,
    chains: z.array(
      z.strictObject({
        chain: chainName,
        chain_id: chainId,
        first_block: count
          .nullable()
          .meta({ description: 'From which settlements are looked for; null: there are none.' }),
        indexed_block: count.nullable(),
        indexed_at: time.nullable(),
        finalized_block: count.nullable(),
        head_block: count.nullable(),
        recipients: z.enum(['all', 'verified']).meta({ description: 'Whose settlements are stored.' }),
        ranges: list(range, 'Those of the newest blocks, ascending.'),
        ranges_total: count,
        gaps: list(gap, 'Those of the newest blocks, ascending.'),
        gaps_total: count,
        audited_blocks: count.meta({ description: 'Written from a node, and read again since.' }),
        unaudited_blocks: count,
        certificates: list(certificate, 'Those of the newest blocks, ascending.'),
        certificates_total: count,
      }),
    ),
  })
  .meta({ id: 'Coverage' })
