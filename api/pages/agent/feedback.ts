import type { z } from 'zod'
import { chainOf } from '../../../config/chains.ts'
import { feedback as feedbackRoute } from '../../routes/feedback/feedback.ts'
import type { feedbackList } from '../../schemas/feedback/feedback.ts'
import type { Exact, Profile } from '../parts/exact-json.ts'
import { counted, figure } from '../parts/figures.ts'
import { type Html, html } from '../parts/html.ts'
import { agentLink, ownAddress, ownTransaction } from '../parts/links.ts'
import { type Names, nameLink } from '../parts/names.ts'
import { askExact, type World } from '../parts/page.ts'
import { excerpt, oneLine } from '../parts/text.ts'
import { day } from '../parts/times.ts'

type List = Exact<z.output<typeof feedbackList>>
type Feedback = List['feedback'][number]
type Summary = NonNullable<Profile['feedback']>

/** Most feedback, newest first, and most tags on the page; the JSON has all. */
const mostShown = 10
const mostTags = 5
/** A value may have 77 digits, and a tag any length. */
const valueCharacters = 24
const tagCharacters = 40

/** The newest feedback on an agent. Undefined: there is no such agent. */
export function feedbackOf(world: World, fid: number): Promise<List | undefined> {
  return askExact(world, feedbackRoute, { ...feedbackRoute.query.parse({ limit: `${mostShown}` }), fid })
}

/** What others say: the newest feedback, with what is known of who gave it. Empty where nobody gave any. */
export function feedback({ fid, feedback: summary }: Profile, list: List | undefined, names: Names): Html {
  if (!list || list.count === 0) return html``
  return html`<section aria-labelledby="feedback"><h2 id="feedback">What others say</h2>
${summary && summed(summary)}
<div class="table wraps named said" role="group" aria-label="Feedback" tabindex="0"><table>
<thead><tr><th scope="col">Value</th><th scope="col">On</th><th scope="col">From</th><th scope="col">Rests on</th><th scope="col">Given</th><th scope="col">Where</th></tr></thead>
<tbody>${list.feedback.map((given) => row(given, names))}</tbody></table></div>
<p class="sub">Anybody may give feedback, and each tag has a scale of its own. ${list.next_cursor !== null && `The newest ${list.count}. `}<a href="/api/agent/${fid}/feedback?limit=100&amp;cursor=">All as JSON</a></p></section>`
}

function summed(summary: Summary): Html {
  const { total, revoked, clients, by_agents, by_accounts, by_strangers, by_self, paid, tags, count_unflagged } =
    summary
  const flagged = total - count_unflagged
  const kinds = [
    ...(by_agents > 0 ? [`${figure(by_agents)} from other agents`] : []),
    ...(by_accounts > 0 ? [`${figure(by_accounts)} from other accounts`] : []),
    ...(by_strangers > 0 ? [`${figure(by_strangers)} from addresses that nobody verifies`] : []),
    ...(by_self > 0 ? [`${figure(by_self)} from its own addresses`] : []),
    ...(paid > 0 ? [`${figure(paid)} from those who had paid it before`] : []),
  ]
  const shown = tags.filter(({ tag }) => tag.trim() !== '').slice(0, mostTags)
  return html`<p>${counted(total, 'piece of feedback', 'pieces of feedback')} from ${counted(clients, 'address', 'addresses')}${kinds.length > 0 && `: ${kinds.join(', ')}`}.${revoked > 0 && ` ${figure(revoked)} more ${revoked === 1 ? 'was' : 'were'} revoked.`}${flagged > 0 && ` ${figure(flagged)} may be the same voice in many addresses.`}</p>
${shown.length > 0 && html`<ul class="tags" aria-label="Medians">${shown.map(({ tag, unit, feedback: many, median }) => html`<li><bdi>${cut(tag)}</bdi> ${withUnit(median, unit)} <span class="sub">median of ${figure(many)}</span></li>`)}</ul>`}`
}

const withUnit = (value: Feedback['value'], unit: Feedback['unit']) => `${digits(value)}${unit ? unitSigns[unit] : ''}`

function row(given: Feedback, names: Names): Html {
  const { chain, erc8004_id: id, value, tag1, tag2, grounds, before_holder, given_at } = given
  const { revoked_at, tx_hash, answered, unit, file, flags } = given
  const tags = [tag1, tag2].filter((tag) => tag.trim() !== '')
  const whole = withUnit(value, unit)
  return html`<tr><th scope="row">${revoked_at === null ? whole : html`<s>${whole}</s> <span class="status" title="Revoked: it counts no more">revoked ${day(revoked_at)}</span>`}</th>
<td data-name="On">${tags.length === 0 ? html`<span class="none">–</span>` : html`<bdi>${cut(tags.join(', '))}</bdi>`}</td>
<td data-name="From"><span>${client(given, names)}</span></td>
<td data-name="Rests on"><span>${grounds === 'file' && file?.payment && file.payment.state !== 'found' ? 'a payment that is not indexed' : groundWords[grounds]}${before_holder && html` <span class="status">before this holder</span>`}${flags.map((flag) => html` <span class="status" title="Counted, and told apart">${flagWords[flag]}</span>`)}</span></td>
<td data-name="Given"><span>${day(given_at)}${answered && html` <span class="sub">answered</span>`}</span></td>
<td data-name="Where"><span><span class="chain ${chain}">${chainOf(chain).label}</span> #${excerpt(id, 12)} ${ownTransaction(chain, tx_hash)}</span></td></tr>`
}

function client({ client: kind, client_fid: fid, client_address: address }: Feedback, names: Names): Html {
  if (kind === 'self') return html`${ownAddress(address)} <span class="status">itself</span>`
  if (fid === null) return ownAddress(address)
  if (kind === 'agent')
    return html`${(names.get(address)?.agent?.fid === fid && nameLink(names, address)) || agentLink({ fid, handle: null })} <span class="sub">agent</span>`
  return html`<a href="/owner/${fid}">FID ${fid}</a>`
}

/** What feedback rests on, by its `grounds`. */
const groundWords: Readonly<Record<Feedback['grounds'], string>> = {
  payment: 'a payment',
  payment_named: 'the payment it names',
  contradicted: 'a payment that is not theirs',
  file: 'a file',
  hash_mismatch: 'a file that does not fit',
  none: 'nothing',
}
/** Why many clients may be one, by `flags`. */
const flagWords: Readonly<Record<Feedback['flags'][number], string>> = {
  circle: 'rated in a circle',
  funding_chain: 'in a chain of funders',
  made_together: 'many of one hour',
  only_rates: 'only rates',
  shared_funder: 'one funder of many',
}
/** Units that are shown behind a value. */
const unitSigns: Readonly<Record<NonNullable<Feedback['unit']>, string>> = {
  points: ' of 100',
  boolean: '',
  percent: ' %',
  milliseconds: ' ms',
  blocks: ' blocks',
  usd: ' USD',
}

const digits = (value: string) => excerpt(value, valueCharacters)
const cut = (text: string) => excerpt(oneLine(text), tagCharacters)
