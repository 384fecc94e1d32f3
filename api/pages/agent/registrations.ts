import { chainOf } from '../../../chains.config.ts'
import { rowLimits } from '../../../limits.config.ts'
import { type Html, html } from '../../http/html.ts'
import type { Profile } from '../parts/answers.ts'
import { figure } from '../parts/figures.ts'
import { addressLink, hostOf, outsideLink, tokenLink, transactionLink } from '../parts/links.ts'
import { day } from '../parts/times.ts'

type Registration = Profile['erc8004_records'][number]
type Held = Profile['historical_registrations'][number]

/** What the agent holds now, then what it held once. */
export function registrations(agent: Profile): Html {
  const { fid, erc8004_records: now, historical_registrations: once, erc8004_total, historical_total } = agent
  return html`<section aria-labelledby="registrations"><h2 id="registrations">Registrations</h2>
${now.length === 0 ? html`<p class="empty">This agent holds no ERC-8004 identity now.</p>` : html`<div class="cards">${now.map(card)}</div>`}
${erc8004_total > now.length && rest(fid, 'current', now.length, erc8004_total)}
${once.length > 0 && html`<h3>Held once</h3><ul class="plain">${once.map(heldOnce)}</ul>`}
${historical_total > once.length && rest(fid, 'historical', once.length, historical_total)}
</section>`
}

/** Where those are that are not shown. */
function rest(fid: number, state: 'current' | 'historical', shown: number, total: number): Html {
  return html`<p class="sub">${figure(shown)} of ${figure(total)}. <a href="/api/agent/${fid}/registrations?state=${state}&amp;limit=${rowLimits.registrations.maximum}">All as JSON</a></p>`
}

/** What a stranger sent says what the stranger likes: its addresses are shown and lead nowhere. */
const unlinked = (_address: string, text: Html | string): Html => html`<bdi>${text}</bdi>`

function card(registration: Registration): Html {
  const link = registration.unsolicited ? unlinked : outsideLink
  const { chain, erc8004_id: id, registry_address: registry, name, description, services } = registration
  const trust = registration.supported_trust
  const facts: [string, Html | string | false][] = [
    ['Owner', addressLink(chain, registration.owner_address)],
    ['Wallet', registration.agent_wallet !== null && addressLink(chain, registration.agent_wallet)],
    ['Document', registration.agent_uri !== null && uri(registration.agent_uri, registration.uri_status, link)],
    ['Feedback', registration.feedback_count > 0 && figure(registration.feedback_count)],
    ['Trust', trust.length > 0 && html`<bdi>${trust.join(', ')}</bdi>`],
    ['x402', registration.x402_support !== null && (registration.x402_support ? 'supported' : 'not supported')],
    ['Minted', html`${day(registration.deployed_at)} in ${transactionLink(chain, registration.tx_hash)}`],
    ['Held since', registration.acquired_at !== registration.deployed_at && html`${day(registration.acquired_at)}`],
  ]
  return html`<article class="card">
<h3><span class="chain ${chain}">${chainOf(chain).label}</span> ${tokenLink(chain, registry, id)} ${name !== null && html`<bdi>${name}</bdi>`}${registration.active === false && html` <span class="status">inactive</span>`}${registration.unsolicited && html` <span class="status" title="Sent by a stranger; its holder has set nothing since">unsolicited</span>`}</h3>
${description !== null && html`<p class="clamp" dir="auto">${description}</p>`}
<dl class="facts">${facts.map(([term, value]) => value !== false && html`<div><dt>${term}</dt><dd>${value}</dd></div>`)}</dl>
${services.length > 0 && html`<ul class="plain services" aria-label="Services">${services.map((one) => service(one, link))}</ul>`}
</article>`
}

function service({ name, endpoint, version }: Registration['services'][number], link: typeof unlinked): Html {
  return html`<li><bdi>${name ?? 'service'}</bdi>${version !== null && html` <span class="sub"><bdi>${version}</bdi></span>`} ${endpoint !== null && link(endpoint, cut(endpoint))}</li>`
}

const statusNames: Partial<Record<Registration['uri_status'], string>> = {
  pending: 'not read yet',
  unsupported: 'of an unsupported kind',
  unreachable: 'not reachable',
  invalid: 'not valid',
}

function uri(address: string, status: Registration['uri_status'], link: typeof unlinked): Html {
  const said = statusNames[status]
  const shown = address.startsWith('data:') ? html`on chain` : link(address, hostOf(cut(address)))
  return html`${shown}${said && html` <span class="sub">${said}</span>`}`
}

const reasons: Record<Held['reason'], string> = {
  transfer: 'passed on',
  burn: 'burned',
  verification_removed: 'the account no longer verifies its holder',
}

function heldOnce(held: Held): Html {
  const { chain, erc8004_id: id, acquired_at, released_at, reason, to_fid, transferred_to, released_tx } = held
  const to =
    to_fid !== null
      ? html` to <a href="/agent/${to_fid}">FID ${to_fid}</a>`
      : transferred_to !== null && html` to ${addressLink(chain, transferred_to)}`
  return html`<li><span class="chain ${chain}">${chainOf(chain).label}</span> #${id}, ${day(acquired_at)} to ${day(released_at)}: ${reasons[reason]}${to}${
    released_tx !== null && html` in ${transactionLink(chain, released_tx)}`
  }</li>`
}

/** Addresses are of any length. */
const longestShown = 80
function cut(text: string): string {
  return text.length <= longestShown ? text : `${text.slice(0, longestShown)}…`
}
