import { createHash } from 'node:crypto'
import { Html, html } from '../http/html.ts'
import { boundsOf, fieldsOf, type Schema, typeOf } from './schema.ts'

interface Content {
  readonly content?: Record<string, { readonly schema: Schema }>
}

interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly parameters?: readonly { name: string; in: string; schema: Schema }[]
  readonly requestBody?: Content
  readonly responses: Record<string, Content & { readonly description: string }>
}

/** The part of an OpenAPI document the page shows. */
export interface ApiDocument {
  readonly info: { readonly title: string; readonly version: string; readonly description: string }
  readonly paths: Record<string, Record<string, Operation>>
  readonly components: { readonly schemas: Record<string, Schema> }
}

/** A reference of the API as one page: no script, nothing from elsewhere. */
export function docsPage(document: ApiDocument, baseUrl: string): string {
  const { info, paths, components } = document
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
  const schemas = Object.entries(components.schemas)
  return docsDocument(
    `${info.title}: API reference`,
    html`<header>
<h1>${info.title}</h1>
<p>${info.description}</p>
<p>As a document for tools: <a href="openapi.json">openapi.json</a> (OpenAPI 3.1). What can go wrong: <a href="docs/errors">errors</a>. What changed: <a href="docs/changelog">changelog</a>.</p>
</header>
<nav aria-label="Contents">
<h2>Requests</h2>
<ul>${operations.map(({ path, method, operation }) => html`<li><a href="#${operation.operationId}"><code>${method} ${path}</code></a> ${operation.summary}</li>`)}</ul>
<h2>Answers</h2>
<p>${schemas.map(([name]) => html`<a href="#${name}">${name}</a> `)}</p>
</nav>
<main>
${operations.map(({ path, method, operation }) => section(path, method, operation, baseUrl))}
${schemas.map(([name, schema]) => html`<section id="${name}"><h2>${name}</h2><p>${schema.description}</p>${fieldsOf(schema)}</section>`)}
</main>`,
  )
}

/** A whole page about the API. */
export function docsDocument(title: string, body: Html): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${new Html(style)}</style>
</head>
<body>
${body}
</body>
</html>
`.text
}

function section(path: string, method: string, operation: Operation, baseUrl: string): Html {
  const parameters = operation.parameters ?? []
  const example = `${baseUrl}${path.replace('{fid}', '1').replace('{address}', `0x${'0'.repeat(40)}`)}`
  const sends =
    method === 'GET' ? '' : ` --request ${method} --header 'Content-Type: application/json' --data @body.json`
  const takes = Object.values(operation.requestBody?.content ?? {})
  return html`<section id="${operation.operationId}">
<h2><code>${method} ${path}</code></h2>
<p>${operation.summary} ${operation.description.replaceAll('`', '')}</p>
<pre><code>curl ${example}${sends}</code></pre>
${takes.length > 0 && html`<p>Body: ${takes.map(({ schema }) => typeOf(schema))}</p>`}
${
  parameters.length > 0 &&
  html`<table>
<thead><tr><th scope="col">Parameter</th><th scope="col">Type</th><th scope="col">Meaning</th></tr></thead>
<tbody>${parameters.map(({ name, in: place, schema }) => html`<tr><th scope="row"><code>${name}</code> (${place})</th><td>${typeOf(schema)}</td><td>${schema.description} ${boundsOf(schema)}</td></tr>`)}</tbody>
</table>`
}
<table>
<thead><tr><th scope="col">Status</th><th scope="col">Answer</th><th scope="col">Body</th></tr></thead>
<tbody>${Object.entries(operation.responses).map(([status, response]) => html`<tr><th scope="row">${status}</th><td>${response.description}</td><td>${Object.values(response.content ?? {}).map(({ schema }) => typeOf(schema))}</td></tr>`)}</tbody>
</table>
</section>`
}

const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { max-width: 60rem; margin: 0 auto; padding: 1rem }
code, pre { font: 0.9em/1.5 ui-monospace, monospace }
pre { overflow-x: auto; padding: 0.5rem; border: 1px solid }
table { border-collapse: collapse; width: 100%; margin: 0.5rem 0; display: block; overflow-x: auto }
th, td { text-align: left; vertical-align: top; padding: 0.25rem 0.75rem 0.25rem 0; border-bottom: 1px solid #8888 }
section { margin-top: 2.5rem }
`

/** The page may use its own style sheet and nothing else. */
export const docsPolicy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
