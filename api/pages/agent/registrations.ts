import { chainOf } from '../../../config/chains.ts'
import { rowLimits } from '../../../config/limits.ts'
import type { HeldRegistration } from '../../schemas/registrations/registration.ts'
import type { Exact, Profile } from '../parts/exact-json.ts'
import { counted, figure } from '../parts/figures.ts'
import { type Html, html } from '../parts/html.ts'
import { addressLink, hostOf, outsideLink, tokenLink, transactionLink } from '../parts/links.ts'
import { excerpt } from '../parts/text.ts'
import { day } from '../parts/times.ts'

type Registration = Profile['erc8004_records'][number]
type Past = Profile['historical_registrations'][number]
/** Current registrations from /registrations, which has the evidence of agent wallets that the profile lacks. */
export interface Held {
  readonly registrations: readonly Exact<HeldRegistration>[]
}
type Wallets = ReadonlyMap<string, Exact<HeldRegistration>['agent_wallet_evidence']>

/** Most different current, unsolicited and former registrations on the page, and most equal ones next to a card. */
const mostCards = 8
const mostEqual = 12
const mostUnasked = 12
const mostFormer = 20

/** Query of the registrations route for the rows that the page shows. */
export const shownRegistrations = { state: 'current', limit: mostCards } as const

/** What the agent holds now, what strangers sent it, what it held once. `held`: the first page of registrations. */
export function registrations(agent: Profile, held: Held | undefined): Html {
  const { fid, erc8004_records: now, historical_registrations: once, erc8004_total, historical_total } = agent
  const own = now.filter(({ unsolicited }) => !unsolicited)
  const unasked = now.filter(({ unsolicited }) => unsolicited)
  const wallets: Wallets = new Map(held?.registrations.map((one) => [nameOf(one), one.agent_wallet_evidence]))
  const groups = equalOnes(own, wallets).slice(0, mostCards)
  const shown = groups.flatMap((group) => group.slice(0, 1 + mostEqual)).length + Math.min(unasked.length, mostUnasked)
  const former = once.slice(0, mostFormer)
  return html`<section aria-labelledby="registrations"><h2 id="registrations">Registrations</h2>
${now.length === 0 ? html`<p class="empty">This agent holds no ERC-8004 identity now.</p>` : html`<div class="cards">${groups.map((group) => card(group, wallets))}</div>`}
${
  unasked.length > 0 &&
  html`<details class="card unasked"><summary>${counted(unasked.length, 'registration')} that nobody here asked for</summary>
<p class="sub">Strangers sent ${unasked.length === 1 ? 'it' : 'them'}, and the holder has set nothing since: what stands in ${unasked.length === 1 ? 'it' : 'them'} is not the holder’s word, and no link here leads there.</p>
<ul class="plain">${unasked.slice(0, mostUnasked).map(unaskedLine)}</ul></details>`
}
${erc8004_total > shown && rest(fid, 'current', shown, erc8004_total)}
${former.length > 0 && html`<h3>No longer held</h3><ul class="plain">${former.map(heldOnce)}</ul>`}
${historical_total > former.length && rest(fid, 'historical', former.length, historical_total)}
</section>`
}

/** Note of how many registrations are shown, with a link to all of them as JSON. */
function rest(fid: number, state: 'current' | 'historical', shown: number, total: number): Html {
  return html`<p class="sub">${figure(shown)} of ${figure(total)}. <a href="/api/agent/${fid}/registrations?state=${state}&amp;limit=${rowLimits.registrations.maximum}">All as JSON</a></p>`
}

/** A registration that a stranger sent: its text is the stranger's, so it is named and nothing in it is a link. */
function unaskedLine({ chain, erc8004_id: id, name, acquired_at }: Registration): Html {
  return html`<li><span class="chain ${chain}">${chainOf(chain).label}</span> #${id} ${name !== null && html`<bdi>${cut(name)}</bdi>`} <span class="sub">received ${day(acquired_at)}</span></li>`
}

/** Registrations that say the same of the same owner and rest on the same, in groups, in the order of the first of each. */
function equalOnes(all: readonly Registration[], wallets: Wallets): (readonly [Registration, ...Registration[]])[] {
  const groups = new Map<string, [Registration, ...Registration[]]>()
  for (const one of all) {
    const { name, description, services, agent_uri, active, x402_support, supported_trust, owner_address } = one
    const said = [
      one.ens_names,
      name,
      description,
      services,
      agent_uri,
      active,
      x402_support,
      supported_trust,
      owner_address,
    ]
    const isSigned = wallets.get(nameOf(one))?.kind === 'signed'
    const key = JSON.stringify([...said, one.wallet_chain, one.agent_wallet, isSigned])
    const group = groups.get(key)
    if (group) group.push(one)
    else groups.set(key, [one])
  }
  return [...groups.values()]
}

/** The other registrations of a group, by chain and id; false: there is no other. */
function theSame([first, ...others]: readonly [Registration, ...Registration[]]): Html | false {
  if (others.length === 0) return false
  const chains = new Set(others.map(({ chain }) => chain))
  const isByChain = chains.size === others.length && !chains.has(first.chain)
  const many = isByChain ? counted(others.length, 'more chain') : counted(others.length, 'more time')
  return html`<p class="sub">The same ${isByChain && 'on '}${many}: ${others
    .slice(0, mostEqual)
    .map(
      ({ chain, registry_address: registry, erc8004_id: id }, index) =>
        html`${index > 0 && ', '}${chainOf(chain).label} ${tokenLink(chain, registry, id)}`,
    )}${others.length > mostEqual && ` and ${figure(others.length - mostEqual)} more`}</p>`
}

function card(group: readonly [Registration, ...Registration[]], wallets: Wallets): Html {
  const [registration] = group
  const { chain, erc8004_id: id, registry_address: registry, name, description, services } = registration
  const trust = registration.supported_trust
  const confirmed = registration.ens_names.filter(({ status }) => status === 'confirmed').map((one) => one.name)
  const facts: [string, Html | string | false | undefined][] = [
    [
      'Owner',
      html`${addressLink(chain, registration.owner_address)}${registration.wallet_chain === 'other' && html` <span class="sub">a contract wallet that is verified on another chain</span>`}`,
    ],
    ['Wallet', registration.agent_wallet !== null && wallet(registration, registration.agent_wallet, wallets)],
    ['ENS', confirmed.length > 0 && html`<bdi>${cut(confirmed.join(', '))}</bdi>`],
    ['Document', registration.agent_uri?.trim() && uri(registration.agent_uri, registration.uri_status)],
    ['Feedback', registration.feedback_count > 0 && figure(registration.feedback_count)],
    ['Trust', trust.length > 0 && html`<bdi>${cut(trust.join(', '))}</bdi>`],
    ['x402', registration.x402_support !== null && (registration.x402_support ? 'supported' : 'not supported')],
    ['Minted', html`${day(registration.deployed_at)} in ${transactionLink(chain, registration.tx_hash)}`],
    ['Held since', registration.acquired_at !== registration.deployed_at && html`${day(registration.acquired_at)}`],
  ]
  return html`<article class="card">
<h3><span class="chain ${chain}">${chainOf(chain).label}</span> ${tokenLink(chain, registry, id)} ${name !== null && html`<bdi>${cut(name)}</bdi>`}${registration.active === false && html` <span class="status">inactive</span>`}</h3>
${description !== null && html`<p class="clamp" dir="auto">${excerpt(description, descriptionCharacters)}</p>`}
<dl class="facts">${facts.map(([term, value]) => value && html`<div><dt>${term}</dt><dd>${value}</dd></div>`)}</dl>
${theSame(group)}${services.length > 0 && html`<ul class="plain services" aria-label="Services">${services.slice(0, mostServices).map((one) => service(one))}</ul>`}
</article>`
}

const nameOf = ({ chain, erc8004_id: id }: Pick<Registration, 'chain' | 'erc8004_id'>) => `${chain} ${id}`

/** The agent wallet, which is paid, and the evidence for it; it says nothing about who owns the agent. */
function wallet(registration: Registration, address: string, wallets: Wallets): Html {
  const { chain } = registration
  const known = wallets.get(nameOf(registration))
  const words = known?.kind === 'signed' ? 'signed for it' : 'who registered, unsigned'
  return html`${addressLink(chain, address)}${
    known && html` <span class="sub">${words} in ${transactionLink(chain, known.tx_hash)}</span>`
  }`
}

function service({ name, endpoint, version }: Registration['services'][number]): Html {
  return html`<li><bdi>${cut(name ?? 'service')}</bdi>${version !== null && html` <span class="sub"><bdi>${cut(version)}</bdi></span>`} ${endpoint !== null && shortLink(endpoint, cut(endpoint))}</li>`
}

const statusNames: Partial<Record<Registration['uri_status'], string>> = {
  pending: 'not read yet',
  unsupported: 'of an unsupported kind',
  unreachable: 'not reachable',
  invalid: 'not valid',
}

function uri(address: string, status: Registration['uri_status']): Html {
  const said = statusNames[status]
  const shown = isWritten.test(address) ? html`on chain` : shortLink(address, hostOf(cut(address)))
  return html`${shown}${said && html` <span class="sub">${said}</span>`}`
}

/** Matches an agentURI that holds the document itself instead of its address. */
const isWritten = /^\s*(data:|\{)/i

const reasons: Record<Past['reason'], string> = {
  transfer: 'passed on',
  burn: 'burned',
  verification_removed: 'the account no longer verifies its holder',
}

function heldOnce(held: Past): Html {
  const { chain, erc8004_id: id, acquired_at, released_at, reason, to_fid, transferred_to, released_tx } = held
  const to =
    to_fid !== null
      ? html` to <a href="/agent/${to_fid}">FID ${to_fid}</a>`
      : transferred_to !== null && html` to ${addressLink(chain, transferred_to)}`
  return html`<li><span class="chain ${chain}">${chainOf(chain).label}</span> #${id}, ${day(acquired_at)} to ${day(released_at)}: ${reasons[reason]}${to}${
    released_tx !== null && html` in ${transactionLink(chain, released_tx)}`
  }</li>`
}

/** A link, or plain text when the address is longer than `longestLink`; the JSON has all of them. */
function shortLink(address: string, text: string): Html {
  return address.length <= longestLink ? outsideLink(address, text) : html`<bdi>${text}</bdi>`
}

/** Bounds of what the page shows of a registration, whose texts have no bound of their own. */
const descriptionCharacters = 400
const mostServices = 6
const longestLink = 500
const longestShown = 80
const cut = (text: string) => excerpt(text, longestShown)
