import type { z } from 'zod'
import { findingTable } from '../../../net/findings.ts'
import { findingPagePath } from '../../routes/documents/doctor.ts'
import type { diagnosis } from '../../schemas/documents/doctor.ts'
import type { Exact } from '../parts/exact-json.ts'
import { figure } from '../parts/figures.ts'
import { type Html, html } from '../parts/html.ts'
import { hostOf } from '../parts/links.ts'
import { excerpt } from '../parts/text.ts'

export type Diagnosis = Exact<z.output<typeof diagnosis>>

/** Most findings on the page; the JSON has all of them. */
const mostFindings = 8
const detailCharacters = 100

/** Why nobody can reach the agent, or pay it, as far as it was found; nothing where nothing was. */
export function doctor(fid: number, found: Diagnosis | undefined): Html {
  const findings = (found?.findings ?? []).filter(({ severity }) => severity !== 'informs')
  if (findings.length === 0) return html``
  return html`<section aria-labelledby="doctor"><h2 id="doctor">What is in the way</h2>
<ul class="rows">${findings.slice(0, mostFindings).map(
    ({
      code,
      severity,
      endpoint,
      detail,
    }) => html`<li><p><span class="dot ${severity === 'blocks' ? 'down' : 'none'}"></span>${findingTable[code].meaning.replaceAll('`', '')}</p>
<p class="sub">${endpoint !== null && html`<bdi>${hostOf(endpoint)}</bdi> · `}${detail !== null && html`<bdi>${excerpt(detail, detailCharacters)}</bdi> · `}<a href="${findingPagePath(code)}">What to do</a></p></li>`,
  )}</ul>
<p class="sub">${findings.length > mostFindings && `${figure(mostFindings)} of ${figure(findings.length)}. `}<a href="/api/agent/${fid}/doctor">As JSON</a></p></section>`
}
