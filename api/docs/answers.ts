import { html, prose } from '../pages/parts/html.ts'
import type { Site } from '../pages/parts/layout.ts'
import type { ApiDocument } from './document.ts'
import { docsFrame } from './frame.ts'
import { answerPath, fieldsOf, type Schema } from './schema.ts'

/** `/docs/answers`: list of the schemas that answers and bodies are made of. */
export function answersPage({ components }: ApiDocument, site: Site): string {
  const head = { path: '/docs/answers', title: 'Answers', description: 'What answers of the API are made of.' }
  return docsFrame(
    site,
    head,
    html`<h1>Answers</h1>
<p class="lead">Everything that answers and bodies are made of, field by field.</p>
<ul class="rows tight">${Object.entries(components.schemas).map(([name, { description }]) => html`<li><a href="${answerPath(name)}"><code>${name}</code></a> <span class="sub">${prose(description ?? '')}</span></li>`)}</ul>`,
  )
}

/** `/docs/answers/{name}`: the fields of one schema. */
export function answerPage(name: string, schema: Schema, site: Site): string {
  const head = { path: answerPath(name), title: name, description: `The fields of ${name}.` }
  return docsFrame(
    site,
    head,
    html`<h1><code>${name}</code></h1>${schema.description && html`<p class="lead">${prose(schema.description)}</p>`}
${fieldsOf(schema)}`,
  )
}
