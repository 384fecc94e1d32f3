import { expect, test } from 'vitest'
import { saleIn } from '../../../enrichment/specs/prices.ts'

const input = { type: 'http', method: 'GET', queryParams: { city: 'Oslo' } }
const output = { type: 'json', example: { degrees: 7 } }
const schema = { type: 'object', properties: { input: { type: 'object' } }, required: ['input'] }
const accepts = [{ scheme: 'exact', network: 'eip155:8453', amount: '1000', payTo: `0x${'a1'.repeat(20)}` }]
const said = {
  service_name: null,
  tags: [],
  icon_url: null,
  route_template: null,
  input: null,
  output: null,
  schema: null,
  left_out: [],
}

test('a demand says what it is for: in the extension of version 2, or in the output schema of version 1', () => {
  const about = { url: 'https://shop.xyz/weather', serviceName: 'Weather', tags: ['sky', 'Sky', 'maps'] }
  const demand = {
    x402Version: 2,
    resource: { ...about, iconUrl: 'https://shop.xyz/icon.png' },
    accepts,
    extensions: { bazaar: { info: { input, output }, schema, routeTemplate: '/weather/:city' } },
  }
  expect(saleIn(demand).resources).toEqual([
    {
      ...said,
      resource: 'https://shop.xyz/weather',
      service_name: 'Weather',
      tags: ['Sky', 'maps'],
      icon_url: 'https://shop.xyz/icon.png',
      route_template: '/weather/:city',
      input,
      output,
      schema,
    },
  ])
  const [way] = accepts
  const older = { x402Version: 1, accepts: [{ ...way, resource: '/weather', outputSchema: { input, output } }] }
  expect(saleIn(older).resources).toEqual([{ ...said, resource: '/weather', input, output }])
})

test('of a manifest each thing for sale is told that says more than a price; of other documents none', () => {
  const items = [
    { resource: { url: '/a', serviceName: 'Maps', tags: ['geo'] }, accepts, input },
    { resource: '/b', accepts },
    { resource: '/c', service_name: 'Tides', accepts },
  ]
  expect(saleIn({ x402Version: 2, items }).resources).toEqual([
    { ...said, resource: '/a', service_name: 'Maps', tags: ['geo'], input },
    { ...said, resource: '/c', service_name: 'Tides' },
  ])
  expect(saleIn({ x402Version: 2, items }, 'mcp').resources).toEqual([])
})

test('a member that breaks its rule is left out alone, and one that is too long is said to be', () => {
  const of = (resource: object, bazaar: object = {}) =>
    saleIn({ x402Version: 2, resource: { url: '/x', tags: ['kept'], ...resource }, accepts, extensions: { bazaar } })
      .resources[0]
  for (const serviceName of ['', 'a'.repeat(33), 'Café', 'a\u0000b', 7, null]) {
    expect(of({ serviceName })).toEqual({ ...said, resource: '/x', tags: ['kept'] })
  }
  const icons = ['http://2130706433/i', 'https://[::1]/i', 'https://u:p@shop.xyz/i', 'https://localhost/i', 'data:,x']
  for (const iconUrl of [...icons, `https://shop.xyz/${'a'.repeat(2_048)}`])
    expect(of({ iconUrl })?.icon_url).toBeNull()
  for (const routeTemplate of ['/../x', '/%2e%2e/x', 'x', '/a b', '/%3A%2F%2Fx']) {
    expect(of({}, { routeTemplate })?.route_template).toBeNull()
  }
  expect(of({ tags: ['a', 'b', 'c', 'd', 'e', 'f'] })).toMatchObject({
    tags: ['a', 'b', 'c', 'd', 'e'],
    left_out: ['tags'],
  })
  const long = { type: 'http', body: 'x'.repeat(5_000) }
  expect(of({}, { info: { input: long, output }, schema })).toMatchObject({ input: null, output, left_out: ['input'] })
  const foreign = { properties: { a: { $ref: 'https://elsewhere.xyz/schema' } } }
  expect(of({}, { info: { input }, schema: foreign })).toMatchObject({ schema: null, left_out: ['schema'] })
  expect(of({}, { info: { input: { 'a\u0000': ['\ud800'] } } })?.input).toEqual({ 'a\ufffd': ['\ufffd'] })
})

test('of a long list so many are kept as may be, with a mark, and all of them stay short together', () => {
  const items = (count: number, body: string) =>
    Array.from({ length: count }, (_, n) => ({
      resource: { url: `/${n}`, serviceName: `S${n}` },
      accepts,
      input: { body },
    }))
  const many = saleIn({ x402Version: 2, items: items(30, '') })
  expect([many.resources.length, many.prices.length]).toEqual([20, 20])
  expect(many.truncated).toEqual({ prices: 21, resources: 21 })
  const long = saleIn({ x402Version: 2, items: items(15, 'x'.repeat(4_000)) })
  expect(JSON.stringify(long.resources).length).toBeLessThan(33_000)
  expect(long.truncated).toEqual({ resources: long.resources.length + 1 })
})
