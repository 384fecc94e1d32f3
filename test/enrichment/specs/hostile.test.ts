import { expect, test } from 'vitest'
import { toListedRegistration } from '../../../enrichment/agent-uri/listed-registration.ts'
import { findingsOfDemand } from '../../../enrichment/specs/findings/demand.ts'
import { resourcesIn } from '../../../enrichment/specs/offers/resources.ts'
import { pricesIn } from '../../../enrichment/specs/prices.ts'
import { toX402Manifest } from '../../../enrichment/specs/x402.ts'

/** What `String` throws at. */
const noText = { toString: 1, valueOf: 1 }
const keys = ['scheme', 'network', 'asset', 'payTo', 'amount', 'maxAmountRequired', 'maxTimeoutSeconds', 'extra']
const bazaar = (input: object) => ({ info: { input }, schema: {} })

test.each(keys)('a way to pay whose %s has no text has findings', (key) => {
  const way = { ...Object.fromEntries(keys.map((one) => [one, noText])), network: 'eip155:8453', [key]: noText }
  for (const input of [
    { type: 'http', method: noText },
    { type: 'http', method: 'POST', bodyType: noText },
  ]) {
    const demand = { x402Version: 2, accepts: [way], resource: noText, extensions: { bazaar: bazaar(input) } }
    const named = Buffer.from(JSON.stringify(demand)).toString('base64')
    const body = Buffer.from(JSON.stringify({ ...demand, accepts: [{ ...way, payTo: [noText] }] }))
    const headers = new Map([['payment-required', named]])
    const found = findingsOfDemand({ headers, body } as never, new URL('https://shop.test/')).map(({ code }) => code)
    expect(found).toEqual(expect.arrayContaining(['demand_differs', 'discovery_malformed']))
  }
})

test('a manifest without texts is read', () => {
  const resources = [{ resource: noText, url: [noText], method: noText, price: noText, accepts: [noText] }]
  const document = { x402Version: noText, title: noText, resources }
  expect(toX402Manifest(document)?.pathCount ?? 0).toBeLessThanOrEqual(1)
  expect(pricesIn(document).isCut).toBe(false)
  expect(resourcesIn(document).isCut).toBe(false)
  expect(toListedRegistration({ agentId: 7, chainId: noText, registry: noText })).toBeUndefined()
})

/** A list with the count of how often it was gone through. */
function counted(list: readonly unknown[]) {
  const count = { filter: 0 }
  const seen = new Proxy(list, {
    get(target, key, receiver) {
      if (key === 'filter') count.filter++
      return Reflect.get(target, key, receiver)
    },
  })
  return { seen, count }
}

test('a list is gone through once, however many ways to pay hold for the thing that it is in', () => {
  const { seen, count } = counted(Array.from({ length: 3_000 }, () => 'x'))
  const accepts = Array.from({ length: 1_000 }, () => ({ network: 'base', payTo: '0x1' }))
  expect(pricesIn({ resources: [{ resource: '/a', accepts: seen }], accepts }).isCut).toBe(true)
  expect(count.filter).toBe(1)
})

test('a list of a whole description is gone through once, however many operations it has', () => {
  const { seen, count } = counted(Array.from({ length: 3_000 }, () => 1))
  const paths = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`/${n}`, { get: { 'x-price': '$1' } }]))
  expect(pricesIn({ openapi: '3.1.0', 'x-x402': { accepts: seen }, paths }).prices.length).toBeGreaterThan(0)
  expect(count.filter).toBe(1)
})
