import { z } from 'zod'
import { type ApiChange, apiChanges } from '../../changelog/changes.ts'
import { atomFeed } from '../../feed/atom.ts'
import { route } from '../../http/route.ts'
import { html } from '../../pages/parts/html.ts'

const path = '/feed/api.atom'

/** GET /feed/api.atom */
export const apiFeed = route({
  path,
  operationId: 'getApiFeed',
  summary: 'What changed for who asks the API, as an Atom 1.0 feed.',
  answer: { type: 'application/atom+xml; charset=utf-8', schema: z.string(), description: 'The feed, newest first.' },
  maxAgeSeconds: 300,
  freshSeconds: 300,
  read: async (_input, site) => feedOfChanges(apiChanges, site),
})

/** The feed of changes, newest first: an entry each, whose address is its anchor in the changelog. */
export function feedOfChanges(
  changes: readonly ApiChange[],
  { baseUrl, serviceName }: { readonly baseUrl: string; readonly serviceName: string },
): string {
  const entries = changes.map(({ id, day, kind, title, text }) => ({
    address: `${baseUrl}/docs/changelog#${id}`,
    title,
    author: serviceName,
    summary: text,
    content: html`<p>${text}</p>`.text,
    terms: [kind],
    published: new Date(day),
    updated: new Date(day),
  }))
  const siteUrl = `${baseUrl}/docs/changelog`
  return atomFeed(entries, { title: `${serviceName}: changes of the API`, feedUrl: baseUrl + path, siteUrl })
}
