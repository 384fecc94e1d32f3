import { z } from 'zod'
import { agentStatus, chainLabel, claimMethod, count, fid, time } from '../scalars.ts'

const text = z.string().nullable()

/** Fields of a lean row, an agent in lists: discovery has these, the leaderboard and the search add to them. */
export const leanFields = {
  fid,
  handle: text.meta({ description: 'Name at Farcaster, without @.' }),
  display_name: text.meta({ description: 'What the account calls itself.' }),
  pfp_url: text.meta({ description: 'Address of its picture, as the account names it.' }),
  oli: text.meta({ description: 'Name of the best tag on a verified address.' }),
  chains: z.array(chainLabel).meta({ description: 'Chains on which it holds a registration now.' }),
  claimed: z.boolean().meta({ description: 'Whether whoever controls the account has claimed it.' }),
  claim_method: claimMethod.nullable().meta({ description: 'Of the newest accepted claim. Null: it is not claimed.' }),
  agent_status: agentStatus,
  settlements_30d: count.meta({ description: 'Settlements to its verified addresses in the last 30 days.' }),
  settlements_all: count.meta({ description: 'Settlements to its verified addresses ever.' }),
  has_spec: z.boolean().meta({ description: 'Whether a machine-readable description of it was found.' }),
  has_codehost: z.boolean().meta({ description: 'Whether an account at a code host is known of it.' }),
  registered_at: time.meta({
    description: 'When its earliest registration was made: of those it holds, else of those it held, else its claim.',
  }),
  listed_at: time.meta({
    description:
      'When it became an agent: the first moment at which a verified address held a registration, or its claim.',
  }),
  last_seen_at: time.nullable().meta({
    description: 'Newest of: an event of a registry, a settlement, a post, a document found alive.',
  }),
}

export const leanRow = z.strictObject(leanFields).meta({ id: 'LeanRow' })
