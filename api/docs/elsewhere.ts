import { graphqlLimits } from '../../config/limits.protocols.ts'
import { html } from '../pages/parts/html.ts'
import type { Site } from '../pages/parts/layout.ts'
import { docsFrame } from './frame.ts'

/** The queries of docs/graphql.md, in its order. */
const nested = [
  `{
  agentByFid(fid: "1001") {
    handle
    holdings(first: 10) { nodes { erc8004Id registration { chain } } }
    settlements(first: 5) { nodes { chain blockNumber amountUsdc } }
  }
}`,
  `{
  allAgents(first: 5, orderBy: [LISTED_AT_DESC]) {
    nodes {
      fid
      handle
      claims(first: 1) { nodes { method } }
      specs(first: 3) { nodes { kind url } }
    }
  }
}`,
] as const

/** `/docs/graphql`: the same data by GraphQL. */
export function graphqlPage(site: Site, baseUrl: string): string {
  const query = '{ agentByFid(fid: "1001") { fid handle chains } }'
  const head = { path: '/docs/graphql', title: 'GraphQL', description: 'The directory over GraphQL.' }
  return docsFrame(
    site,
    head,
    html`<h1>GraphQL</h1>
<p class="lead">Agents with their registrations, settlements, claims and documents as a graph, all in one request: eleven of the views of <a href="/docs/sql">SQL</a>.</p>
<p>POST to <code>/graphql</code>, if the operator runs it: it is a separate process. Opened in a browser, the same address is an editor with the whole schema.</p>
<p>An agent, where it is registered, and its newest payments:</p>
<pre tabindex="0"><code>${nested[0]}</code></pre>
<p>The newest agents, each with its claim and its documents:</p>
<pre tabindex="0"><code>${nested[1]}</code></pre>
<p>From the command line:</p>
<pre tabindex="0"><code>curl ${baseUrl}/graphql \\
  --header 'Content-Type: application/json' \\
  --data '${JSON.stringify({ query })}'</code></pre>
<p>Ask every connection for a number of rows (<code>first</code> or <code>last</code>), at most ${graphqlLimits.pageSize}; a query may be ${graphqlLimits.depth} levels deep. Requests count towards the limits of the API: see <a href="/docs/limits">limits</a>.</p>
<p>All other views are SQL only. Most of them answer under <a href="/docs">a request of the API</a>, too.</p>`,
  )
}

/** `/docs/sql`: the same data by SQL. */
export function sqlPage(site: Site): string {
  const head = { path: '/docs/sql', title: 'SQL', description: 'The directory as views of a database.' }
  return docsFrame(
    site,
    head,
    html`<h1>SQL</h1>
<p class="lead">If you run the directory, you can query it: the schema <code>directory</code> holds views that may gain columns and never lose any, open to a role that can read them and nothing else.</p>
<pre tabindex="0"><code>select fid, handle, settlements_30d
  from directory.agents
 where claimed
 order by settlements_30d desc, fid
 limit 10</code></pre>
<p>Comments in the database say what each column means and in which unit. Without a database of your own, there are <a href="/docs#getLog">the log of all profiles</a>, which a mirror follows, and exports as Parquet and CSV.</p>`,
  )
}
