import { type Html, html } from '../pages/parts/html.ts'
import { layout, type Site } from '../pages/parts/layout.ts'

interface DocsPage {
  readonly path: string
  readonly title: string
  /** One sentence, for search engines. */
  readonly description: string
  readonly script?: string | undefined
}

/** A page of the API reference in the site's layout, next to the navigation of the reference. */
export function docsFrame(site: Site, { path, title, description, script }: DocsPage, body: Html): string {
  const entries = chapters.map(
    ([target, name]) => html`<li><a href="${target}"${currentOf(target, path)}>${name}</a></li>`,
  )
  const main = html`<div class="docs"><nav class="contents" aria-label="API reference"><ul>${entries}</ul></nav>
<div class="chapter">${body}</div></div>`
  return layout(site, { title, description, path, script }, main).text
}

/** `aria-current` of a navigation entry: pages of requests belong to the overview, others to the chapter above them. */
function currentOf(target: string, path: string): Html | false {
  if (target === path) return html` aria-current="page"`
  return path.startsWith(target === '/docs' ? '/docs/requests/' : `${target}/`) && html` aria-current="true"`
}

const chapters = [
  ['/docs', 'Overview'],
  ['/docs/answers', 'Answers'],
  ['/docs/errors', 'Errors'],
  ['/docs/doctor', 'Doctor'],
  ['/docs/limits', 'Limits'],
  ['/docs/graphql', 'GraphQL'],
  ['/docs/sql', 'SQL'],
  ['/docs/changelog', 'Changelog'],
  ['/openapi.json', 'OpenAPI 3.1'],
  ['/llms.txt', 'llms.txt'],
] as const
