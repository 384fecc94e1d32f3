import { type FindingCode, findingTable } from '../../net/findings.ts'
import { type Html, html, prose } from '../pages/parts/html.ts'
import type { Site } from '../pages/parts/layout.ts'
import { findingPagePath } from '../routes/documents/doctor.ts'
import { findingCodes } from '../schemas/documents/doctor.ts'
import { docsFrame } from './frame.ts'

const severities = {
  blocks: 'A caller or a buyer cannot go on.',
  warns: 'Some callers or buyers cannot go on, or will not.',
  informs: 'Nothing is wrong with it by itself.',
} as const

/** `/docs/doctor`: every finding, each with an anchor. */
export function findingsPage(site: Site): string {
  const head = { path: '/docs/doctor', title: 'Doctor', description: 'Why nobody can reach an agent, or pay it.' }
  return docsFrame(
    site,
    head,
    html`<h1>Doctor</h1>
<p class="lead">What <code>/api/agent/{fid}/doctor</code> and <code>npm run doctor -- URL</code> find. The same list as JSON: <a href="/api/doctor/codes">/api/doctor/codes</a>.</p>
${findingCodes.map((code) => html`<section id="${code}"><h2><a href="${findingPagePath(code)}"><code>${code}</code></a></h2>${about(code)}</section>`)}`,
  )
}

/** `/docs/doctor/{code}`: what one finding means, and what to do about it. */
export function findingPage(code: FindingCode, site: Site): string {
  const head = { path: findingPagePath(code), title: code, description: findingTable[code].meaning.replaceAll('`', '') }
  return docsFrame(site, head, html`<h1><code>${code}</code></h1>${about(code)}`)
}

function about(code: FindingCode): Html {
  const { severity, meaning, fix, found } = findingTable[code]
  return html`<p>${prose(meaning)} ${severities[severity]}</p>
<p><strong>What to do:</strong> ${prose(fix)}</p>
<p class="sub">Found ${prose(found)}.</p>`
}

/** Every finding, as Markdown. */
export function findingsText(): string {
  return ['# Doctor', '', ...findingCodes.flatMap((code) => [`## ${code}`, '', textAbout(code)])].join('\n')
}

/** What one finding means, as Markdown. */
export const findingText = (code: FindingCode) => `# ${code}\n\n${textAbout(code)}`

function textAbout(code: FindingCode): string {
  const { severity, meaning, fix, found } = findingTable[code]
  return [`${meaning} ${severities[severity]}`, '', `What to do: ${fix}`, '', `Found ${found}.`, ''].join('\n')
}
