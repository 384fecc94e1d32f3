import { z } from 'zod'
import { agentStatus, chainLabel, claimMethod, count, fid, time } from './scalars.ts'

const text = z.string().nullable()

/** The fields of a lean row; discovery lists them, the leaderboard adds to them. */
export const leanFields = {
  fid,
  handle: text,
  display_name: text,
  pfp_url: text,
  oli: text,
  chains: z.array(chainLabel),
  claimed: z.boolean(),
  claim_method: claimMethod.nullable(),
  agent_status: agentStatus,
  settlements_30d: count,
  settlements_all: count,
  has_spec: z.boolean(),
  has_codehost: z.boolean(),
  registered_at: time,
  listed_at: time.meta({ description: 'When the agent became one: it held a token with a verified address.' }),
  last_seen_at: time.nullable(),
}

export const leanRow = z.strictObject(leanFields).meta({ id: 'LeanRow' })
