import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { chains } from '../../chains.config.ts'
import { parseForm } from '../../enrichment/agent-uri/form.ts'
import { toListedRegistration } from '../../enrichment/agent-uri/listed-registration.ts'
import { toRegistrationFile } from '../../enrichment/agent-uri/registration-file.ts'
import { loginOf } from '../../enrichment/codehost/login.ts'
import { toCatalog } from '../../enrichment/specs/catalog.ts'
import { parsed } from '../../enrichment/specs/content.ts'
import { readContent, type SpecKind } from '../../enrichment/specs/kinds.ts'
import { inDollars, pricesIn } from '../../enrichment/specs/prices.ts'
import { fixtures, readFixture } from '../support/fixture.ts'

/** What a document gives that the directory has it for; the values are in the tests of each kind. */
const gives: Record<string, (text: string, name: string) => unknown> = {
  reg: (text, name) => {
    const value = JSON.parse(text)
    const file = toRegistrationFile(value)
    if (/registry|entries|spelt/.test(name)) return value.registrations.some(toListedRegistration)
    return /active/.test(name) ? file?.active : file?.services.length
  },
  uri: (text) => ['inline', 'ipfs'].includes(parseForm(text).kind),
  a2a: (text) => readContent.a2a(JSON.parse(text))?.skills.length,
  mcp: (text) => {
    const card = text.startsWith('//') ? undefined : readContent.mcp(JSON.parse(text))
    return (card?.tools.length ?? 0) + (card?.details.interfaces?.length ?? 0)
  },
  cat: (text) => toCatalog(JSON.parse(text), new URL('https://shop.test/'))?.cards.length,
  openapi: (text, name) => {
    const document = parsed(Buffer.from(text))
    return (
      readContent.openapi(document) && (/swagger|yaml/.test(name) || isPriced(document, /other-currency/.test(name)))
    )
  },
  x402: (text, name) => {
    const document = JSON.parse(text)
    return readContent.x402(document) && isPriced(document, /other-currency/.test(name))
  },
  host: (text) =>
    Object.entries(JSON.parse(text)).every(([key, one]) => {
      const kind = /\.well-known\/(\w+)\.json$/.exec(key)?.[1] as SpecKind | undefined
      return !kind || readContent[kind](one)
    }),
  code: (text) => loginOf(text.trim()),
}

/** Whether all of it has a price: in dollars, or in nothing but what it says. */
function isPriced(document: unknown, isOther: boolean): boolean {
  const prices = pricesIn(document).prices.map((price) => inDollars(price, chains))
  return prices.length > 0 && prices.every(({ currency, maxUsd }) => (isOther ? currency && !maxUsd : maxUsd))
}

test('of the documents as the world writes them, all but these give what they say', () => {
  const names = readdirSync(new URL('documents/', fixtures)).sort()
  const silent = names.filter((name) => {
    const [kind = ''] = name.split('__')
    return !gives[kind]?.(readFixture(`documents/${name}`), name)
  })
  // A server of revision 2024-11-05, which answers on a stream of its own, is not spoken to yet.
  expect(silent).toEqual(['mcp__09-legacy-sse-server.mjs'])
  expect(names.length).toBe(49)
})
