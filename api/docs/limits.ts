import {
  documentLimits,
  graphqlLimits,
  grouped,
  incomeLimits,
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
    ['Requests a client may send', `${requestLimits.perMinute} a minute, ${grouped(requestLimits.perDay)} a UTC day`],
    ['Pages for people, counted apart', `${requestLimits.pagesPerMinute} a minute`],
    ...Object.entries(rowLimits).map(([list, { minimum, maximum, fallback }]): [string, string] => [
      `Rows of a page of ${list}`,
      `${minimum} to ${grouped(maximum)}; ${grouped(fallback)} unless asked for`,
    ]),
    ['Characters of the words to search for', `${queryLimits.characters}`],
    ['Agents that a search finds', `the best ${readingLimits.hits}`],
    ['Agents in one request to /api/agents', `${queryLimits.batch}`],
    ['Points of a timeseries', grouped(readingLimits.points)],
    ['Payments in a file of income (CSV)', grouped(incomeLimits.csvLines)],
    ['Agents in /data/agents.json', grouped(documentLimits.bulkAgents)],
    ['Streams of server-sent events at once', `${streamLimits.ofClient} a client`],
    ['Rows of a list by MCP', `at most ${mcpLimits.rows.maximum}; ${mcpLimits.rows.fallback} unless asked for`],
    ['Rows of a connection by GraphQL', `at most ${graphqlLimits.pageSize}`],
    ['Depth of a GraphQL query', `${graphqlLimits.depth}`],
  ]
  const head = { path: '/docs/limits', title: 'Limits', description: 'How much can be asked of the API.' }
  return docsFrame(
    site,
    head,
    html`<h1>Limits</h1>
<p class="lead">Nobody needs a key. Every answer says in <code>RateLimit</code> what is left; a request too many is answered with <a href="/docs/errors/ERR_RATE_LIMIT">ERR_RATE_LIMIT</a> with <code>Retry-After</code>. An operator may have set other limits than these.</p>
<div class="table wraps" role="group" aria-label="Limits" tabindex="0"><table><thead><tr><th scope="col">Of what</th><th scope="col">How much</th></tr></thead>
<tbody>${rows.map(([name, value]) => html`<tr><th scope="row">${name}</th><td>${value}</td></tr>`)}</tbody></table></div>
<p class="note">What a client has kept need not be asked for again: stay within <code>Cache-Control</code>, and ask with <code>If-None-Match</code> afterwards. For everything at once there are <a href="/docs#getBulk">the bulk file</a> and <a href="/docs#getLog">the log</a>.</p>`,
  )
}
