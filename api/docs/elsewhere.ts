import { graphqlLimits } from '../../limits.config.ts'
import { html } from '../pages/parts/html.ts'
import type { Site } from '../pages/parts/layout.ts'
import { docsFrame } from './frame.ts'

/** `/docs/graphql`: the same data by GraphQL. */
export function graphqlPage(site: Site, baseUrl: string): string {
  const query = '{ allAgents(first: 5) { nodes { fid handle chains } } }'
  const head = { path: '/docs/graphql', title: 'GraphQL', description: 'The directory over GraphQL.' }
  return docsFrame(
    site,
    head,
    html`<h1>GraphQL</h1>
<p class="lead">Agents with their registrations, settlements, claims and documents as a graph, all in one request. Income, payers, feedback, tags, prices, uptime and coverage have endpoints of their own.</p>
<p>POST to <code>/graphql</code>, if the operator runs it: it is a separate process. Opened in a browser, the same address is an editor with the whole schema.</p>
<pre tabindex="0"><code>{
  allAgents(first: 5, orderBy: [LISTED_AT_DESC]) {
    nodes { fid handle chains }
  }
}</code></pre>
<p>From the command line, in no particular order:</p>
<pre tabindex="0"><code>curl ${baseUrl}/graphql \\
  --header 'Content-Type: application/json' \\
  --data '${JSON.stringify({ query })}'</code></pre>
<p>Ask every connection for a number of rows (<code>first</code> or <code>last</code>), at most ${graphqlLimits.pageSize}; a query may be ${graphqlLimits.depth} levels deep. Requests count towards the limits of the API: see <a href="/docs/limits">limits</a>.</p>`,
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
