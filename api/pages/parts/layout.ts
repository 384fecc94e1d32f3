import { queryLimits } from '../../../config/limits.ts'
import { Html, html } from './html.ts'
import { oneLine, plain } from './text.ts'

interface Head {
  readonly title: string
  /** One sentence, for search engines and previews. */
  readonly description: string
  /** Path of the page from the site's root, with its query. */
  readonly path: string
  /** Path of the page that this one is a part or a view of; default: `path`. */
  readonly canonical?: string
  /** Path of a picture for previews, 1200 x 630, and what it shows. */
  readonly image?: { readonly path: string; readonly alt: string }
  /** What the page is about, in words of schema.org. */
  readonly about?: Readonly<Record<string, unknown>> | undefined
  /** Feeds of this page besides the one of all agents. */
  readonly feeds?: readonly { readonly title: string; readonly path: string }[]
  /** Place of the page that a second skip link leads to. */
  readonly skip?: { readonly to: string; readonly name: string } | undefined
  /** Browser script of the page. */
  readonly script?: string | undefined
  /** Whether search engines are asked not to index the page; default: false. */
  readonly unlisted?: boolean
}

export interface Site {
  readonly serviceName: string
  /** Without a slash at the end. */
  readonly siteUrl: string
}

const sections = [
  ['/', 'Agents'],
  ['/leaderboard', 'Leaderboard'],
  ['/network', 'Network'],
  ['/claim', 'Claim'],
  ['/docs', 'API'],
] as const

/** A whole page around its main part. */
export function layout({ serviceName, siteUrl }: Site, head: Head, main: Html | readonly Html[]): Html {
  const { path, canonical = path, image, about, feeds = [], script, skip, unlisted } = head
  // Names are strangers' text: a direction control in one would turn the text around the title as well.
  const title = oneLine(head.title)
  const description = oneLine(head.description)
  const [own] = path.split('?')
  const address = siteUrl + canonical
  const allFeeds = [{ title: 'Newest agents', path: '/feed.atom' }, ...feeds]
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · ${serviceName}</title>
<meta name="description" content="${description}">
<meta name="color-scheme" content="light dark">
<meta property="og:site_name" content="${serviceName}">
<meta property="og:type" content="website">
<meta property="og:title" content="${title}">
<meta property="og:description" content="${description}">
<meta property="og:url" content="${address}">
${image && preview(siteUrl + image.path, image.alt)}
<meta name="twitter:card" content="${image ? 'summary_large_image' : 'summary'}">
${unlisted ? html`<meta name="robots" content="noindex">` : html`<link rel="canonical" href="${address}">`}
<link rel="icon" href="/assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/assets/style.css">
${allFeeds.map((feed) => html`<link rel="alternate" type="application/atom+xml" title="${oneLine(feed.title)}" href="${feed.path}">\n`)}${
  about && linkedData(about)
}<script src="/assets/local.js" defer blocking="render"></script>
${script && html`<script src="${script}" defer blocking="render"></script>`}
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>${
    skip &&
    html`
<a class="skip" href="#${skip.to}">${skip.name}</a>`
  }
<header class="top"><div class="wide">
<a class="brand" href="/"><svg viewBox="0 0 32 32" width="26" height="26" aria-hidden="true"><circle cx="16" cy="16" r="14" fill="none" stroke="currentColor" stroke-width="2.4"/><circle cx="11.5" cy="16" r="3.4" fill="currentColor"/><circle cx="20.5" cy="16" r="3.4" fill="none" stroke="currentColor" stroke-width="2.2"/></svg>${serviceName}</a>
<nav aria-label="Sections"><ul>${sections.map(([target, name]) => html`<li><a href="${target}"${currentOf(target, own)}>${name}</a></li>`)}</ul></nav>
</div></header>
<main id="main" class="wide">
${main}
</main>
<footer><div class="wide">
<p>Registrations, payments and feedback are events of public chains; accounts, addresses and claims are signed messages. What an agent says of itself, its prices, and tags are somebody’s word; uptime is what this service saw. All times are UTC.</p>
<p><a href="/feed.atom">Atom feed</a> <a href="/data/agents.json">All claimed agents</a> <a href="/openapi.json">OpenAPI</a> <a href="/status">Status</a> <a href="/explain">Why am I not listed?</a></p>
</div></footer>
</body>
</html>
`
}

/** Marks the section of the page `own` in the navigation; a path below a section belongs to it. */
function currentOf(target: string, own = ''): Html | false {
  if (target === own) return html` aria-current="page"`
  return target !== '/' && own.startsWith(`${target}/`) && html` aria-current="true"`
}

function preview(address: string, alt: string): Html {
  return html`<meta property="og:image" content="${address}">
<meta property="og:image:type" content="image/png">
<meta property="og:image:width" content="${previewSize.width}">
<meta property="og:image:height" content="${previewSize.height}">
<meta property="og:image:alt" content="${oneLine(alt)}">`
}

/** Pixels of preview pictures, the size that sites expect of `og:image`. */
export const previewSize = { width: 1_200, height: 630 }

/** Data, not a script: nothing runs it, and nothing in it can end its element. */
function linkedData(about: Readonly<Record<string, unknown>>): Html {
  const text = plain(JSON.stringify({ '@context': 'https://schema.org', ...about }))
  return html`<script type="application/ld+json">${new Html(text.replaceAll('<', '\\u003c'))}</script>\n`
}

/** Search form of the directory. `kept`: names and values of the filters that a new search keeps. */
export function searchBox(q: string | null = null, kept: readonly (readonly [string, string])[] = []): Html {
  return html`<form class="search" action="/" role="search">
${kept.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<label class="unseen" for="q">Search agents</label>
<input id="q" type="search" name="q" value="${q}" maxlength="${queryLimits.characters}" placeholder="Name, skill, @handle, FID, address, transaction, base 123" autocomplete="off" spellcheck="false">
<button>Search</button>
</form>`
}
