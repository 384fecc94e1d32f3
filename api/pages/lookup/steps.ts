import { type Html, html } from '../../http/html.ts'
import type { ExplainedRule } from '../../schemas/explain.ts'

const names: Record<ExplainedRule['rule'], string> = {
  verified: 'An address is verified',
  token: 'A verified address holds an ERC-8004 identity',
  history: 'Such an address once held one',
  claim: 'The account was claimed',
}

/** The rules as steps: a tick where one holds, and what to do where not. */
export function steps(rules: readonly ExplainedRule[]): Html {
  return html`<ol class="steps">${rules.map(
    ({ rule, holds, found, next }) =>
      html`<li class="${holds ? 'done' : 'open'}"><p><strong>${names[rule]}</strong> <span class="status${holds && ' active'}">${holds ? 'yes' : 'no'}</span></p>
<p class="sub">${sentence(found)}</p>${next !== null && html`<p class="sub">Next: ${next}.</p>`}</li>`,
  )}</ol>`
}

/** With a capital and a full stop. */
const sentence = (text: string) => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`
