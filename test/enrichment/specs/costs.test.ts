import { expect, test } from 'vitest'
import { parseForm } from '../../../enrichment/agent-uri/form.ts'
import { toRegistrationFile } from '../../../enrichment/agent-uri/registration-file.ts'
import { toFeedbackFile } from '../../../enrichment/feedback/feedback-file.ts'
import { referenceIn } from '../../../enrichment/specs/back-reference.ts'
import { toCatalog } from '../../../enrichment/specs/catalog.ts'
import { readContent } from '../../../enrichment/specs/kinds.ts'
import { saleIn } from '../../../enrichment/specs/prices.ts'
import { parsesTaken } from '../../support/measures/cpu.ts'

/** Times of parsing a megabyte of JSON that no document here takes when each part of it is gone through once. */
const most = 30
const place = new URL('https://shop.test/')
const holdings = { held: [], isCut: false, registries: new Set<string>() }

/** Whatever reads a document that a stranger wrote, once it is parsed. */
const readers: Record<string, (document: unknown) => unknown> = {
  ...readContent,
  sale: saleIn,
  'sale of an API': (document) => saleIn(document, 'openapi'),
  catalog: (document) => toCatalog(document, place),
  'registration file': toRegistrationFile,
  'feedback file': (document) => toFeedbackFile(document, { chain: 'base', agentId: '1', client: '0x', hash: '0x' }),
  'list of a host': (document) => referenceIn(document, holdings),
}

/** A key of each meaning that a reader knows, and names that every object has. */
const keys = (
  'version name resources accepts resource method description scheme network asset address currency decimals payTo ' +
  'maxAmountRequired amount price priceUsd minPrice maxPrice minPriceUsd maxPriceUsd x-payment-info x-price serviceName ' +
  'iconUrl extensions bazaar info input output schema outputSchema title id tags capabilities tools skills serverInfo ' +
  'mcpServers supportedInterfaces url preferredTransport protocolVersion securitySchemes entries mediaType data schemes ' +
  'type manifest offers extra erc8004 assetTransferMethod services registrations supportedTrust image active x402Support ' +
  'mcpTools agentId chainId agentRegistry mcpEndpoint toString constructor valueOf hasOwnProperty __proto__'
).split(' ')

const list = <T>(length: number, of: (index: number) => T) => Array.from({ length }, (_, index) => of(index))
const objectOf = (entries: readonly (readonly [string, unknown])[]) => Object.fromEntries(entries)
const long = 500_000
const run = (text: string) => text.repeat(long / text.length)

/** Values that are dear when they are gone through again and again. */
const heavy: Record<string, () => unknown> = {
  blanks: () => `${run(' ')}x`,
  letters: () => run('a'),
  digits: () => run('1'),
  underscores: () => run('_'),
  'control characters': () => run('\u0007').slice(long / 4),
  'a list of numbers': () => list(25_000, () => 1),
  'a list of texts': () => list(10_000, (index) => `a${index}`),
  'a list of objects': () => list(5_000, () => ({})),
  'many members': () => objectOf(list(5_000, (index) => [`a${index}`, 1])),
  'members of one meaning': () => objectOf(list(5_000, (index) => [`x${'-'.repeat(index % 50)}price${index}`, '$1'])),
  depth: () => list(28, String).reduce<unknown>((inner, index) => (Number(index) % 2 ? [inner] : { data: inner }), 1),
}

const sold = () => list(300, (index) => ({ url: `/${index}` }))
const paths = () => objectOf(list(300, (index) => [`/${index}`, { get: { 'x-price': 'none' } }]))
const api = { openapi: '3.1.0', info: { title: 'a', version: '1' } }

/** Documents with the same members in places that hold for many others, or where many of their like may be. */
const shapes: Record<string, (members: object) => object> = {
  'a document': (members) => ({ name: 'a', url: '/', skills: [], ...members }),
  'a manifest': (members) => ({ x402Version: 1, resources: sold(), ...members }),
  'a way to pay': (members) => ({ x402Version: 1, resources: sold(), accepts: [{ network: 'base', ...members }] }),
  'a price': (members) => ({ x402Version: 1, resources: sold(), accepts: [{ price: { amount: '1', ...members } }] }),
  'an asset': (members) => ({ x402Version: 1, resources: sold(), accepts: [{ asset: { ...members } }] }),
  'a registration': (members) => ({ x402Version: 1, resources: sold(), accepts: [{ extra: { erc8004: members } }] }),
  'a resource': (members) => ({ x402Version: 1, resources: sold(), accepts: [{ resource: members }] }),
  'an extension': (members) => ({ ...api, 'x-payment-info': members, paths: paths() }),
  'an API': (members) => ({ ...api, ...members, paths: paths() }),
  entries: (members) => ({
    name: 'a',
    url: '/',
    x402Version: 1,
    ...objectOf(
      'skills tools servers services entries registrations resources'.split(' ').map((key) => [key, [members]]),
    ),
  }),
}

/** Keys stand next to those of other groups alone: each would hide what comes behind it in the order of its meaning. */
const groups = list(3, (group) => keys.filter((_, index) => index % 3 === group))
const kinds = Object.keys(heavy)

test.each(Object.keys(shapes))(
  '%s with members of any length is read in a time that grows with its length',
  (shape) => {
    const slow: string[] = []
    for (const group of groups)
      for (const turn of kinds.keys()) {
        // In as many turns each member is of each kind.
        const kindAt = (index: number) => kinds[(index + turn) % kinds.length]!
        const members = () => objectOf(group.map((key, index) => [key, heavy[kindAt(index)]!()]))
        const first = shapes[shape]!(members())
        for (const [name, read] of Object.entries(readers)) {
          // What was read once is remembered, so another round is given another document.
          let document: object | undefined = first
          const make = () => {
            const made = document ?? shapes[shape]!(members())
            document = undefined
            return made
          }
          if (parsesTaken(most, make, read) > most)
            slow.push(`${name}: ${group.map((key, index) => `${key}: ${kindAt(index)}`)}`)
        }
      }
    expect(slow).toEqual([])
  },
)

test.each([
  '',
  '"',
  'data:',
  'data:;base64,',
  'data:,',
  'data:application/json;enc=gzip;base64,',
  '{',
  'https://',
  'https://a.test/',
  'ipfs://',
  '/ipfs/',
  'ar://',
  'a:',
  'bafy',
  'Qm',
])('a URI that begins with %j is told in a time that grows with its length', (beginning) => {
  for (const part of [
    ...' %"\',;:=/\\?#.-_&<>[]{}()^$*+|~`@!\n\u0000aA0é',
    '%2',
    '%7B',
    '%25',
    '/a',
    './',
    ';a',
    '=',
    'a.eth',
  ])
    expect([part, parsesTaken(most, () => beginning + part.repeat(500_000 / part.length), parseForm) < most]).toEqual([
      part,
      true,
    ])
})

/** Inputs of up to 2 MB that used to take seconds for each 50 KB. */
const things = (length: number) => list(length, (index) => ({ url: `/${index}` }))
const operations = (length: number) => objectOf(list(length, (index) => [`/p${index}`, { get: { 'x-price': 'none' } }]))
const many = (length: number) => objectOf(list(length, (index) => [`x${index}`, 1]))

test.each([
  ['members of an extension', { ...api, 'x-payment-info': many(50_000), paths: operations(1_000) }],
  [
    'members of the extensions of a path',
    {
      ...api,
      paths: {
        '/a': {
          ...objectOf('get put post delete'.split(' ').map((one) => [one, { 'x-price': 1 }])),
          'x-x402': many(50_000),
        },
      },
    },
  ],
  [
    'networks of a way to pay',
    { x402Version: 1, resources: things(1_000), accepts: [{ network: list(200_000, () => 'b') }] },
  ],
  ['letters of a description', { x402Version: 1, resources: things(1_000), accepts: [{ description: run('d') }] }],
  ['blanks before a name', { x402Version: 1, resources: things(1_000), accepts: [{ scheme: `${run(' ')}exact` }] }],
  [
    'members of a registration',
    { x402Version: 1, resources: things(1_000), accepts: [{ extra: { erc8004: many(50_000) } }] },
  ],
  ['networks and a price', { x402Version: 1, accepts: [{ network: list(300_000, () => 'base'), price: '$1' }] }],
  [
    'spellings of an extension',
    {
      ...api,
      ...objectOf(
        list(150_000, (index) => [
          `x${'-_'.repeat(1 + (index % 40))}402${' '.repeat(index / 40)}`.slice(0, 99),
          { price: 1 },
        ]),
      ),
      paths: operations(10),
    },
  ],
])('a document with very many %s is read in a time that grows with its length', (_, document) => {
  for (const read of [readers.sale!, readers['sale of an API']!])
    expect(parsesTaken(2 * most, () => structuredClone(document), read)).toBeLessThan(2 * most)
})

test('things beyond those that are looked at cost next to nothing', () => {
  const document = { x402Version: 1, resources: list(600_000, () => ({})) }
  expect(parsesTaken(most, () => document, saleIn)).toBeLessThan(most)
  expect(readContent.x402({ x402Version: 1, resources: list(600_000, () => ({})) })?.pathCount).toBe(600_000)
})

test('a thing that can be paid for on more networks than are kept says so', () => {
  const { prices, truncated } = saleIn({ x402Version: 1, accepts: [{ network: list(30, String), price: '$1' }] })
  expect([prices.length, truncated.prices]).toEqual([20, 21])
})
