import { graphqlLimits, mcpLimits, subgraphLimits } from '../../config/limits.protocols.ts'
import {
  cardLimits,
  documentLimits,
  exportLimits,
  grouped,
  incomeLimits,
  queryLimits,
  readingLimits,
  requestLimits,
  rowLimits,
  streamLimits,
} from '../../config/limits.ts'
import { type Html, html } from '../pages/parts/html.ts'
import type { Site } from '../pages/parts/layout.ts'
import { docsFrame } from './frame.ts'

type Row = readonly [of: string, much: string]

/** Names of the lists on the page, by their key in `rowLimits`. */
const lists: Record<keyof typeof rowLimits, string> = {
  settlements: 'Settlements',
  registrations: 'Registrations',
  feedback: 'Feedback',
  events: 'Events of claims',
  discovery: 'Agents from /api/discovery',
  leaderboard: 'The leaderboard',
  search: 'Search results',
  log: 'Lines of the log',
}

/** `/docs/limits`: every limit that a client of the API can reach. */
export function limitsPage(site: Site): string {
  const groups: Record<string, Row[]> = {
    Requests: [
      ['Requests per client', `${requestLimits.perMinute} a minute, ${grouped(requestLimits.perDay)} a UTC day`],
      ['Pages for people, counted separately', `${requestLimits.pagesPerMinute} a minute`],
      ['Streams of server-sent events at a time', `${streamLimits.ofClient} a client`],
      ['Files under /exports at a time, counted in nothing else', `${exportLimits.ofClient} a client`],
      ['Cards for link previews at a time', `${cardLimits.ofClient} a client`],
    ],
    'Rows per page of a list': Object.entries(rowLimits).map(
      ([list, { minimum, maximum, fallback }]): Row => [
        lists[list as keyof typeof rowLimits],
        `${minimum} to ${grouped(maximum)}; ${grouped(fallback)} unless asked for`,
      ],
    ),
    'One request': [
      ['Characters in a search', `${queryLimits.characters}`],
      ['Agents a search finds', `the best ${readingLimits.hits}`],
      ['Agents in one request to /api/agents', `${queryLimits.batch}`],
      ['Points of a timeseries', grouped(readingLimits.points)],
      ['Payments in a file of income (CSV)', grouped(incomeLimits.csvLines)],
      ['Agents in /data/agents.json', grouped(documentLimits.bulkAgents)],
    ],
    'MCP and GraphQL': [
      ['Rows of a list over MCP', `at most ${mcpLimits.rows.maximum}; ${mcpLimits.rows.fallback} unless asked for`],
      ['Rows of a GraphQL connection', `at most ${graphqlLimits.pageSize}`],
      ['Depth of a GraphQL query', `${graphqlLimits.depth}`],
      ['Time of a GraphQL query', `${graphqlLimits.timeouts.execution / 1_000} seconds`],
      ['Rows of a list of /subgraph', `at most ${grouped(subgraphLimits.pageSize)}`],
      ['Rows in one answer of /subgraph', `at most ${grouped(subgraphLimits.rows)}`],
    ],
  }
  const head = { path: '/docs/limits', title: 'Limits', description: 'How much you can ask of the API.' }
  return docsFrame(
    site,
    head,
    html`<h1>Limits</h1>
<p class="lead">You need no key. Every answer to a read says in <code>RateLimit</code> what you have left; one request too many gets <a href="/docs/errors/ERR_RATE_LIMIT">ERR_RATE_LIMIT</a> and a <code>Retry-After</code>. The operator may have set other limits than these.</p>
${Object.entries(groups).map(([name, rows], index) => group(name, `limits-${index}`, rows))}
<h2>Asking less</h2>
<p class="note">Keep what you have for as long as <code>Cache-Control</code> says, then ask again with <code>If-None-Match</code>. To get everything at once, use <a href="/docs#getBulk">the bulk file</a> or <a href="/docs#getLog">the log</a>.</p>`,
  )
}

function group(name: string, id: string, rows: readonly Row[]): Html {
  return html`<h2 id="${id}">${name}</h2>
<div class="table wraps limits" role="group" aria-labelledby="${id}" tabindex="0"><table><thead><tr><th scope="col">What</th><th scope="col">How much</th></tr></thead>
<tbody>${rows.map(([of, much]) => html`<tr><th scope="row">${of}</th><td>${much}</td></tr>`)}</tbody></table></div>`
}
