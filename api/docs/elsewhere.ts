import { graphqlLimits } from '../../limits.config.ts'
import { html } from '../http/html.ts'
import type { Site } from '../pages/parts/layout.ts'
import { docsFrame } from './frame.ts'

/** `/docs/graphql`: the same data by GraphQL. */
export function graphqlPage(site: Site, baseUrl: string): string {
  const query = '{ allAgents(first: 5) { nodes { fid handle chains } } }'
  const head = { path: '/docs/graphql', title: 'GraphQL', description: 'The directory by GraphQL.' }
  return docsFrame(
    site,
    head,
    html`<h1>GraphQL</h1>
<p class="lead">The views of the SQL contract as a graph: agents with their registrations, settlements and claims, asked for in one request.</p>
<p>POST to <code>/graphql</code>, where the operator runs it: it is a process of its own. In a browser the same address is an editor with the whole schema.</p>
<pre tabindex="0"><code>{
  allAgents(first: 5, orderBy: [LISTED_AT_DESC]) {
    nodes { fid handle chains }
  }
}</code></pre>
<p>As a command, without the order:</p>
<pre tabindex="0"><code>curl ${baseUrl}/graphql \\
  --header 'Content-Type: application/json' \\
  --data '${JSON.stringify({ query })}'</code></pre>
<p>Every connection says how many rows it wants (<code>first</code> or <code>last</code>), at most ${graphqlLimits.pageSize}; selections are at most ${graphqlLimits.depth} deep. It is counted with the API: see <a href="/docs/limits">limits</a>.</p>`,
  )
}

/** `/docs/sql`: the same data by SQL. */
export function sqlPage(site: Site): string {
  const head = { path: '/docs/sql', title: 'SQL', description: 'The directory as views of a database.' }
  return docsFrame(
    site,
    head,
    html`<h1>SQL</h1>
<p class="lead">Whoever runs the directory can query it: the schema <code>directory</code> has views that may gain columns and lose none, for a role that reads them and nothing else.</p>
<pre tabindex="0"><code>select fid, handle, settlements_30d
  from directory.agents
 where claimed
 order by settlements_30d desc, fid
 limit 10</code></pre>
<p>Comments of the database say what each column means and in which unit. Without a database of one's own there are <a href="/docs#getLog">the log of all profiles</a>, which a mirror follows, and exports as Parquet and CSV.</p>`,
  )
}
