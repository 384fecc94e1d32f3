import { findingTable } from '../../net/findings.ts'
import { errorPagePath } from '../http/error-answer.ts'
import { type ErrorCode, errorTable } from '../http/errors.ts'
import { type Html, html, prose } from '../pages/parts/html.ts'
import type { Site } from '../pages/parts/layout.ts'
import { findingPagePath } from '../routes/documents/doctor.ts'
import { findingCodes } from '../schemas/documents/doctor.ts'
import { errorFields } from '../schemas/error.ts'
import { docsFrame } from './frame.ts'

/** A closed list of codes: one page of all, each with an anchor, and one of each code; all as Markdown, too. */
interface Catalogue<Code extends string> {
  readonly path: string
  readonly title: string
  readonly description: string
  readonly lead: Html
  readonly codes: readonly Code[]
  pathOf(code: Code): string
  /** What the code means in one line, and in whole, a text a paragraph. */
  summary(code: Code): string
  paragraphs(code: Code): string[]
}

const advice = {
  no: 'The same request gets the same answer: change it as `detail` says.',
  later: 'The same request may succeed in a while; wait longer each time.',
  'retry-after': 'Send the same request again after the seconds of the header Retry-After.',
} as const

const errors: Catalogue<ErrorCode> = {
  path: '/docs/errors',
  title: 'Errors',
  description: 'Every code you can be refused with.',
  lead: html`<p class="lead">An error is a JSON object: <code>error</code> is one of these codes, <code>detail</code> is for people, the rest
belongs to the code. If you accept only application/problem+json, you get problem details instead (RFC 9457).</p>
<p>The same list as JSON: <a href="/api/errors">/api/errors</a>.</p>`,
  codes: Object.keys(errorTable) as ErrorCode[],
  pathOf: errorPagePath,
  summary: (code) => `${errorTable[code].title}.`,
  paragraphs(code) {
    const { status, title, when, retry } = errorTable[code]
    const fields = errorFields(code).map((field) => `\`${field}\``)
    const named = fields.length > 0 ? [`Fields: ${fields.join(', ')}`] : []
    return [`${title}. Status ${status}: ${when}.`, advice[retry], ...named]
  },
}

const severities = {
  blocks: 'A caller or a buyer cannot go on.',
  warns: 'Some callers or buyers cannot go on, or will not.',
  informs: 'Nothing is wrong with it by itself.',
} as const

const findings: Catalogue<(typeof findingCodes)[number]> = {
  path: '/docs/doctor',
  title: 'Doctor',
  description: 'Why nobody can reach an agent, or pay it.',
  lead: html`<p class="lead">What <code>/api/agent/{fid}/doctor</code> and <code>npm run doctor -- URL</code> find. The same list as JSON: <a href="/api/doctor/codes">/api/doctor/codes</a>.</p>`,
  codes: findingCodes,
  pathOf: findingPagePath,
  summary: (code) => findingTable[code].meaning.replaceAll('`', ''),
  paragraphs(code) {
    const { severity, meaning, fix, found } = findingTable[code]
    return [`${meaning} ${severities[severity]}`, `What to do: ${fix}`, `Found ${found}.`]
  },
}

/** A page and its Markdown. */
interface DocsPage {
  readonly path: string
  html(site: Site): string
  markdown(): string
}

/** The pages of all catalogues. */
export const cataloguePages: readonly DocsPage[] = [...pagesOf(errors), ...pagesOf(findings)]

function pagesOf<Code extends string>(catalogue: Catalogue<Code>): DocsPage[] {
  const { path, title, description, lead, codes, pathOf, summary, paragraphs } = catalogue
  const about = (code: Code) => html`${paragraphs(code).map((text) => html`<p>${prose(text)}</p>\n`)}`
  const text = (code: Code) => paragraphs(code).join('\n\n')
  const section = (code: Code) =>
    html`<section id="${code}"><h2><a href="${pathOf(code)}"><code>${code}</code></a></h2>${about(code)}</section>`
  const all = {
    path,
    html: (site: Site) =>
      docsFrame(site, { path, title, description }, html`<h1>${title}</h1>\n${lead}\n${codes.map(section)}`),
    markdown: () => [`# ${title}`, ...codes.map((code) => `## ${code}\n\n${text(code)}`)].join('\n\n').concat('\n'),
  }
  const each = codes.map((code) => ({
    path: pathOf(code),
    html: (site: Site) => {
      const head = { path: pathOf(code), title: code, description: summary(code) }
      return docsFrame(site, head, html`<h1><code>${code}</code></h1>${about(code)}`)
    },
    markdown: () => `# ${code}\n\n${text(code)}\n`,
  }))
  return [all, ...each]
}
