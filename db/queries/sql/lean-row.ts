import { isoTime, labelsOf, type Member, members } from './json-text.ts'

/**
 * The members of a lean row of the agent `a`. Counters are those of the row, refreshed every minute; the profile counts
 * exactly.
 */
export const leanFields = leanFieldsWith({
  last30d: 'a.settlements_30d',
  ever: 'a.settlements_all',
  newestAt: 'a.last_settlement_at',
})

/** Figures of an agent's settlements, as SQL: in 30 days, ever, and the time of the newest. */
interface Counters {
  readonly last30d: string
  readonly ever: string
  readonly newestAt: string
}

/**
 * SQL: when the agent `a` last gave a sign of life. `newestAt`: its newest settlement, counted together with the counters
 * that stand next to this time; by default as it was last counted. The view directory.agents says the same.
 */
export function lastSeenAt(newestAt = 'a.last_settlement_at'): string {
  return `greatest(a.registry_event_at, ${newestAt}, a.last_message_at, a.last_alive_at)`
}

/** Arguments of json_build_object for the row, with counters that the caller has counted together with other figures of its answer. */
export const leanRowWith = (counters: Counters) => members(leanFieldsWith(counters))

function leanFieldsWith({ last30d, ever, newestAt }: Counters): readonly Member[] {
  return [
    ['fid', 'a.fid'],
    ['handle', 'a.handle'],
    ['display_name', 'a.display_name'],
    ['pfp_url', 'a.pfp_url'],
    ['oli', 'a.oli'],
    ['chains', labelsOf('a.chains')],
    ['claimed', 'a.claimed'],
    ['claim_method', 'a.claim_method'],
    ['agent_status', 'a.agent_status'],
    ['settlements_30d', last30d],
    ['settlements_all', ever],
    ['has_spec', 'a.has_spec'],
    ['has_codehost', 'a.has_codehost'],
    ['registered_at', isoTime('a.registered_at')],
    ['listed_at', isoTime('a.listed_at')],
    ['last_seen_at', isoTime(lastSeenAt(newestAt))],
  ]
}
