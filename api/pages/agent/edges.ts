import { chainOf } from '../../../config/chains.ts'
import type { Profile } from '../parts/exact-json.ts'
import { counted, amount as money } from '../parts/figures.ts'
import { type Html, html } from '../parts/html.ts'
import { shortName } from '../parts/text.ts'

type Edge = Profile['agent_edges'][number]

/** Words before the other agent's name, by kind and direction of the edge. */
const phrases: Record<Edge['kind'], Record<Edge['direction'], string>> = {
  follows: { out: 'Follows', in: 'Followed by', both: 'Follows and is followed by' },
  feedback: { out: 'Gave feedback to', in: 'Got feedback from', both: 'Exchanged feedback with' },
  settlement: { out: 'Paid', in: 'Was paid by', both: 'Exchanged payments with' },
  shared_owner: same('owner'),
  shared_wallet: same('wallet'),
  shared_host: same('host'),
  transfer: { out: 'Passed an identity on to', in: 'Got an identity from', both: 'Exchanged identities with' },
}

function same(thing: string): Record<Edge['direction'], string> {
  const text = `Same ${thing} as`
  return { out: text, in: text, both: text }
}

/** Kinds of edges that are counted; an edge of any other kind exists once or not at all. */
const repeated: readonly Edge['kind'][] = ['feedback', 'settlement', 'transfer']

/** Most edges on the page; the JSON has more. */
const mostEdges = 25

/** Section with the edges to other agents; empty when there is none. */
export function edges({ agent_edges: shown }: Profile): Html {
  if (shown.length === 0) return html``
  return html`<section aria-labelledby="edges"><h2 id="edges">Edges to other agents</h2>
<ul class="rows tight">${shown.slice(0, mostEdges).map(edge)}</ul>
${shown.length > mostEdges && html`<p class="sub">${mostEdges} of ${shown.length} in the profile.</p>`}</section>`
}

function edge({ kind, direction, fid, handle, chain, weight, amount_usdc: amount }: Edge): Html {
  const details = [
    ...(chain === null ? [] : [html`${chainOf(chain).label}`]),
    ...(repeated.includes(kind) ? [html`${counted(weight, 'time')}`] : []),
    ...(amount === null ? [] : [money(amount)]),
  ]
  return html`<li>${phrases[kind][direction]} <a href="/agent/${fid}"><bdi>${handle === null ? `FID ${fid}` : `@${shortName(handle)}`}</bdi></a> <span class="sub">${details.map((detail, index) => html`${index > 0 && ' · '}${detail}`)}</span></li>`
}
