import { z } from 'zod'
import { address, chainName, count, dollars, time } from '../scalars.ts'

const settled = z.strictObject({ settlements: count, volume_usdc: dollars }).meta({ id: 'Settled' })

const facilitator = z
  .strictObject({
    name: z.string(),
    senders: z.array(
      z.strictObject({
        address,
        source: z.string().meta({
          description:
            'Who says that it is an account of the facilitator: the published list x402scan, or its own host.',
        }),
      }),
    ),
    chains: z.array(chainName).meta({ description: 'Where it settled.' }),
    settlements: count.meta({ description: 'Of both kinds, whoever was paid.' }),
    volume_usdc: dollars,
    by_kind: z
      .strictObject({ eip3009_vrs: settled, eip3009_bytes: settled })
      .meta({ description: 'By the form of the signature: v, r and s, or bytes.' }),
    first_used_at: time.nullable().meta({ description: 'Time of its first settlement; null: there is none.' }),
    last_used_at: time.nullable().meta({ description: 'Time of its newest settlement; null: there is none.' }),
  })
  .meta({ id: 'Facilitator', description: 'Who sends the transactions of payments for others.' })

export const facilitatorList = z
  .strictObject({
    count,
    generated_at: time,
    complete_until: time.nullable().meta({
      description: 'Everything up to here is counted, of the chain that is least far. Null: not known of one of them.',
    }),
    facilitators: z.array(facilitator),
  })
  .meta({ id: 'FacilitatorList' })
