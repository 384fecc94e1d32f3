import { type Element, xml2js } from 'xml-js'

// Reads the elements of a feed, in their order.

export function entriesOf(xml: string): { root: Element; entries: Element[] } {
  const root = (xml2js(xml) as Element).elements?.find((element) => element.name === 'feed') as Element
  return { root, entries: (root.elements ?? []).filter((element) => element.name === 'entry') }
}
export const child = (element: Element | undefined, name: string) =>
  element?.elements?.find((inner) => inner.name === name)
export const textOf = (element: Element | undefined) => element?.elements?.map((inner) => inner.text).join('')
