import { html } from '../http/html.ts'
import { apiChanges } from '../routes/developers/changes.ts'
import { docsDocument } from './page.ts'

/** Every change of the API, each with an anchor. */
export function changelogPage(): string {
  return docsDocument(
    'Changelog',
    html`<header>
<h1>Changelog</h1>
<p>What changed for who asks the API. Adding is always possible; what goes away is told here, and by the headers
Deprecation (RFC 9745) and Sunset (RFC 8594) of its answers, at least twelve months before. As a feed:
<a href="/feed/api.atom">/feed/api.atom</a>. <a href="/docs">API reference</a>.</p>
</header>
<main>
${apiChanges.map(
  ({ id, day, kind, title, text, operations }) => html`<section id="${id}"><h2>${title}</h2>
<p><time datetime="${day}">${day}</time>, ${kind}. ${text}</p>
${operations.length > 0 && html`<p>${operations.map((one) => html`<a href="/docs#${one}"><code>${one}</code></a> `)}</p>`}</section>`,
)}
</main>`,
  )
}
