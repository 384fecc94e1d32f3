import type { Profile } from '../parts/answers.ts'
import { statusBadge } from '../parts/badges.ts'
import { type Html, html } from '../parts/html.ts'
import { minute } from '../parts/times.ts'
import { historyOf } from './events.ts'

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
