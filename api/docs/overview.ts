import { type Html, html, prose } from '../pages/parts/html.ts'
import type { Site } from '../pages/parts/layout.ts'
import { type ApiDocument, type DocumentedRequest, requestPath, requestsOf } from './document.ts'
import { docsFrame } from './frame.ts'

/** `/docs`: what can be asked, each with its page. */
export function overviewPage(document: ApiDocument, site: Site, baseUrl: string): string {
  const { info } = document
  const requests = requestsOf(document)
  // The first sentence is the lead.
  const [lead = '', ...sentences] = info.description.split(/(?<=\.) /)
  const rest = sentences.join(' ')
  const head = {
    path: '/docs',
    title: 'API reference',
    description: 'Every request of the API, with an example of each.',
  }
  return docsFrame(
    site,
    head,
    html`<h1>${info.title}: API reference</h1>
<p class="lead">${prose(lead)}</p>
<p>${prose(rest)}</p>
<h2 id="start">First request</h2>
<pre tabindex="0"><code>curl '${baseUrl}/api/discovery?sort=most-active&amp;limit=10'</code></pre>
<p>Every answer to a GET that may be kept has an <code>ETag</code> and says in <code>Cache-Control</code> how long you may keep it; a list that goes on has a <code>Link</code> to its next page. For tools there is <a href="/openapi.json">openapi.json</a> (OpenAPI 3.1).</p>
${sections.map(({ title, has }) =>
  group(
    title,
    requests.filter(({ path }) => sectionOf(path)?.has === has),
  ),
)}`,
  )
}

/** Sections in the order of the page; a request belongs to the first whose pattern matches its path. */
const sections = [
  { title: 'One agent', has: /^\/api\/agent\// },
  { title: 'Many agents', has: /^\/api\/(discovery|search|agents|leaderboard|stats|growth|coverage)/ },
  { title: 'Addresses', has: /^\/api\/by-address/ },
  { title: 'Money', has: /^\/api\/(settlements|timeseries|income|facilitators)/ },
  { title: 'Claims', has: /^\/api\/claim/ },
  { title: 'Copies and feeds', has: /^\/(data|feed|agent)/ },
  { title: 'Everything else', has: /^/ },
]

const sectionOf = (path: string) => sections.find(({ has }) => has.test(path))

function group(title: string, requests: readonly DocumentedRequest[]): Html {
  if (requests.length === 0) return html``
  return html`<h2>${title}</h2>
<ul class="rows tight">${requests.map(({ method, path, operation }) => html`<li id="${operation.operationId}"><a href="${requestPath(operation.operationId)}"><code>${method} ${path}</code></a> <span class="sub">${prose(operation.summary)}</span></li>`)}</ul>`
}
