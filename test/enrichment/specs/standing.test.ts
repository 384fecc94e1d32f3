import { expect, test } from 'vitest'
import type { SpecStatus } from '../../../enrichment/specs/check-status.ts'
import { documentsAfter, type KnownDocument, keptOf, standingOf } from '../../../enrichment/specs/document-standing.ts'
import { noSale, type Sale } from '../../../enrichment/specs/prices.ts'
import type { Check } from '../../../enrichment/specs/probe.ts'

const hour = 3_600_000
const now = new Date('2026-06-10T00:00:00Z')
const ago = (hours: number) => new Date(now.getTime() - hours * hour)
const url = 'https://a.shop.xyz/card.json'

function document(changes: Partial<KnownDocument> = {}): KnownDocument {
  return {
    kind: 'a2a',
    url,
    declared: false,
    content: { title: 'Ada', version: '1', skills: [], tools: [], pathCount: null, details: {} },
    sha256: null,
    version: undefined,
    domainVerified: true,
    cardSignature: null,
    toolsChangedAt: null,
    backReference: null,
    prices: [],
    resources: [],
    truncated: {},
    findings: [],
    chainBlocks: [],
    answers: null,
    reader: 1,
    firstSeenAt: ago(900),
    lastAliveAt: ago(6),
    lastCheckAt: ago(6),
    lastCheckStatus: 'ok',
    httpStatus: 200,
    latencyMs: 5,
    consecutiveFailures: 0,
    ...changes,
  }
}

const check = (status: SpecStatus, { declared = false, at = url } = {}): Check => ({
  candidate: { kind: 'a2a', url: new URL(at), declared, session: false, contradicted: false },
  status,
  httpStatus: null,
  latencyMs: null,
})

/** Documents and standing after a check with these results; `unasked`: URLs that the check had no time for. */
function look(known: readonly KnownDocument[], checks: readonly Check[], unasked: readonly string[] = []) {
  const places = new Set([
    ...checks.map(({ candidate }) => `a2a ${candidate.url.href}`),
    ...unasked.map((at) => `a2a ${at}`),
  ])
  const references = new Map<string, 'confirmed'>()
  const result = {
    checks,
    places,
    references,
    contradicted: new Set<string>(),
    closedUntil: undefined,
    wasAsked: false,
    truncated: {},
  }
  const documents = documentsAfter(known, result, now)
  return { documents, standing: standingOf(documents, result, now) }
}

test('a document that was read keeps its prices until it, or a demand for payment, asks for others', () => {
  const priced = (usd: string) => [{ resource: 'GET /answer', minUsd: usd, maxUsd: usd }] as unknown as Sale['prices']
  const after = (known: Partial<KnownDocument>, asked: Partial<Check>, status: SpecStatus = 'payment_required') => {
    const checked = { ...check(status, { declared: true }), ...asked }
    return look([document({ prices: priced('0.01'), ...known })], [checked]).documents[0]?.prices
  }
  expect(after({}, { sale: noSale })).toEqual(priced('0.01'))
  expect(after({}, { sale: { ...noSale, prices: priced('0.02') } })).toEqual(priced('0.02'))
  expect(after({}, {}, 'http_5xx')).toEqual(priced('0.01'))
  // Prices known only from a demand for payment end with it; prices that a document no longer names end too.
  expect(after({ content: undefined }, { sale: noSale })).toEqual([])
  const found = { content: document().content, sha256: Buffer.of(1), version: { etag: null, lastModified: null } }
  expect(
    after({}, { sale: noSale, found: { ...found, cardSignature: null } as Check['found'] & object }, 'ok'),
  ).toEqual([])
})

test('a signed offer was first seen when it was signed as it is, with its asset', () => {
  const offer = { resource: url, asset: '0xaa', amount: '10000', signedUntil: 'always' }
  const before = { ...offer, signedSince: ago(100).toISOString() }
  const after = (prices: object[]) => {
    const sale = { ...noSale, prices } as Sale
    const known = document({ prices: [before] as unknown as Sale['prices'] })
    return look([known], [{ ...check('payment_required'), sale }]).documents[0]?.prices[0]?.signedSince
  }
  expect(after([offer])).toBe(before.signedSince)
  expect(after([{ ...offer, asset: '0xbb' }])).toBe(now.toISOString())
})

test('of an agent, those twenty signed offers are followed that were seen first', () => {
  const signed = (from: number, since?: string) =>
    Array.from({ length: 15 }, (_, n) => ({
      resource: `${url}/${from + n}`,
      signedUntil: 'always',
      ...(since && { signedSince: since }),
    })) as unknown as Sale['prices']
  const old = ago(100).toISOString()
  const other = `${url}?other`
  const known = [document({ prices: signed(100, old) }), document({ url: other, prices: [] })]
  const sale = (prices: Sale['prices']) => ({ sale: { ...noSale, prices } })
  const { documents } = look(known, [
    { ...check('payment_required', { at: other, declared: true }), ...sale(signed(0)) },
    { ...check('payment_required', { declared: true }), ...sale(signed(100)) },
  ])
  const prices = documents.flatMap((one) => one.prices)
  expect(prices).toHaveLength(30)
  expect(prices.filter(({ signedUntil }) => signedUntil === 'always')).toHaveLength(30)
  expect(prices.filter(({ signedSince }) => signedSince === old)).toHaveLength(15)
  expect(prices.filter(({ signedSince }) => signedSince === now.toISOString())).toHaveLength(5)
})

test('where no verdict on a card was come to, the one on the same card stays', () => {
  const after = (sha256: Buffer, cardSignature: 'none' | undefined) => {
    const found = { content: document().content!, sha256, version: { etag: null, lastModified: null }, cardSignature }
    const before = document({ sha256: Buffer.of(1), cardSignature: 'valid' })
    return look([before], [{ ...check('ok'), found }]).documents[0]?.cardSignature
  }
  expect(after(Buffer.of(1), undefined)).toBe('valid')
  expect(after(Buffer.of(2), undefined)).toBeNull()
  expect(after(Buffer.of(1), 'none')).toBe('none')
})

test('of more documents than are kept of an agent those stay that it names, and then those that stand', () => {
  const many = Array.from({ length: 250 }, (_, n) =>
    document({ url: `${url}?${n}`, declared: n % 5 === 0, lastAliveAt: n % 2 === 0 ? ago(n) : null }),
  )
  const kept = keptOf(many, now)
  expect(kept).toHaveLength(200)
  expect(kept.filter(({ declared }) => declared)).toHaveLength(50)
  expect(kept.filter(({ declared, lastAliveAt }) => !declared && lastAliveAt !== null)).toHaveLength(100)
  expect(keptOf(many.slice(0, 200), now)).toEqual(many.slice(0, 200))
})

test('a failing document stands until it has failed five times and been silent for three days', () => {
  const after = (failuresBefore: number, silentHours: number) =>
    look([document({ consecutiveFailures: failuresBefore, lastAliveAt: ago(silentHours) })], [check('http_5xx')])
  expect(after(3, 100).standing).toBe('found')
  expect(after(9, 71).standing).toBe('found')
  expect(after(4, 73)).toEqual({ documents: [], standing: 'unreachable' })
})

test('a dead document that the agent declares stays to be seen, and one sign of life is enough', () => {
  const dead = document({ declared: true, consecutiveFailures: 20, lastAliveAt: ago(500) })
  const still = look([dead], [check('timeout', { declared: true })])
  expect(still.standing).toBe('unreachable')
  expect(still.documents).toMatchObject([{ consecutiveFailures: 21, content: { title: 'Ada' }, lastAliveAt: ago(500) }])
  expect(look([dead], [check('ok', { declared: true })])).toMatchObject({
    standing: 'found',
    documents: [{ consecutiveFailures: 0, lastAliveAt: now }],
  })
})

test.each([
  ['not_json', 'invalid'],
  ['schema_mismatch', 'invalid'],
  ['too_large', 'invalid'],
  ['redirect_refused', 'invalid'],
  ['timeout', 'unreachable'],
  ['dns_error', 'unreachable'],
  ['http_5xx', 'unreachable'],
  ['blocked', 'unreachable'],
  ['not_found', 'not_found'],
  ['http_4xx', 'not_found'],
  ['auth_required', 'found'],
  ['payment_required', 'found'],
  ['ok', 'found'],
] as const)('a declared document that is %s makes its agent %s', (status, standing) => {
  expect(look([], [check(status, { declared: true })]).standing).toBe(standing)
})

test('what is merely looked for counts when it is there, or when nobody can be reached', () => {
  expect(look([], [check('auth_required')])).toEqual({ documents: [], standing: 'not_found' })
  expect(look([], [check('not_json')])).toEqual({ documents: [], standing: 'not_found' })
  expect(look([], [check('blocked')]).standing).toBe('not_found')
  expect(look([], [check('timeout')]).standing).toBe('unreachable')
  expect(look([], []).standing).toBe('not_found')
})

test('a document is dropped where nothing of the agent lies any more; one that was not asked for keeps its place a week', () => {
  const other = check('not_found', { at: 'https://b.shop.xyz/card.json' })
  expect(look([document()], [other]).documents).toEqual([])
  expect(look([document()], [other], [url]).documents).toEqual([document()])
  expect(look([document({ lastCheckAt: ago(170) })], [other], [url]).documents).toEqual([])
})
