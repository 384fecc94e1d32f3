import { queryLimits } from '../../../limits.config.ts'
import { type Html, html } from './html.ts'

/** Search form of the directory. `kept`: names and values of the filters that a new search keeps. */
export function searchBox(q: string | null = null, kept: readonly (readonly [string, string])[] = []): Html {
  return html`<form class="search" action="/" role="search">
${kept.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<label class="unseen" for="q">Search agents</label>
<input id="q" type="search" name="q" value="${q}" maxlength="${queryLimits.characters}" placeholder="Name, skill, @handle, FID, address, transaction, base 123" autocomplete="off" spellcheck="false">
<button>Search</button>
</form>`
}
