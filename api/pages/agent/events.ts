import { chainOf, type chains } from '../../../config/chains.ts'
import { protocolNames } from '../../schemas/documents/enriched.ts'
import { statusBadge } from '../parts/badges.ts'
import type { Profile } from '../parts/exact-json.ts'
import { type Html, html } from '../parts/html.ts'
import { minute } from '../parts/times.ts'

/** Something that happened to an agent. */
interface HistoryEvent {
  /** Unique among the agent's events, and stable from one reading to the next. */
  readonly id: string
  readonly at: string
  readonly text: string
  /** The agent's status after the event; null: unchanged. */
  readonly status: Profile['agent_status'] | null
}

type Happening = Omit<HistoryEvent, 'status'> & { readonly holds?: 1 | -1; readonly claims?: true }

/**
 * Registrations gained and lost, the claim, specs found, tools changed; newest first. The status is what registrations
 * and the claim made of it then: a verification that came after its registration is dated by the registration.
 */
export function historyOf(agent: Profile): HistoryEvent[] {
  const happenings = [...gained(agent), ...lost(agent), ...claimed(agent), ...found(agent), ...changed(agent)]
  happenings.sort((one, other) => compare(one.at, other.at) || compare(one.id, other.id))
  let held = 0
  let ever = false
  let status: HistoryEvent['status'] = null
  const events = happenings.map(({ holds = 0, claims, ...event }) => {
    held += holds
    ever ||= holds > 0
    const next = held > 0 ? 'active' : ever ? 'historical' : claims ? 'claimed-only' : status
    const changed = next !== status
    status = next
    return { ...event, status: changed ? next : null }
  })
  return events.reverse()
}

const placeOf = ({ chain, erc8004_id: id }: { chain: keyof typeof chains; erc8004_id: string }) =>
  `#${id} on ${chainOf(chain).label}`

function gained({ erc8004_records, historical_registrations }: Profile): Happening[] {
  return [...erc8004_records, ...historical_registrations].map((registration) => {
    const { chain, erc8004_id: id, acquired_at: at, deployed_at: minted } = registration
    const text = `${at === minted ? 'Registered' : 'Received'} ${placeOf(registration)}`
    return { id: `gained-${chain}-${id}-${Date.parse(at)}`, at, text, holds: 1 }
  })
}

function lost({ historical_registrations }: Profile): Happening[] {
  return historical_registrations.flatMap((held) => {
    const { chain, erc8004_id: id, released_at: at, reason, to_fid } = held
    if (at === null) return []
    const text = {
      transfer: `Passed on ${placeOf(held)}${to_fid === null ? '' : ` to FID ${to_fid}`}`,
      burn: `Burned ${placeOf(held)}`,
      verification_removed: `No longer verifies the holder of ${placeOf(held)}`,
    }[reason]
    return [{ id: `lost-${chain}-${id}-${Date.parse(at)}`, at, text, holds: -1 as const }]
  })
}

function claimed({ claimed_at: at }: Profile): Happening[] {
  return at === null ? [] : [{ id: 'claimed', at, text: 'Claimed by its owner', claims: true }]
}

function found({ agent_specs: { documents } }: Profile): Happening[] {
  return documents.flatMap(({ kind, url, first_seen_at: at }) =>
    at === null
      ? []
      : [
          {
            id: `found-${kind}-${encodeURIComponent(url)}`,
            at,
            text: `Serves ${kind === 'web' ? 'a web page' : protocolNames[kind]} at ${URL.parse(url)?.host ?? url}`,
          },
        ],
  )
}

/** Changes of tool definitions, which matter because users agree to a tool as it was defined. */
function changed({ agent_specs: { documents } }: Profile): Happening[] {
  return documents.flatMap(({ kind, url, tools_changed_at: at }) => {
    if (at === null) return []
    const id = `tools-${kind}-${encodeURIComponent(url)}-${Date.parse(at)}`
    return [{ id, at, text: `Changed the definition of a tool at ${URL.parse(url)?.host ?? url}` }]
  })
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}

/** Most events on the page; the others can be derived from the JSON. */
const mostEvents = 40

/** Section with the agent's events and the status each led to; empty when there is none. */
export function history(agent: Profile): Html {
  const events = historyOf(agent)
  if (events.length === 0) return html``
  return html`<section aria-labelledby="history"><h2 id="history">History</h2>
<ol class="history">${events
    .slice(0, mostEvents)
    .map(
      ({ id, at, text, status }) =>
        html`<li id="${id}"><span class="sub">${minute(at)}</span> <span><bdi>${text}</bdi>${status !== null && html` ${statusBadge(status)}`}</span></li>`,
    )}</ol></section>`
}
