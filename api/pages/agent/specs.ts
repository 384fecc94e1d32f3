import { answering, isReadable } from '../../../db/queries/sql/uptime.ts'
import type { Profile } from '../parts/exact-json.ts'
import { counted } from '../parts/figures.ts'
import { type Html, html } from '../parts/html.ts'
import { hostOf, outsideLink } from '../parts/links.ts'
import { ago } from '../parts/times.ts'
import { type Uptime, uptimeStrip } from './uptime.ts'

type Document = Profile['agent_specs']['documents'][number]

const kinds: Record<Document['kind'], string> = {
  a2a: 'A2A agent card',
  mcp: 'MCP server',
  openapi: 'OpenAPI',
  web: 'Web page',
  x402: 'x402 resource',
}

/** Machine-readable descriptions on the agent's hosts, each with a dot: green when what it describes answered last. */
export function specs(agent: Profile, uptime: Uptime | undefined, now: number): Html {
  const { fid, spec_check_status: status } = agent
  const { documents } = agent.agent_specs
  return html`<section aria-labelledby="specs"><h2 id="specs">Is it alive?</h2>
${documents.length === 0 ? html`<p class="empty">${none[status]}</p>` : html`<ul class="rows">${documents.slice(0, mostDocuments).map((document, index) => row(document, uptimeStrip(uptime, document, `uptime-${index}`), now))}</ul>`}
${documents.length > mostDocuments && html`<p class="sub">${mostDocuments} of ${documents.length}. <a href="/api/agent/${fid}?fields=agent_specs">All as JSON</a></p>`}
</section>`
}

const none: Record<Profile['spec_check_status'], string> = {
  unchecked: 'Nobody has looked for machine-readable descriptions of this agent yet.',
  found: 'No machine-readable description is listed.',
  not_found: 'No machine-readable description was found on this agent’s hosts.',
  unreachable: 'The hosts of this agent do not answer.',
  invalid: 'The hosts of this agent serve no description that we can read.',
}

function row(document: Document, strip: Html | null, now: number): Html {
  const {
    kind,
    url,
    title,
    version,
    skills,
    tools,
    path_count,
    domain_verified,
    card_signature,
    back_reference,
    truncated,
  } = document
  const { answers } = document
  const readable = isReadable(document.consecutive_failures)
  const alive = answers ? answering.includes(answers.code) : readable
  const offers = [
    ...(skills.length > 0 ? [listed(skills, truncated.skills, 'skill')] : []),
    ...(tools.length > 0 ? [listed(tools, truncated.tools, 'tool')] : []),
    ...(path_count === null ? [] : [counted(path_count, 'path')]),
    ...(domain_verified ? ['host lists the agent as its own'] : []),
    ...(back_reference === 'contradicted' ? ['listed for other agents, not for this one'] : []),
    ...(card_signature === 'valid' ? ['signed by a key of its host'] : []),
    ...(card_signature === 'invalid' ? ['changed since it was signed'] : []),
  ]
  return html`<li>
<p><span class="dot ${alive ? 'alive' : 'down'}"></span><strong>${kinds[kind]}</strong> ${title !== null && html`<bdi>${title}</bdi>`} ${version !== null && html`<span class="sub"><bdi>${version}</bdi></span>`}</p>
<p class="sub">${outsideLink(url, hostOf(url))} · ${alive ? 'alive' : readable && answers ? `readable, but ${wordOf(answers.code)}` : checkName(document.last_check_status)}, checked ${ago(document.last_check_at, now)}${
    !alive && readable && answers && html`, so since ${ago(answers.since, now)}`
  }${
    !readable && document.last_alive_at !== null && html`, last alive ${ago(document.last_alive_at, now)}`
  }${(answers?.latency_ms ?? document.latency_ms) !== null && alive && html` · ${answers?.latency_ms ?? document.latency_ms} ms`}${offers.map((offer) => html` · ${offer}`)}</p>
${strip}
</li>`
}

/** Length of a list; `least`: of one that is cut, how long it is at least. */
function listed(list: readonly string[], least: number | undefined, noun: string): string {
  return least === undefined ? counted(list.length, noun) : `at least ${counted(least, noun)}`
}

/** Most documents on the page; the JSON has all of them. */
const mostDocuments = 15

/** Why nobody answers what can be read. */
const wordOf = (code: NonNullable<Document['answers']>['code']) =>
  code === 'not_asked' ? 'it names no place that can be asked' : `what it describes does not answer: ${checkName(code)}`

/** Status of a check in words: `auth_required` as `auth required`, null as `not checked`. */
function checkName(status: Document['last_check_status']): string {
  return status === null ? 'not checked' : status.replaceAll('_', ' ')
}
