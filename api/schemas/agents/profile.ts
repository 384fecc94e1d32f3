import { z } from 'zod'
import { documentLimits, profileLimits, queryLimits } from '../../../config/limits.ts'
import { agentIdentity, agentSpecs, codehostProfile, edge, oliTag } from '../documents/enriched.ts'
import { feedbackSummary } from '../feedback/feedback.ts'
import { historicalRegistration, record } from '../registrations/registration.ts'
import {
  address,
  agentStatus,
  chainLabel,
  chainName,
  claimMethod,
  count,
  fid,
  handleAssurance,
  time,
} from '../scalars.ts'

const text = z.string().nullable()
const maybeTime = time.nullable()

const attempt = (source: string) =>
  maybeTime.meta({ description: `When ${source} were last asked about it, failed attempts included.` })

/** Everything about one agent, in the order it is sent. Meaning of the words: docs/rules.md 3. */
export const profile = z
  .strictObject({
    fid,
    handle: text.meta({ description: 'Name at Farcaster, without @. Null: it has none, or was not read yet.' }),
    display_name: text.meta({ description: 'What the account calls itself.' }),
    bio: text.meta({ description: 'What the account says of itself.' }),
    pfp_url: text.meta({ description: 'Address of its picture, as the account names it.' }),
    oli: text.meta({ description: 'Name of the best tag on a verified address.' }),
    chains: z.array(chainLabel).meta({ description: 'Chains on which it holds a registration now.' }),
    claimed: z.boolean().meta({ description: 'Whether whoever controls the account has claimed it.' }),
    claim_method: claimMethod.nullable().meta({ description: 'Of the newest accepted claim.' }),
    claimed_at: maybeTime.meta({ description: 'Of the first accepted claim.' }),
    verified_addresses: z.array(address).meta({ description: 'Addresses that the account verifies now.' }),
    settlements_30d: count.meta({ description: 'Settlements to its verified addresses in the last 30 days.' }),
    settlements_all: count.meta({ description: 'Settlements to its verified addresses ever.' }),
    registered_at: time.meta({
      description: 'When its earliest registration was made: of those it holds, else of those it held, else its claim.',
    }),
    last_seen_at: maybeTime.meta({
      description: 'Newest of: an event of a registry, a settlement, a post, a document found alive.',
    }),
    last_enriched_at: maybeTime.meta({ description: 'When any source last answered about it.' }),
    agent_status: agentStatus,
    spec_check_status: z.enum(['unchecked', 'found', 'not_found', 'unreachable', 'invalid']).meta({
      description: 'What came of looking for machine-readable descriptions on its hosts.',
    }),
    last_socialindex_at: attempt('sources of the social network'),
    last_explorer_at: attempt('the explorers of labels'),
    last_identity_at: attempt('identities elsewhere'),
    last_codehost_at: attempt('code hosts'),
    last_spec_discovery_at: attempt('its own hosts'),
    erc8004_records: z
      .array(record)
      .max(profileLimits.registrations)
      .meta({ description: 'Registrations it holds now, those it acted on first; the list of registrations has all.' }),
    oli_tags: z.array(oliTag).meta({ description: 'Labels that others put on its verified addresses.' }),
    agent_specs: agentSpecs,
    agent_edges: z
      .array(edge)
      .max(profileLimits.edges)
      .meta({ description: 'Other agents it has to do with, and how.' }),
    codehost_profiles: codehostProfile
      .nullable()
      .meta({ description: 'Its account at a code host. Null: none is known.' }),
    agent_identities: z.array(agentIdentity).meta({ description: 'Its accounts elsewhere.' }),
    historical_registrations: z
      .array(historicalRegistration)
      .max(profileLimits.registrations)
      .meta({ description: 'Registrations it held once, those released last; the list of registrations has all.' }),
    erc8004_total: count.meta({ description: 'Registrations it holds now.' }),
    historical_total: count.meta({ description: 'Registrations it held once and holds no more.' }),
    claim_state: z.enum(['live', 'suspended']).nullable().meta({
      description: 'suspended: what the claim rests on does not show at the moment. Null: it is not claimed.',
    }),
    assurance: z.enum(['proven', 'signed', 'stated']).nullable().meta({
      description: 'The weakest verdict on its verified addresses. Null: it has none, or none was judged yet.',
    }),
    handle_assurance: handleAssurance,
    feedback: feedbackSummary.nullable().meta({
      description: 'Feedback on the registrations it holds now. Null: so much that it was not counted yet.',
    }),
    income_url: z.url().meta({ description: 'Address of its income, of every kind of payment.' }),
    chain_names: z.array(chainName).meta({ description: '`chains` by the names that rows have.' }),
  })
  .meta({ id: 'AgentProfile' })

/** A profile as it is answered where `fields` names what to send. */
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

/** Profiles of several agents as they are answered where `fields` names what to send. */
export const agentFieldsBatch = agentBatch
  .extend({ agents: z.array(profileFields).max(queryLimits.batch) })
  .meta({ id: 'AgentFieldsBatch' })

export const bulkDocument = z
  .strictObject({
    generated_at: time.meta({ description: 'When this content was first produced.' }),
    count: count.max(documentLimits.bulkAgents),
    total: count.meta({ description: 'Claimed agents there are.' }),
    truncated: z.boolean().meta({ description: 'Whether there are more claimed agents than are listed.' }),
    schema_version: z.literal(1),
    agents: z
      .array(
        profile
          .omit({ oli_tags: true, agent_edges: true, agent_identities: true })
          .meta({ id: 'BulkAgent', description: 'A profile without tags, edges and identities.' }),
      )
      .max(documentLimits.bulkAgents),
  })
  .meta({ id: 'BulkDocument' })
