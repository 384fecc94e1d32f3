import type { ExplainedRule } from '../../schemas/explain.ts'
import { type Html, html } from '../parts/html.ts'
import { sentence } from '../parts/text.ts'
import { day } from '../parts/times.ts'

const names: Record<ExplainedRule['rule'], string> = {
  verified: 'An address is verified',
  token: 'A verified address holds an ERC-8004 identity',
  history: 'Such an address once held one',
  claim: 'The account was claimed',
}

/** The rules as steps: a tick where one holds, else what to do. `fid`: the account; null: they are of an address. */
export function steps(rules: readonly ExplainedRule[], fid: number | null): Html {
  return html`<ol class="steps">${rules.map(
    ({ rule, holds, found, next }) =>
      html`<li class="${holds ? 'done' : 'open'}"><p><strong>${names[rule]}</strong> <span class="status${holds && ' active'}">${holds ? 'yes' : 'no'}</span></p>
<p class="sub">${dated(sentence(found))}</p>${next !== null && html`<p class="sub">Next: ${next}.${rule === 'claim' && fid !== null && html` <a href="/claim?fid=${fid}">Claim it here</a>`}</p>`}</li>`,
  )}</ol>`
}

/** A text of the API with its ISO times formatted like the page's own. */
const dated = (text: string) => text.split(time).map((part, index) => (index % 2 === 0 ? part : day(part)))
const time = /(\d{4}-\d\d-\d\dT[\d:.]+Z)/
