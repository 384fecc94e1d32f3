import { errorPagePath } from '../http/error-answer.ts'
import { errorTable } from '../http/errors.ts'
import { type Html, html, prose } from '../pages/parts/html.ts'
import type { Site } from '../pages/parts/layout.ts'
import { type DocumentedParameter, type DocumentedRequest, requestPath } from './document.ts'
import { docsFrame } from './frame.ts'
import { boundedType, type Schema, typeOf } from './schema.ts'

/** `/docs/requests/{operationId}`: what it takes and gives, an example, and a form to try it. */
export function requestPage(request: DocumentedRequest, site: Site, baseUrl: string): string {
  const { method, path, operation } = request
  const { operationId, summary, description, parameters = [], requestBody, responses } = operation
  const takes = Object.values(requestBody?.content ?? {})
  const canTry = method === 'GET' && !('text/event-stream' in (responses['200']?.content ?? {}))
  const head = {
    path: requestPath(operationId),
    title: `${method} ${path}`,
    description: summary,
    script: canTry ? '/assets/try.js' : undefined,
  }
  return docsFrame(
    site,
    head,
    html`<h1 class="path"><code>${method} ${path}</code></h1>
<p class="lead">${prose(summary)}</p>
<p>${prose(description)}</p>
<h2 id="example">Example</h2>
<pre tabindex="0"><code>${exampleOf(request, baseUrl)}</code></pre>
${Object.values(responses['200']?.content ?? {}).map(({ example }) => example !== undefined && answered(example))}
${canTry && tryIt(path, parameters)}
${
  parameters.length > 0 &&
  html`<h2 id="parameters">Parameters</h2>
<div class="table wraps" role="group" aria-labelledby="parameters" tabindex="0"><table>
<thead><tr><th scope="col">Name</th><th scope="col">Type</th><th scope="col">Meaning</th></tr></thead>
<tbody>${parameters.map(({ name, in: place, schema }) => html`<tr><th scope="row"><code>${name}</code> <span class="sub">${place}</span></th><td>${boundedType(schema)}</td><td>${prose(schema.description ?? '')}</td></tr>`)}</tbody>
</table></div>`
}
${takes.length > 0 && html`<h2 id="body">Body</h2><p>JSON: ${takes.map(({ schema }) => typeOf(schema))}</p>`}
<h2 id="answers">Answers</h2>
<div class="table wraps" role="group" aria-labelledby="answers" tabindex="0"><table>
<thead><tr><th scope="col">Status</th><th scope="col">Answer</th><th scope="col">Body</th></tr></thead>
<tbody>${Object.entries(responses).map(([status, response]) => html`<tr><th scope="row">${status}</th><td>${said(response.description)}</td><td>${Object.values(response.content ?? {}).map(({ schema }) => typeOf(schema))}</td></tr>`)}</tbody>
</table></div>`,
  )
}

/** Description of an answer; error codes in it link to their pages. */
function said(description: string): Html {
  const words = description.split(' or ')
  if (!words.every((word) => word in errorTable)) return prose(description)
  return html`${words.map((code, index) => html`${index > 0 && ' or '}<a href="${errorPagePath(code)}"><code>${code}</code></a>`)}`
}

/** Sample values of path parameters, by name. */
const samples: Readonly<Record<string, string>> = {
  fid: '1',
  address: `0x${'0'.repeat(40)}`,
  code: 'ERR_NOT_FOUND',
  number: '1',
}

/** Sample body of every request that takes one; the signature is over the text of its challenge. */
const sampleBody = {
  method: 'eip191',
  fid: 1,
  address: samples.address,
  nonce: '0123456789abcdef0123456789abcdef',
  timestamp: '2026-11-20T12:00:00Z',
  signature: '0x…',
}

function exampleOf({ method, path, operation }: DocumentedRequest, baseUrl: string): string {
  const address = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => samples[name] ?? name)
  if (method === 'GET') return `curl ${baseUrl}${address}`
  const request = `curl --request ${method} ${baseUrl}${address}`
  if (!operation.requestBody) return request
  return `${request} \\\n  --header 'Content-Type: application/json' \\\n  --data '${JSON.stringify(sampleBody)}'`
}

/** Characters of an example answer that are shown; the rest is cut. */
const mostShown = 12_000

function answered(example: unknown): Html {
  const text = typeof example === 'string' ? example : JSON.stringify(example, null, 2)
  return html`<p>An answer to such a request:</p>
<pre class="answer" tabindex="0"><code>${text.slice(0, mostShown)}${text.length > mostShown && '\n…'}</code></pre>`
}

/** Form to try the request; hidden until the page's script shows it. */
function tryIt(path: string, parameters: readonly DocumentedParameter[]): Html {
  const fields = parameters.filter(({ in: place }) => place === 'path' || place === 'query')
  return html`<form class="try card" data-path="${path}" hidden><h2 id="try">Try it</h2>
<div class="fields">${fields.map(field)}</div>
<p><button>Send</button></p>
<p class="sub" role="status"></p>
<pre class="answer" tabindex="0" hidden><code></code></pre></form>`
}

function field({ name, in: place, schema }: DocumentedParameter): Html {
  const id = `try-${name}`
  const words = wordsOf(schema)
  const isNeeded = place === 'path'
  return html`<div><label for="${id}"><code>${name}</code></label>${
    words.length > 0
      ? html`<select id="${id}" name="${name}" data-in="${place}"><option value=""></option>${words.map((word) => html`<option>${word}</option>`)}</select>`
      : html`<input id="${id}" name="${name}" data-in="${place}" autocomplete="off" spellcheck="false"${isNeeded && html` required value="${samples[name]}"`}>`
  }</div>`
}

/** Values of a parameter that is an enum or a boolean; of a list, those of its members; empty: any value. */
const wordsOf = ({ enum: words, items, type }: Schema) =>
  (words ?? items?.enum ?? (type === 'boolean' ? [true, false] : [])).map(String)
