import { profileLimits } from '../../../config/limits.ts'
import { namesOf, profileFieldsOfSources, sources } from '../../../config/sources.ts'
import { assuranceOf, shownHandleAssurance } from './assurance.ts'
import { codehostProfile, edges, identities, oliTags } from './enriched-fields.ts'
import { profileFeedback } from './feedback.ts'
import { incomeUrl } from './installation.ts'
import { hex, isoTime, labelsOf, list, namesOfChains, textList } from './json-text.ts'
import { lastSeenAt } from './lean-row.ts'
import { historyObject, recordObject } from './registration-objects.ts'
import { historyOrder, recordOrder, shownHistory, shownRecords } from './shown-holdings.ts'
import { isReadableRow, uptimeOf } from './uptime.ts'

// The fields of a profile, for the statement that builds one and the one that builds thousands.

const records = `
select ${list(recordObject(`case when r.agent_uri_length <= ${profileLimits.uriBytes} then r.agent_uri end`), recordOrder)}
  from ${shownRecords('a.fid')} h
  join registration r using (chain, agent_id)
  left join registration_document d using (chain, agent_id)`

const history = `
select ${list(historyObject, historyOrder)}
  from ${shownHistory('a.fid')} h
  left join registration r using (chain, agent_id)`

/** How many entries at least the lists of a document `s` have, where not all are kept. */
const specCuts = `s.truncated || coalesce(s.details -> 'truncated', '{}')`

const specDocuments = `
select ${list(
  `json_build_object(
    'kind', s.kind,
    'url', s.url,
    'version', s.version,
    'title', s.title,
    'skills', to_json(s.skills),
    'tools', to_json(s.tools),
    'path_count', s.path_count,
    'domain_verified', s.domain_verified,
    'card_signature', s.card_signature,
    'content_sha256', encode(s.content_sha256, 'hex'),
    'first_seen_at', ${isoTime('s.first_seen_at')},
    'last_alive_at', ${isoTime('s.last_alive_at')},
    'last_check_at', ${isoTime('s.last_check_at')},
    'last_check_status', s.last_check_status,
    'http_status', s.http_status,
    'latency_ms', s.latency_ms,
    'consecutive_failures', s.consecutive_failures,
    'uptime_7d', u.uptime_7d,
    'uptime_30d', u.uptime_30d,
    'protocol_version', s.protocol_version,
    'tool_hashes', to_json(s.tool_hashes),
    'tools_changed_at', ${isoTime('s.tools_changed_at')},
    'back_reference', s.back_reference,
    'details', (s.details - 'truncated')::json,
    'resources', s.resources::json,
    'truncated', (${specCuts})::json,
    'readable', s.last_check_status = 'ok',
    'answers', case when s.answers is not null then
      json_build_object('code', s.answers, 'since', ${isoTime('s.answers_since')}, 'latency_ms', s.answers_ms) end
  )`,
  's.kind, s.url',
)}
  from agent_spec s
  left join (${uptimeOf('a.fid')}) u using (kind, url)
 where s.fid = a.fid`

/** Liveness is that of the best document, which no page is: alive now before alive once, then the one seen alive last. */
const specs = `(
select json_build_object(
  'last_alive_at', ${isoTime('best.last_alive_at')},
  'last_check_at', ${isoTime('best.last_check_at')},
  'last_check_status', best.last_check_status,
  'documents', (${specDocuments}),
  'truncated', coalesce((select c.truncated from agent_spec_check c where c.fid = a.fid), '{}')::json
)
  from (select) as one
  left join lateral (
    select s.last_alive_at, s.last_check_at, s.last_check_status
      from agent_spec s where s.fid = a.fid and s.kind <> 'web'
     order by ${isReadableRow} desc, s.last_alive_at desc nulls last, s.kind, s.url
     limit 1
  ) best on true
)`

/** What a profile is made of: name and expression over the agent `a`, with `paid` and `source` next to it. */
export const profileFields: readonly (readonly [name: string, expression: string])[] = [
  ['fid', 'a.fid'],
  ['handle', 'a.handle'],
  ['display_name', 'a.display_name'],
  ['bio', 'a.bio'],
  ['pfp_url', 'a.pfp_url'],
  ['oli', 'a.oli'],
  ['chains', labelsOf('a.chains')],
  ['claimed', 'a.claimed'],
  ['claim_method', 'a.claim_method'],
  ['claimed_at', isoTime('a.claimed_at')],
  [
    'verified_addresses',
    `(select ${list(hex('address'), 'address')} from unnest(a.verified_addresses) as v (address))`,
  ],
  ['settlements_30d', 'paid.last_30d'],
  ['settlements_all', 'paid.ever'],
  ['registered_at', isoTime('a.registered_at')],
  ['last_seen_at', isoTime(lastSeenAt('paid.newest_at'))],
  ['last_enriched_at', isoTime('source.success_at')],
  ['agent_status', 'a.agent_status'],
  ['spec_check_status', 'a.spec_check_status'],
  ...profileFieldsOfSources.map((field) => [`last_${field}_at`, isoTime(`source.${field}_at`)] as const),
  ['erc8004_records', `(${records})`],
  ['oli_tags', oliTags],
  ['agent_specs', specs],
  ['agent_edges', edges],
  ['codehost_profiles', codehostProfile],
  ['agent_identities', identities],
  ['historical_registrations', `(${history})`],
  ['erc8004_total', 'a.current_total'],
  ['historical_total', 'a.historical_total'],
  ['claim_state', 'a.claim_state'],
  ['assurance', assuranceOf('a.fid')],
  ['handle_assurance', shownHandleAssurance('a')],
  ['feedback', profileFeedback],
  ['income_url', incomeUrl],
  ['chain_names', namesOfChains('a.chains')],
]

/**
 * When the document of a shown registration of the agent `a` was last read. A source that is done leaves its row alone.
 */
const documentSuccess = `
select max(greatest(s.last_success_at, d.read_at))
  from ${shownRecords('a.fid')} h
  left join registration_document d using (chain, agent_id)
  left join source_state s on s.source = '${sources.agentUri.name}' and s.subject = 'token:' || h.chain || ':' || h.agent_id`

/** Attempts and successes of the sources for the agent `a`. */
export const sourceTimes = `
select greatest(max(last_success_at), (${documentSuccess})) as success_at,
       ${profileFieldsOfSources.map(timesOf).join(',\n       ')}
  from source_state
 where subject = 'fid:' || a.fid`

/** When the sources of a profile's field were last tried, failures included, and when one last succeeded. */
function timesOf(field: string): string {
  const from = textList(namesOf(({ profileField }) => profileField === field))
  return `max(last_attempt_at) filter (where source in (${from})) as ${field}_at,
       max(last_success_at) filter (where source in (${from})) as ${field}_success_at`
}
