import type { Profile } from '../parts/exact-json.ts'
import { counted } from '../parts/figures.ts'
import { type Html, html } from '../parts/html.ts'
import { outsideLink } from '../parts/links.ts'
import { day } from '../parts/times.ts'

/** Most identities or labels that the page lists; the JSON has all of them. */
const mostShown = 20

/** Who the agent is elsewhere: accounts, code, labels. Empty when no source knows any. */
export function accounts(agent: Profile): Html {
  const { agent_identities: identities, codehost_profiles: code, oli_tags: tags } = agent
  if (identities.length + tags.length === 0 && code === null) return html``
  return html`<section aria-labelledby="accounts"><h2 id="accounts">Elsewhere</h2>
<div class="cards">
${identities.length > 0 && html`<article class="card"><h3>Identities</h3><ul class="plain">${identities.slice(0, mostShown).map(identity)}</ul></article>`}
${code !== null && codehost(code)}
${tags.length > 0 && html`<article class="card"><h3>Labels</h3><ul class="tags">${tags.slice(0, mostShown).map(tag)}</ul></article>`}
</div></section>`
}

function identity({ platform, identity: name, url, follower_count: followers }: Profile['agent_identities'][number]) {
  return html`<li><span class="sub">${platform}</span> ${url === null ? html`<bdi>${name}</bdi>` : outsideLink(url, name)}${
    followers !== null && html` <span class="sub">${counted(followers, 'follower')}</span>`
  }</li>`
}

function codehost(code: NonNullable<Profile['codehost_profiles']>): Html {
  const { login, url, bio, public_repos, total_stars, followers, top_languages, last_push_at, verified } = code
  const figures = [
    ...(public_repos === null ? [] : [counted(public_repos, 'repository', 'repositories')]),
    ...(total_stars === null ? [] : [counted(total_stars, 'star')]),
    ...(followers === null ? [] : [counted(followers, 'follower')]),
  ]
  return html`<article class="card"><h3>Code</h3>
<p>${url === null ? html`<bdi>${login}</bdi>` : outsideLink(url, login)} <span class="sub">${verified ? 'verified' : 'as the agent says'}</span></p>
${bio !== null && html`<p dir="auto">${bio}</p>`}
<p class="sub">${figures.join(' · ')}${last_push_at !== null && html` · last push ${day(last_push_at)}`}</p>
${top_languages.length > 0 && html`<ul class="tags">${top_languages.map((language) => html`<li>${language}</li>`)}</ul>`}
</article>`
}

function tag({ name, slug, source, tag_type }: Profile['oli_tags'][number]): Html {
  return html`<li title="${[tag_type, source].filter(Boolean).join(', ')}"><bdi>${name ?? slug}</bdi></li>`
}
