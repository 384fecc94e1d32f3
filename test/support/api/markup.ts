/** Script elements of a page that are neither our own files nor data; a page must have none. */
export function strangeScripts(page: string): string[] {
  const own = /^<script (src="\/assets\/[a-z]+\.js" defer blocking="render"|type="application\/ld\+json")>$/
  return [...page.matchAll(/<script[^>]*>?/gi)].map(([tag]) => tag).filter((tag) => !own.test(tag))
}

/** The text of a page, tags taken for white space but for those within an amount. */
export const textOf = (page: string) =>
  page
    .replaceAll(/<span class="cents">([^<]*)<\/span>/g, '$1')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
