import { chainNames, chainOf } from '../../../config/chains.ts'
import { type Html, html } from './html.ts'

/** Chains by their labels. */
export function chainBadges(labels: readonly string[]): Html {
  if (labels.length === 0) return html`<span class="none">on no chain now</span>`
  return html`<ul class="chains" aria-label="Chains">${labels.map(chainBadge)}</ul>`
}

function chainBadge(label: string): Html {
  const name = chainNames.find((chain) => chainOf(chain).label === label)
  return html`<li class="chain ${name}">${label}</li>`
}

/** Mark of a claimed agent; false for others, as an unclaimed agent is the rule and no fault. */
export function claimedMark(claimed: boolean): Html | false {
  return (
    claimed &&
    html`<span class="claimed"><svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true"><path d="M3 8.5 6.5 12 13 4.5" fill="none" stroke="currentColor" stroke-width="2.2" stroke-linecap="round" stroke-linejoin="round"/></svg>Claimed</span>`
  )
}

/** Mark behind a handle that nobody but one hub stands for; false for any other. */
export function statedMark(assurance: string | null): Html | false {
  return (
    assurance === 'stated' &&
    html` <span class="status" title="One hub alone says that the name is the account’s">stated</span>`
  )
}

const statuses = {
  active: 'Holds a registration now',
  historical: 'Held a registration once',
  'claimed-only': 'Claimed, without a registration',
} as const

export function statusBadge(status: keyof typeof statuses): Html {
  return html`<span class="status ${status}" title="${statuses[status]}">${status}</span>`
}
