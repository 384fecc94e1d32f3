import { type Html, html } from '../../http/html.ts'
import type { Profile } from '../parts/answers.ts'
import { counted } from '../parts/figures.ts'
import { outsideLink } from '../parts/links.ts'
import { day } from '../parts/times.ts'

/** Who the agent is elsewhere: verified addresses, accounts, code, tags. */
export function accounts(agent: Profile): Html {
  const { verified_addresses, agent_identities: identities, codehost_profiles: code, oli_tags: tags } = agent
  return html`<section aria-labelledby="accounts"><h2 id="accounts">Accounts</h2>
<div class="cards">
<article class="card"><h3>Verified addresses</h3>
${
  verified_addresses.length === 0
    ? html`<p class="empty">The account verifies no address now.</p>`
    : html`<ul class="plain">${verified_addresses.map((address) => html`<li><code class="whole">${address}</code></li>`)}</ul>`
}</article>
${identities.length > 0 && html`<article class="card"><h3>Identities</h3><ul class="plain">${identities.map(identity)}</ul></article>`}
${code !== null && codehost(code)}
${tags.length > 0 && html`<article class="card"><h3>Labels</h3><ul class="tags">${tags.map(tag)}</ul></article>`}
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
