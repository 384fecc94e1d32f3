import { type Html, html } from '../../http/html.ts'
import type { Profile } from '../parts/answers.ts'
import { amount } from '../parts/figures.ts'
import { firstCodePoints } from '../parts/text.ts'
import type { Sum } from './paid.ts'

/** Named of each kind; the JSON has all of them. */
const mostNamed = 30
const nameCharacters = 60

/**
 * What the agent says it does: skills and tools of its documents, services and payment of its registrations; and what it is
 * usually paid, as nobody says what it costs.
 */
export function abilities({ agent_specs: { documents }, erc8004_records: records }: Profile, month: Sum): Html {
  const own = records.filter(({ unsolicited }) => !unsolicited)
  const skills = unique(documents.flatMap((document) => document.skills))
  const tools = unique(documents.flatMap((document) => document.tools))
  const services = unique(own.flatMap((record) => record.services.flatMap(({ name }) => (name === null ? [] : [name]))))
  const described = own.find(({ description }) => description !== null)?.description
  const pays = own.some(({ x402_support }) => x402_support === true) || documents.some(({ kind }) => kind === 'x402')
  const usual = month.median_usdc
  if (skills.length + tools.length + services.length === 0 && !described && !pays && usual === null) return html``
  return html`<section aria-labelledby="abilities"><h2 id="abilities">What it does</h2>
${described && html`<p class="bio" dir="auto">${cut(described, 600)}</p>`}
<dl class="facts wide-facts">${named('Skills', skills)}${named('Tools', tools)}${named('Services', services)}${
    pays && html`<div><dt>Payment</dt><dd>It says that it takes payments by x402, per request.</dd></div>`
  }${
    usual !== null &&
    html`<div><dt>Price</dt><dd>${amount(usual)} <span class="sub">is the median payment of the last 30 days; what it asks for itself is not collected</span></dd></div>`
  }</dl></section>`
}

function named(title: string, names: readonly string[]): Html | false {
  return (
    names.length > 0 &&
    html`<div><dt>${title}</dt><dd><ul class="tags">${names
      .slice(0, mostNamed)
      .map(
        (name) =>
          html`<li><a href="/?q=${encodeURIComponent(cut(name, nameCharacters))}"><bdi>${cut(name, nameCharacters)}</bdi></a></li>`,
      )}${names.length > mostNamed && html`<li>${names.length - mostNamed} more</li>`}</ul></dd></div>`
  )
}

const unique = (names: readonly string[]) => [
  ...new Set(names.map((name) => name.trim()).filter((name) => name !== '')),
]
const cut = (text: string, count: number) => (text.length <= count ? text : `${firstCodePoints(text, count)}…`)
