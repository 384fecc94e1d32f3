import type { RequestHandler } from 'express'
import { z } from 'zod'
import { chainOf } from '../../../config/chains.ts'
import { queryLimits } from '../../../config/limits.ts'
import { sourceNamed } from '../../../config/sources.ts'
import type { NameLook } from '../../claim/name-look.ts'
import { textParameter } from '../../http/parameters.ts'
import { clientOf } from '../../http/rate-limit-key.ts'
import type { Route } from '../../http/route.ts'
import { explainByAddress } from '../../routes/addresses/by-address.ts'
import { explainAgent } from '../../routes/agents/explain-agent.ts'
import type { addressExplanation, agentExplanation, ExplainedRule } from '../../schemas/agents/explain.ts'
import type { Exact } from '../parts/exact-json.ts'
import { counted, figure } from '../parts/figures.ts'
import { type Html, html } from '../parts/html.ts'
import { layout } from '../parts/layout.ts'
import { ownAddress } from '../parts/links.ts'
import { askExact, htmlType, page, type World } from '../parts/page.ts'
import { sentence } from '../parts/text.ts'
import { ago, day, period } from '../parts/times.ts'
import { nameLine, type Subject, subjectOf, userNameIn, whereFid } from './subject.ts'

type Explanation = Exact<z.output<typeof agentExplanation> | z.output<typeof addressExplanation>>

/** Most verifications on the page; the JSON has more. */
const mostVerifications = 25

const query = z.object({ q: textParameter })

/** `/explain`: why an account or an address is, or is not, in the directory. */
export function explainPage(world: World): Route {
  return page({
    path: '/explain',
    query,
    maxAgeSeconds: 30,
    freshSeconds: 5,
    async view({ q }) {
      const subject = q === null ? undefined : await subjectOf(world, q)
      return view(world, q, subject)
    },
  })
}

/**
 * The same page for the handle of somebody who is not listed, whom the network is asked for; anything else goes on to the
 * page above, whose answers are cached for all clients.
 */
export function explainUnlisted(world: World, lookForName: NameLook): RequestHandler {
  return async (req, res, next) => {
    const { q } = query.parse(req.query)
    const name = q === null ? undefined : userNameIn(q)
    if (q === null || name === undefined || (await subjectOf(world, q))) return next()
    const standing = await lookForName(name, clientOf(req.ip))
    const subject = standing.state === 'found' ? { fid: standing.fid } : undefined
    const { text } = await view(world, q, subject, nameLine(name, standing))
    res.set('Cache-Control', 'no-store').type(htmlType).send(text)
  }
}

/** `said`: what the network said of a handle that no agent has. */
async function view(world: World, q: string | null, subject: Subject | undefined, said?: Html): Promise<Html> {
  const found = subject && (await explanationOf(world, subject))
  const head = {
    title: 'Why am I not listed?',
    description: 'Which of the rules hold for an account or an address, and what to do next.',
    path: '/explain',
  }
  return layout(world, head, [
    html`<section class="hero"><h1>Why am I not listed?</h1>
<p class="lead">An account becomes an agent here when an address it verifies holds, or once held, an ERC-8004 identity, or when it is claimed. Ask about a FID, an address or a handle.</p></section>`,
    form(q, q === null || subject ? undefined : (said ?? nobody(q))),
    ...(subject
      ? [
          html`${said && html`<p class="note">${said}</p>`}`,
          found ? answer(found, subject, world.now()) : nothingOf(subject),
        ]
      : [whereFid]),
  ])
}

const nobody = (q: string) =>
  html`That is neither a FID nor an address. No agent here has it for a handle, either: <a href="/?q=${q}">search for it</a>, or ask for the FID of the account.`

function explanationOf(world: World, subject: Subject): Promise<Explanation | undefined> {
  return 'fid' in subject
    ? askExact<z.output<typeof agentExplanation>>(world, explainAgent, subject)
    : askExact<z.output<typeof addressExplanation>>(world, explainByAddress, subject)
}

function form(q: string | null, problem: Html | undefined): Html {
  return html`<form class="search" action="/explain">
<label class="unseen" for="q">FID, address or handle</label>
<input id="q" name="q" value="${q}" maxlength="${queryLimits.characters}" required autocomplete="off" spellcheck="false" placeholder="FID, address or @handle"${problem && html` aria-invalid="true" aria-describedby="q-problem"`}>
<button>Explain</button></form>
${problem && html`<p class="problem" id="q-problem">${problem}</p>`}`
}

/** Stands where an explanation would: the API gives none of an account that left the directory, nor says that it left. */
const nothingOf = (subject: Subject) =>
  html`<p class="empty">Nothing is shown here of ${'fid' in subject ? `FID ${subject.fid}` : subject.address}.</p>`

function answer(found: Explanation, subject: Subject, now: number): Html {
  const { summary, rules, verifications, sources, chains, in_index: listed } = found
  const fid = found.fid
  const json = 'fid' in subject ? `/api/agent/${subject.fid}/explain` : `/api/by-address/${subject.address}/explain`
  return html`<section aria-labelledby="answer"><h2 id="answer">${listed ? 'It is listed' : 'It is not listed'}</h2>
<p>${summary}${listed && fid !== null && html` <a href="/agent/${fid}">Its page</a> · <a href="/api/agent/${fid}/doctor">What is in the way of callers and buyers</a>`}</p>
${steps(rules, fid)}</section>
${
  verifications.length > 0 &&
  html`<section aria-labelledby="verifications"><h2 id="verifications">Verifications</h2><ul class="rows tight">${verifications
    .slice(0, mostVerifications)
    .map(
      ({ address, fid: by, verified_at, ended_at, tokens, chains: on }) =>
        html`<li>${ownAddress(address)} by <a href="/owner/${by}">FID ${by}</a> <span class="sub">${period(verified_at, ended_at)} · holds ${counted(tokens, 'registration')}${on.length > 0 && ` on ${on.join(', ')}`}</span></li>`,
    )}</ul></section>`
}
<section aria-labelledby="read"><h2 id="read">When we last looked</h2>
<div class="table" role="group" aria-labelledby="read" tabindex="0"><table><thead><tr><th scope="col">Source</th><th scope="col">Asked</th><th scope="col">Outcome</th></tr></thead>
<tbody>${sources.map(
    ({ source, subject, last_attempt_at, last_outcome }) =>
      html`<tr><th scope="row">${sourceNamed(source)?.label ?? source}${sources.filter((one) => one.source === source).length > 1 && html` <span class="sub"><bdi>${subject}</bdi></span>`}</th><td>${ago(last_attempt_at, now)}</td><td>${last_outcome?.replaceAll('_', ' ') ?? '–'}</td></tr>`,
  )}${chains.map(
    ({ chain, indexed_block, indexed_at }) =>
      html`<tr><th scope="row">${chainOf(chain).label}</th><td>${ago(indexed_at, now)}</td><td>block ${figure(indexed_block)}</td></tr>`,
  )}</tbody></table></div>
<p class="sub"><a href="${json}">The same as JSON</a></p></section>`
}

const names: Record<ExplainedRule['rule'], string> = {
  verified: 'An address is verified',
  token: 'A verified address holds an ERC-8004 identity',
  history: 'Such an address once held one',
  claim: 'The account was claimed',
}

/** The rules as steps: a tick where one holds, else what to do. `fid`: the account; null: they are of an address. */
function steps(rules: readonly ExplainedRule[], fid: number | null): Html {
  return html`<ol class="steps">${rules.map(
    ({ rule, holds, found, next }) =>
      html`<li class="${holds ? 'done' : 'open'}"><p><strong>${names[rule]}</strong> <span class="status${holds && ' active'}">${holds ? 'yes' : 'no'}</span></p>
<p class="sub">${dated(sentence(found))}</p>${next !== null && html`<p class="sub">Next: ${next}.${rule === 'claim' && fid !== null && html` <a href="/claim?fid=${fid}">Claim it here</a>`}</p>`}</li>`,
  )}</ol>`
}

/** A text of the API with its ISO times formatted like the page's own. */
const dated = (text: string) => text.split(time).map((part, index) => (index % 2 === 0 ? part : day(part)))
const time = /(\d{4}-\d\d-\d\dT[\d:.]+Z)/
