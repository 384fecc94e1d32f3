import { Feed } from 'feed'
import { type Element, js2xml, xml2js } from 'xml-js'
import type { Entry } from './agent-entry.ts'

export interface FeedOptions {
  readonly title: string
  /** Address of the feed itself, and its id. */
  readonly feedUrl: string
  readonly siteUrl: string
  /** Id shared by all documents of a paged feed; absent: `feedUrl`. */
  readonly id?: string
  /** URLs of the feed's other documents, by link relation (RFC 5005). */
  readonly pages?: Readonly<Record<string, string>>
  /** Whether it is an archive: a document whose entries stay as they are (RFC 5005). */
  readonly isArchive?: boolean
  /** Deleted entries (RFC 6721); absent: the feed does not list any. */
  readonly tombstones?: readonly { readonly id: string; readonly when: Date }[]
}

/**
 * Atom 1.0 (RFC 4287) with the syndication module's hint to look every five minutes.
 *
 * The library lays out the document; a pass over its element tree then sets what it cannot say (types of links and of
 * texts, other namespaces) and every text that is not ours: the library's writer splits the first `]]>` alone and
 * undoes one level of `&amp;`, so the texts it is given are stand-ins.
 */
export function atomFeed(entries: readonly Entry[], options: FeedOptions): string {
  const { title, feedUrl, siteUrl, id = feedUrl, pages = {}, tombstones, isArchive } = options
  const updated = new Date(Math.max(0, ...entries.map((entry) => entry.updated.getTime())))
  const feed = new Feed({ id, title, link: siteUrl, feed: feedUrl, updated, generator: false })
  for (const entry of entries) {
    feed.addItem({
      title: 'title',
      id: entry.address,
      link: entry.address,
      date: entry.updated,
      published: entry.published,
      description: 'summary',
      content: 'content',
      author: [{ name: 'author', link: entry.address }],
      category: entry.terms.map((term) => ({ term })),
    })
  }
  const document = xml2js(feed.atom1()) as Element
  const root = child(document, 'feed')
  root.attributes = { ...root.attributes, 'xmlns:sy': 'http://purl.org/rss/1.0/modules/syndication/' }
  if (tombstones) root.attributes['xmlns:at'] = 'http://purl.org/atompub/tombstones/1.0'
  if (isArchive) root.attributes['xmlns:fh'] = 'http://purl.org/syndication/history/1.0'
  const elements = root.elements ?? []
  const own = elements.filter((element) => element.name !== 'entry')
  for (const link of own.filter((element) => element.name === 'link')) {
    const type = link.attributes?.rel === 'self' ? 'application/atom+xml' : 'text/html'
    link.attributes = { ...link.attributes, type }
  }
  setText(child(root, 'title'), title)
  const items = elements.filter((element) => element.name === 'entry')
  for (const [index, item] of items.entries()) complete(item, entries[index] as Entry)
  root.elements = [
    ...own,
    ...Object.entries(pages).map(([rel, href]) => empty('link', { rel, href, type: 'application/atom+xml' })),
    ...(isArchive ? [empty('fh:archive', {})] : []),
    leaf('sy:updatePeriod', 'hourly'),
    leaf('sy:updateFrequency', '12'),
    ...(tombstones ?? []).map((gone) => empty('at:deleted-entry', { ref: gone.id, when: gone.when.toISOString() })),
    ...items,
  ]
  return js2xml(document, { spaces: 1, attributeValueFn: escapeAttribute })
}

function complete(item: Element, entry: Entry) {
  setText(child(item, 'title'), entry.title, 'text')
  setText(child(item, 'summary'), entry.summary, 'text')
  setText(child(item, 'content'), entry.content, 'html')
  setText(child(child(item, 'author'), 'name'), entry.author)
  const link = child(item, 'link')
  link.attributes = { rel: 'alternate', type: 'text/html', ...link.attributes }
}

function child(parent: Element, name: string): Element {
  const found = parent.elements?.find((element) => element.name === name)
  if (!found) throw new Error(`the feed library wrote no ${name} element`)
  return found
}

function setText(element: Element, text: string, type?: 'text' | 'html') {
  if (type) element.attributes = { type }
  // The writer turns `&amp;` into `&` before it escapes: one level more keeps the text as it is.
  element.elements = [{ type: 'text', text: text.replaceAll('&', '&amp;') }]
}

function empty(name: string, attributes: Record<string, string>): Element {
  return { type: 'element', name, attributes }
}

function leaf(name: string, text: string): Element {
  return { type: 'element', name, elements: [{ type: 'text', text }] }
}

/** Escapes an attribute's value, which arrives with `&quot;`: the writer escapes nothing but double quotes. */
function escapeAttribute(value: string): string {
  return value.replaceAll('&quot;', '"').replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
