import { chains } from '../../chains.config.ts'
import { type Html, html } from '../html.ts'
import type { Profile } from './agent.ts'
import { counted, dollars } from './figures.ts'

type Edge = Profile['agent_edges'][number]

const kinds: Record<Edge['kind'], string> = {
  follows: 'Follows',
  feedback: 'Feedback',
  settlement: 'Payments',
  shared_owner: 'Same owner',
  shared_wallet: 'Same wallet',
  shared_host: 'Same host',
  transfer: 'Passed on',
}
const directions: Record<Edge['direction'], string> = { out: 'to', in: 'from', both: 'with' }

/** Other agents this one has to do with; nothing when it stands alone. */
export function connections({ agent_edges: edges }: Profile): Html {
  if (edges.length === 0) return html``
  return html`<section aria-labelledby="connections"><h2 id="connections">Connections</h2>
<ul class="rows tight">${edges.map(
    ({ kind, direction, fid, handle, chain, weight, amount_usdc }) =>
      html`<li><span class="label">${kinds[kind]}</span> ${directions[direction]} <a href="/agent/${fid}"><bdi>${handle === null ? `FID ${fid}` : `@${handle}`}</bdi></a> <span class="sub">${
        chain !== null && html`${chains[chain].label} · `
      }${counted(weight, 'time')}${amount_usdc !== null && html` · ${dollars(amount_usdc)}`}</span></li>`,
  )}</ul></section>`
}
