/** Script elements of a page that are neither a file of ours nor data: there are to be none. */
export function strangeScripts(page: string): string[] {
  const own = /^<script (src="\/assets\/[a-z]+\.js" defer blocking="render"|type="application\/ld\+json")>$/
  return [...page.matchAll(/<script[^>]*>?/gi)].map(([tag]) => tag).filter((tag) => !own.test(tag))
}

/** The text of a page, tags taken for white space. */
export const textOf = (page: string) => page.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')
