import {
  documentLimits,
  graphqlLimits,
  grouped,
  mcpLimits,
  queryLimits,
  readingLimits,
  requestLimits,
  rowLimits,
  streamLimits,
} from '../../limits.config.ts'
import { html } from '../http/html.ts'
import type { Site } from '../pages/parts/layout.ts'
import { docsFrame } from './frame.ts'

/** `/docs/limits`: every number that somebody who asks can meet. */
export function limitsPage(site: Site): string {
  const rows: [string, string][] = [
    ['Requests of a client', `${requestLimits.perMinute} a minute, ${grouped(requestLimits.perDay)} a UTC day`],
    ['Pages of a client, counted apart', `${requestLimits.pagesPerMinute} a minute`],
    ...Object.entries(rowLimits).map(([list, { minimum, maximum, fallback }]): [string, string] => [
      `Rows of a page: ${list}`,
      `${minimum} to ${grouped(maximum)}, without a word ${grouped(fallback)}`,
    ]),
    ['Characters of a search', `${queryLimits.characters}`],
    ['Hits of a search', `${readingLimits.hits}`],
    ['Agents of one request for several', `${queryLimits.batch}`],
    ['Points of a series', grouped(readingLimits.points)],
    ['Agents of the bulk file', grouped(documentLimits.bulkAgents)],
    ['Streams of events', `${streamLimits.ofClient} of a client`],
    ['MCP, rows of a list', `${mcpLimits.rows.fallback}, at most ${mcpLimits.rows.maximum}`],
    ['GraphQL, rows of a connection', `at most ${graphqlLimits.pageSize}`],
    ['GraphQL, depth', `${graphqlLimits.depth}`],
  ]
  const head = { path: '/docs/limits', title: 'Limits', description: 'How much can be asked of the API.' }
  return docsFrame(
    site,
    head,
    html`<h1>Limits</h1>
<p class="lead">Nobody needs a key. Every answer says in <code>RateLimit</code> what is left; beyond it comes <a href="/docs/errors/ERR_RATE_LIMIT">ERR_RATE_LIMIT</a> with <code>Retry-After</code>. An operator may have set other limits than these.</p>
<div class="table wraps" role="group" aria-label="Limits" tabindex="0"><table><thead><tr><th scope="col">Of what</th><th scope="col">How much</th></tr></thead>
<tbody>${rows.map(([name, value]) => html`<tr><th scope="row">${name}</th><td>${value}</td></tr>`)}</tbody></table></div>
<p>An answer that is kept costs nothing: ask with <code>If-None-Match</code>, and stay within <code>Cache-Control</code>. For everything at once there are <a href="/docs#getBulk">the bulk file</a> and <a href="/docs#getLog">the log</a>.</p>`,
  )
}
