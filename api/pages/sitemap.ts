import { z } from 'zod'
import { listedAgents } from '../../db/queries/agents/newest-agents.ts'
import { discoveryTotal } from '../../db/queries/directory/discovery.ts'
import { type Route, route, type Sources } from '../http/route.ts'
import { type Html, html } from './parts/html.ts'

/** URLs in one part of the sitemap; the protocol allows 50,000 and 50 MB. */
const partSize = 20_000
const mostParts = 50_000

const own = ['/', '/leaderboard', '/network', '/status', '/explain', '/claim', '/docs']
const xml = 'application/xml; charset=utf-8'
const namespace = 'http://www.sitemaps.org/schemas/sitemap/0.9'

/** Routes for search engines: robots.txt names the sitemap, which names its parts (sitemaps.org, 0.9). */
export const sitemaps: readonly Route[] = [
  forEngines('/robots.txt', 'text/plain; charset=utf-8', async (_part, { siteUrl }) =>
    // No queries: there is a URL for each combination of filters, more than an engine could ever crawl.
    ['User-agent: *', 'Disallow: /api/', 'Disallow: /*?', '', `Sitemap: ${siteUrl}/sitemap.xml`, ''].join('\n'),
  ),
  forEngines('/sitemap.xml', xml, async (_part, { database, siteUrl }) => {
    const { total } = await discoveryTotal(database, {
      q: null,
      chain: null,
      claimed: null,
      spec: null,
      codehost: null,
    })
    const parts = Math.min(mostParts, Math.max(1, Math.ceil(total / partSize)))
    const entries = Array.from(
      { length: parts },
      (_, n) => html`<sitemap><loc>${siteUrl}/sitemap-${n + 1}.xml</loc></sitemap>\n`,
    )
    return `${declaration}<sitemapindex xmlns="${namespace}">\n${html`${entries}`.text}</sitemapindex>\n`
  }),
  forEngines('/sitemap-{part}.xml', xml, async (part, { database, siteUrl }) => {
    if (part === undefined) return undefined
    const agents = await listedAgents(database, { offset: (part - 1) * partSize, limit: partSize })
    if (agents.length === 0 && part > 1) return undefined
    const urls: Html[] = [
      ...(part === 1 ? own.map((path) => html`<url><loc>${siteUrl}${path}</loc></url>\n`) : []),
      ...agents.map(
        ({ fid, changedAt }) =>
          html`<url><loc>${siteUrl}/agent/${fid}</loc><lastmod>${changedAt.toISOString()}</lastmod></url>\n`,
      ),
    ]
    return `${declaration}<urlset xmlns="${namespace}">\n${html`${urls}`.text}</urlset>\n`
  }),
]

const declaration = '<?xml version="1.0" encoding="UTF-8"?>\n'

function forEngines(
  path: string,
  type: string,
  write: (part: number | undefined, sources: Sources) => Promise<string | undefined>,
): Route {
  return route({
    path,
    operationId: path,
    summary: 'For search engines.',
    params: z.object({ part: z.string().optional().transform(readPart) }),
    answer: { type, schema: z.string(), description: 'The document.' },
    maxAgeSeconds: 3_600,
    freshSeconds: 600,
    read: ({ part }, sources) => write(part, sources),
  })
}

/** Number of a part of the sitemap, from 1; undefined: the text is no such number. */
function readPart(text: string | undefined): number | undefined {
  const part = /^[1-9][0-9]{0,4}$/.test(text ?? '') ? Number(text) : undefined
  return part !== undefined && part <= mostParts ? part : undefined
}
