import { chainLabel, chainPosition, isoTime, list, type Member, members } from './json-text.ts'

/**
 * The members of a lean row of the agent `a`. Counters are those of the row, refreshed every minute; the profile counts
 * exactly.
 */
export const leanFields = leanFieldsWith({ last30d: 'a.settlements_30d', ever: 'a.settlements_all' })

/** Arguments of json_build_object for the row, with counters that the caller has counted together with other figures of its answer. */
export const leanRowWith = (counters: { last30d: string; ever: string }) => members(leanFieldsWith(counters))

function leanFieldsWith({ last30d, ever }: { last30d: string; ever: string }): readonly Member[] {
  return [
    ['fid', 'a.fid'],
    ['handle', 'a.handle'],
    ['display_name', 'a.display_name'],
    ['pfp_url', 'a.pfp_url'],
    ['oli', 'a.oli'],
    ['chains', `(select ${list(chainLabel('name'), chainPosition('name'))} from unnest(a.chains) as chain (name))`],
    ['claimed', 'a.claimed'],
    ['claim_method', 'a.claim_method'],
    ['agent_status', 'a.agent_status'],
    ['settlements_30d', last30d],
    ['settlements_all', ever],
    ['has_spec', 'a.has_spec'],
    ['has_codehost', 'a.has_codehost'],
    ['registered_at', isoTime('a.registered_at')],
    ['listed_at', isoTime('a.listed_at')],
    [
      'last_seen_at',
      isoTime('greatest(a.registry_event_at, a.last_settlement_at, a.last_message_at, a.last_alive_at)'),
    ],
  ]
}
