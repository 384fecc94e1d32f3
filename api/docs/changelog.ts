import type { ApiChange } from '../changelog/changes.ts'
import { html, prose } from '../pages/parts/html.ts'
import type { Site } from '../pages/parts/layout.ts'
import { requestPath } from './document.ts'
import { docsFrame } from './frame.ts'

const lead =
  'What changed in the API. Things may be added at any time; whatever goes away is announced here, and marked as ' +
  'deprecated in /openapi.json, at least twelve months ahead.'

/** Changes that the page tells whole; of those before, it has the titles, and its Markdown has all. */
const toldWhole = 60

/** `/docs/changelog`: every change of the API, newest first, each with an anchor. */
export function changelogPage(site: Site, changes: readonly ApiChange[]): string {
  const head = { path: '/docs/changelog', title: 'Changelog', description: 'What changed in the API.' }
  return docsFrame(
    site,
    head,
    html`<h1>Changelog</h1>
<p class="lead">${lead} As a feed: <a href="/feed/api.atom">/feed/api.atom</a>. Older changes are whole in its Markdown: put <code>.md</code> behind the address.</p>
${changes.map(
  ({ id, day, kind, title, text, operations }, place) => html`<section id="${id}"><h2><a href="#${id}">${title}</a></h2>
<p class="sub"><time datetime="${day}">${day}</time> <span class="status">${kind}</span></p>
${
  place < toldWhole &&
  html`<p>${prose(text)}</p>
${operations.length > 0 && html`<ul class="requests" aria-label="Requests">${operations.map((one) => html`<li><a href="${requestPath(one)}"><code>${one}</code></a></li>`)}</ul>`}`
}</section>`,
)}`,
  )
}

/** The changelog of the API as Markdown. */
export function changelogText(baseUrl: string, changes: readonly ApiChange[]): string {
  return [
    '# Changelog',
    '',
    lead,
    '',
    ...changes.flatMap(({ id, day, kind, title, text, operations }) => [
      `## ${title}`,
      '',
      `${day}, ${kind}. ${text}`,
      '',
      ...operations.map((one) => `- [${one}](${baseUrl}${requestPath(one)})`),
      ...(operations.length > 0 ? [''] : []),
      `<${baseUrl}/docs/changelog#${id}>`,
      '',
    ]),
  ].join('\n')
}
