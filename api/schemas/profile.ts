import { z } from 'zod'
import { profileLimits, queryLimits } from '../../limits.config.ts'
import { agentIdentity, agentSpecs, codehostProfile, edge, oliTag } from './enriched.ts'
import { feedbackSummary } from './feedback/feedback.ts'
import { historicalRegistration, record } from './registration.ts'
import { address, agentStatus, chainLabel, claimMethod, count, fid, time } from './scalars.ts'

const text = z.string().nullable()
const maybeTime = time.nullable()

/** Everything about one agent, in the order it is sent. Meaning of the words: docs/rules.md 3. */
export const profile = z
  .strictObject({
    fid,
    handle: text,
    display_name: text,
    bio: text,
    pfp_url: text,
    oli: text.meta({ description: 'Name of the best tag.' }),
    chains: z.array(chainLabel),
    claimed: z.boolean(),
    claim_method: claimMethod.nullable().meta({ description: 'Of the newest accepted claim.' }),
    claimed_at: maybeTime.meta({ description: 'Of the first accepted claim.' }),
    verified_addresses: z.array(address),
    settlements_30d: count,
    settlements_all: count,
    registered_at: time,
    last_seen_at: maybeTime,
    last_enriched_at: maybeTime.meta({ description: 'Newest success of any source.' }),
    agent_status: agentStatus,
    spec_check_status: z.enum(['unchecked', 'found', 'not_found', 'unreachable', 'invalid']),
    last_socialindex_at: maybeTime.meta({ description: 'Last attempt of the source, failed ones included.' }),
    last_explorer_at: maybeTime,
    last_identity_at: maybeTime,
    last_codehost_at: maybeTime,
    last_spec_discovery_at: maybeTime,
    erc8004_records: z
      .array(record)
      .max(profileLimits.registrations)
      .meta({ description: 'Those it acted on first; all are in registrations.' }),
    oli_tags: z.array(oliTag),
    agent_specs: agentSpecs,
    agent_edges: z.array(edge).max(profileLimits.edges),
    codehost_profiles: codehostProfile.nullable(),
    agent_identities: z.array(agentIdentity),
    historical_registrations: z
      .array(historicalRegistration)
      .max(profileLimits.registrations)
      .meta({ description: 'Those released last; all are in registrations.' }),
    erc8004_total: count.meta({ description: 'Tokens it holds now.' }),
    historical_total: count.meta({ description: 'Holdings that ended.' }),
    claim_state: z.enum(['live', 'suspended']).nullable().meta({ description: 'Null: it is not claimed.' }),
    assurance: z
      .enum(['proven', 'signed', 'stated'])
      .nullable()
      .meta({ description: 'What the weakest of the verified addresses is proven by; null without any.' }),
    feedback: feedbackSummary.nullable().meta({
      description: 'Of the registrations it holds now. Null: so much that it was not counted yet.',
    }),
    income_url: z.url().meta({ description: 'Where its income is told.' }),
  })
  .meta({ id: 'AgentProfile' })

/** With `fields` in the query. */
export const profileFields = profile.partial().required({ fid: true }).meta({ id: 'AgentProfileFields' })

export const agentBatch = z
  .strictObject({
    count: count.max(queryLimits.batch),
    agents: z.array(profile).max(queryLimits.batch),
    not_found: z.array(z.union([fid, address])).meta({ description: 'What was asked for and leads to no agent.' }),
    ignored: z
      .array(z.string())
      .meta({ description: `What is past ${queryLimits.batch} in all, or neither a FID nor an address.` }),
  })
  .meta({ id: 'AgentBatch' })

/** With `fields` in the query. */
export const agentFieldsBatch = agentBatch
  .extend({ agents: z.array(profileFields).max(queryLimits.batch) })
  .meta({ id: 'AgentFieldsBatch' })
