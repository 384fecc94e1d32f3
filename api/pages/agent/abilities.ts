import type { z } from 'zod'
import { chainOf } from '../../../config/chains.ts'
import type { agentPrices } from '../../schemas/documents/enriched.ts'
import type { Exact, Profile } from '../parts/exact-json.ts'
import { amount, price as exact, figure } from '../parts/figures.ts'
import { type Html, html } from '../parts/html.ts'
import { ownAddress } from '../parts/links.ts'
import { excerpt } from '../parts/text.ts'
import type { Sum } from './payment-sums.ts'

type Price = Exact<z.output<typeof agentPrices>>['prices'][number]

/** Most skills, tools or services that the page names; the JSON has all of them. */
const mostNamed = 30
const mostPrices = 10
const nameCharacters = 60

/**
 * What the agent says it does and asks for: skills, tools and prices from the documents on its hosts, services and
 * payment from its registrations; and what it is usually paid. `month`: its settlements of the last 30 days.
 */
export function abilities(agent: Profile, month: Sum, prices: readonly Price[]): Html {
  const { documents } = agent.agent_specs
  const { erc8004_records: records } = agent
  const own = records.filter(({ unsolicited }) => !unsolicited)
  const skills = unique(documents.flatMap((document) => document.skills))
  const tools = unique(documents.flatMap((document) => document.tools))
  const services = unique(own.flatMap((record) => record.services.flatMap(({ name }) => (name === null ? [] : [name]))))
  const described = own.find(({ description }) => description !== null)?.description
  const pays = own.some(({ x402_support }) => x402_support === true) || documents.some(({ kind }) => kind === 'x402')
  const usual = month.median_usdc
  const said = skills.length + tools.length + services.length + prices.length
  if (said === 0 && !described && !pays && usual === null) return html``
  return html`<section aria-labelledby="abilities"><h2 id="abilities">What it does</h2>
${described && html`<p class="bio" dir="auto">${excerpt(described, 600)}</p>`}
<dl class="facts wide-facts">${named('Skills', skills)}${named('Tools', tools)}${named('Services', services)}${
    pays && html`<div><dt>Payment</dt><dd>It says it is paid per request, by x402.</dd></div>`
  }${prices.length > 0 && asked(agent, prices)}${
    usual !== null &&
    html`<div><dt>Usually paid</dt><dd>${amount(usual)} <span class="sub">is the median settlement of the last 30 days, those to itself included</span></dd></div>`
  }</dl></section>`
}

/** Prices as the agent declares them, each with the address that is to be paid. */
function asked({ fid, verified_addresses: verified }: Profile, prices: readonly Price[]): Html {
  const more = prices.length > mostPrices && html` Here are ${mostPrices} of ${figure(prices.length)}.`
  return html`<div><dt>Asks for</dt><dd><ul class="plain">${prices.slice(0, mostPrices).map((price) => {
    const { resource, description, pay_to: to } = price
    return html`<li>${costs(price)}${resource !== null && html` for <bdi>${excerpt(resource, resourceCharacters)}</bdi>`}${
      description !== null &&
      html`<br><span class="sub"><bdi>${excerpt(description, descriptionCharacters)}</bdi></span>`
    }${to !== null && html`<br><span class="sub">paid to ${isAddress.test(to) ? ownAddress(to) : html`<bdi>${excerpt(to, nameCharacters)}</bdi>`}${isAddress.test(to) && whose(price.payee, verified.includes(to))}${signedWith(price)}</span>`}</li>`
  })}</ul><p class="sub">As its own documents and endpoints say. Nobody checked it, and it is not counted as income.${more} <a href="/api/agent/${fid}/prices">All as JSON</a></p></dd></div>`
}

/** Whose key signed a price, behind the address that is to be paid. */
function signedWith({ signature, pay_to }: Price): string {
  if (signature === null) return ''
  const paid = signature.outcome === 'fulfilled' ? ', and paid as signed' : ''
  return `, signed with ${signature.by === pay_to ? 'its key' : 'a key that the host names'}${paid}`
}

/** What is known of an address that wants to be paid, behind it. */
function whose({ outcome }: Price['payee'], isVerified: boolean): string {
  if (outcome === 'verified-wallet') return ', its own wallet'
  return `${known[outcome] ?? ''}${isVerified ? '' : ', which the account does not verify'}`
}

const known: Partial<Record<Price['payee']['outcome'], string>> = {
  mismatch: ', not the wallet that the registry has for the agent',
  'owner-only': ', who owns the agent: its wallet is another',
  'no-agent-wallet': ': the registry has no wallet for the agent',
  'endpoint-unlisted': ': its host does not list the agent',
}

const isAddress = /^0x[0-9a-f]{40}$/
const resourceCharacters = 80
const descriptionCharacters = 120

function costs(said: Price) {
  const { min_amount_usd: least, max_amount_usd: most, amount: units, currency, asset, network, chain, scheme } = said
  const place =
    chain === null ? network && html` on <bdi>${excerpt(network, nameCharacters)}</bdi>` : ` on ${chainOf(chain).label}`
  const way =
    scheme === null || scheme === 'exact' || scheme === 'upto'
      ? ''
      : html` <span class="sub"><bdi>${excerpt(scheme, nameCharacters)}</bdi></span>`
  const token =
    asset === null
      ? 'a token'
      : isAddress.test(asset)
        ? ownAddress(asset)
        : html`<bdi>${excerpt(asset, nameCharacters)}</bdi>`
  const price =
    least !== null
      ? most === null || most === least
        ? html`${exact(least)}${most === null && ' or more'}`
        : html`${exact(least)} to ${exact(most)}`
      : most !== null
        ? html`up to ${exact(most)}`
        : currency !== null
          ? html`<bdi>${excerpt(`${units} ${currency}`, nameCharacters)}</bdi>`
          : html`${units} base units of ${token}`
  return html`${price}${place}${said.testnet && ', a network for tests'}${way}`
}

function named(title: string, names: readonly string[]): Html | false {
  return (
    names.length > 0 &&
    html`<div><dt>${title}</dt><dd><ul class="tags">${names
      .slice(0, mostNamed)
      .map(
        (name) =>
          html`<li><a href="/?q=${encodeURIComponent(excerpt(name, nameCharacters))}"><bdi>${excerpt(name, nameCharacters)}</bdi></a></li>`,
      )}${names.length > mostNamed && html`<li>${names.length - mostNamed} more</li>`}</ul></dd></div>`
  )
}

const unique = (names: readonly string[]) => [
  ...new Set(names.map((name) => name.trim()).filter((name) => name !== '')),
]
