import { errorPagePath } from '../http/error-answer.ts'
import { type ErrorCode, errorTable } from '../http/errors.ts'
import { type Html, html, prose } from '../pages/parts/html.ts'
import type { Site } from '../pages/parts/layout.ts'
import { errorFields } from '../schemas/error.ts'
import { docsFrame } from './frame.ts'

const codes = Object.keys(errorTable) as ErrorCode[]

const advice = {
  no: 'The same request gets the same answer: change it as `detail` says.',
  later: 'The same request may succeed in a while; wait longer each time.',
  'retry-after': 'Send the same request again after the seconds of the header Retry-After.',
} as const

/** `/docs/errors`: every error code, each with an anchor. */
export function errorsPage(site: Site): string {
  const head = { path: '/docs/errors', title: 'Errors', description: 'Every code you can be refused with.' }
  return docsFrame(
    site,
    head,
    html`<h1>Errors</h1>
<p class="lead">An error is a JSON object: <code>error</code> is one of these codes, <code>detail</code> is for people, the rest
belongs to the code. If you accept only application/problem+json, you get problem details instead (RFC 9457).</p>
<p>The same list as JSON: <a href="/api/errors">/api/errors</a>.</p>
${codes.map((code) => html`<section id="${code}"><h2><a href="${errorPagePath(code)}"><code>${code}</code></a></h2>${about(code)}</section>`)}`,
  )
}

/** `/docs/errors/{code}`: what one error code means. */
export function errorPage(code: ErrorCode, site: Site): string {
  const head = { path: errorPagePath(code), title: code, description: `${errorTable[code].title}.` }
  return docsFrame(site, head, html`<h1><code>${code}</code></h1>${about(code)}`)
}

function about(code: ErrorCode): Html {
  const { status, title, when, retry } = errorTable[code]
  const fields = errorFields(code)
  return html`<p>${title}. Status ${status}: ${prose(when)}.</p>
<p>${prose(advice[retry])}</p>
${fields.length > 0 && html`<p>Fields: ${fields.map((field, index) => html`${index > 0 && ', '}<code>${field}</code>`)}</p>`}`
}

/** Every error code, as Markdown. */
export function errorsText(): string {
  return ['# Errors', '', ...codes.flatMap((code) => [`## ${code}`, '', textAbout(code)])].join('\n')
}

/** What one error code means, as Markdown. */
export const errorText = (code: ErrorCode) => `# ${code}\n\n${textAbout(code)}`

function textAbout(code: ErrorCode): string {
  const { status, title, when, retry } = errorTable[code]
  const fields = errorFields(code)
  const told = fields.length > 0 ? [`Fields: ${fields.map((field) => `\`${field}\``).join(', ')}`, ''] : []
  return [`${title}. Status ${status}: ${when}.`, '', advice[retry], '', ...told].join('\n')
}
