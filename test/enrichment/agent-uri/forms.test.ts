import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib'
import fc from 'fast-check'
import { base16, base16upper } from 'multiformats/bases/base16'
import { base32, base32upper } from 'multiformats/bases/base32'
import { base36, base36upper } from 'multiformats/bases/base36'
import { base58btc } from 'multiformats/bases/base58'
import { decodeAbiParameters } from 'viem'
import { expect, test } from 'vitest'
import { parseCid } from '../../../enrichment/agent-uri/cid.ts'
import { type Form, parseForm } from '../../../enrichment/agent-uri/form.ts'
import { maxDocumentBytes, toRegistrationFile } from '../../../enrichment/agent-uri/registration-file.ts'
import { registryLogs } from '../../support/recorded/registrations.ts'

const cid = 'bafkreidky4zbb4jya5cysj5iljpjjqa3xehrz3otwz3i2itqe4bw5rx3ji'
const old = 'QmRkM7e5AeKBe6BvKgTw2ktmMxH9p8X7k8dPSFwvyaKptG'
const json = '{"name":"Ada","description":"100% hers – ünïcode"}'
const base64 = (bytes: string | Buffer) => Buffer.from(bytes).toString('base64')

/** A form's kind as text, with the content of an inline one. */
function told(form: Form): string {
  if (form.kind === 'nothing') return form.status
  if (form.kind === 'web') return `web ${form.url.href}`
  if (form.kind === 'ipfs') return `ipfs ${form.cid}${form.path}`
  if (form.kind === 'arweave') return `arweave ${form.path}`
  return Buffer.from(form.bytes).toString()
}

test('all recorded URIs of the registry are told apart, and every inline one holds a registration file', () => {
  const { registered, uriUpdated } = registryLogs()
  const forms = [...registered, ...uriUpdated].map(({ data }) => {
    const [uri] = decodeAbiParameters([{ type: 'string' }], data)
    return parseForm(uri)
  })
  const count = (kind: string) =>
    forms.filter((form) => (form.kind === 'nothing' ? form.status : form.kind) === kind).length
  expect(forms).toHaveLength(158)
  expect({
    inline: count('inline'),
    web: count('web'),
    ipfs: count('ipfs'),
    empty: count('empty'),
    invalid: count('invalid'),
    unsupported: count('unsupported'),
  }).toEqual({ inline: 98, web: 44, ipfs: 9, empty: 3, invalid: 4, unsupported: 0 })
  const inline = forms.filter((form) => form.kind === 'inline').map((form) => JSON.parse(told(form)))
  expect(inline.filter((value) => toRegistrationFile(value) === undefined)).toEqual([])
})

test.each([
  ['base64', `data:application/json;base64,${base64(json)}`],
  ['base64 of the other alphabet', `data:application/json;base64,${Buffer.from(json).toString('base64url')}`],
  ['base64 with blanks', `data:application/json;base64,${base64(json).replace(/(.{9})/g, '$1\n')}`],
  ['base64 announced, JSON sent', `data:application/json;base64,${json}`],
  ['percent', `data:application/json,${encodeURIComponent(json)}`],
  ['plain text behind the comma', `data:application/json;utf8,${json}`],
  ['gzip', `data:application/json;enc=gzip;level=6;base64,${base64(gzipSync(json))}`],
  ['brotli', `data:application/json;enc=br;base64,${base64(brotliCompressSync(json))}`],
  ['zstd', `data:application/json;enc=zstd;base64,${base64(zstdCompressSync(json))}`],
  ['a scheme in capitals', `DATA:application/json,${encodeURIComponent(json)}`],
  ['the document itself', ` ${json}\n`],
])('an inline document is read: %s', (_, uri) => {
  expect(told(parseForm(uri))).toBe(json)
})

test('percent signs that encode nothing stay what they are', () => {
  expect(told(parseForm('data:application/json,%7B"a":"5% off"%7D'))).toBe('{"a":"5% off"}')
})

test.each([
  ['web', 'https://a.shop.xyz/agent.json', 'web https://a.shop.xyz/agent.json'],
  ['plain http', 'http://a.shop.xyz/agent.json', 'web http://a.shop.xyz/agent.json'],
  ['ipfs', `ipfs://${cid}`, `ipfs ${cid}`],
  ['ipfs with a path', `ipfs://${cid}/file.json`, `ipfs ${cid}/file.json`],
  ['ipfs said twice', `ipfs://ipfs/${old}`, `ipfs ${old}`],
  ['a bare identifier', old, `ipfs ${old}`],
  ['a bare identifier with a path', `${cid}/a.json`, `ipfs ${cid}/a.json`],
  ['a path', `/ipfs/${cid}`, `ipfs ${cid}`],
  ['a gateway', `https://gateway.pinata.cloud/ipfs/${cid}/a.json`, `ipfs ${cid}/a.json`],
  ['a gateway by subdomain', `https://${cid}.ipfs.dweb.link/a.json`, `ipfs ${cid}/a.json`],
  ['arweave', `ar://${'a'.repeat(43)}/x`, `arweave /${'a'.repeat(43)}/x`],
  ['ipfs with a path through a directory', `ipfs://${cid}/a/b.json?x=..`, `ipfs ${cid}/a/b.json?x=..`],
  ['ipfs with a way out of the content', `ipfs://${cid}/../../api/v0/x`, 'invalid'],
  ['ipfs with a way out that is encoded', `ipfs://${cid}/%2e%2E/.%2e/api/v0/x`, 'invalid'],
  ['ipfs with a way out over encoded slashes', `ipfs://${cid}/..%2F..%2fapi`, 'invalid'],
  ['ipfs with a way out over backslashes', `ipfs://${cid}/..\\..\\api`, 'invalid'],
  ['ipfs with a way out that has a line break in it', `ipfs://${cid}/.\n./../api`, 'invalid'],
  ['arweave with a way out of the transaction', `ar://${'a'.repeat(43)}/../price/1`, 'invalid'],
  ['arweave with a way out at the end', `ar://${'a'.repeat(43)}/..`, 'invalid'],
  ['nothing', ' ', 'empty'],
  ['a DID', 'did:web:a.example', 'unsupported'],
  ['an ENS name', 'ada.eth', 'unsupported'],
  ['another scheme', 'ipns://docs.ipfs.tech', 'unsupported'],
  ['a word', 'tinybanana', 'invalid'],
  ['an address for an identifier', 'ipfs://0x0665b232bE50fa99AfAa430F560bE9788E440fF9', 'invalid'],
  ['an identifier with a wrong letter', `ipfs://${cid.slice(0, -1)}1`, 'invalid'],
  ['a short arweave id', 'ar://abc', 'invalid'],
  ['a template', 'https://YOUR-DOMAIN.com/agent.json', 'invalid'],
  ['a hole in a template', 'https://a.shop.xyz/{agentId}.json', 'invalid'],
  ['a host of examples', 'https://example.com/agent.json', 'invalid'],
  ['a broken URL', 'https://', 'invalid'],
  ['a data URI without data', 'data:application/json;base64', 'invalid'],
  ['an unknown compression', `data:application/json;enc=lzma;base64,${base64(json)}`, 'invalid'],
  ['a torn compression', `data:application/json;enc=gzip;base64,${base64(gzipSync(json).subarray(0, 20))}`, 'invalid'],
])('%s', (_, uri, expected) => {
  expect(told(parseForm(uri))).toBe(expected)
})

test('an identifier is read in every base, and asked for by its usual spelling', () => {
  const read = parseCid(cid)!
  const spellings = [base16, base16upper, base32, base32upper, base36, base36upper, base58btc].map((base) =>
    base.encode(read.bytes),
  )
  expect(new Set(spellings)).toHaveProperty('size', 7)
  for (const spelling of spellings) expect(told(parseForm(`ipfs://${spelling}/a.json`))).toBe(`ipfs ${cid}/a.json`)
})

test.each([
  ['of a version to come', [2, 0x55, 0x12, 2, 1, 1]],
  ['with a number that has no end', [1, ...Array(60).fill(0xff)]],
  ['with a number longer than it need be', [1, 0xd5, 0x00, 0x12, 2, 1, 1]],
  ['with a hash longer than the text', [1, 0x55, 0x12, 0xff, 0xff, 0x03, 1]],
  ['with bytes behind the hash', [1, 0x55, 0x12, 2, 1, 1, 1]],
  ['without a hash', [1, 0x55, 0x00, 0]],
  ['of version 0 in another spelling than its own', [0x12, 0x20, ...Array(32).fill(1)]],
  ['longer than any', [1, 0x55, 0x12, 0x80, 0x01, ...Array(128).fill(1)]],
])('%s is no identifier', (_, bytes) => {
  for (const base of [base32, base58btc]) expect(parseCid(base.encode(Uint8Array.from(bytes)))).toBeUndefined()
})

test('a document that would inflate beyond the limit is not read, in whatever way it is packed', () => {
  const bomb = Buffer.alloc(50 * 1024 * 1024, ' ')
  for (const [name, packed] of [
    ['gzip', gzipSync(bomb)],
    ['br', brotliCompressSync(bomb.subarray(0, maxDocumentBytes + 1))],
    ['zstd', zstdCompressSync(bomb)],
  ] as const) {
    expect(told(parseForm(`data:application/json;enc=${name};base64,${base64(packed)}`))).toBe('invalid')
  }
  expect(told(parseForm(`data:application/json,${'x'.repeat(maxDocumentBytes + 1)}`))).toBe('invalid')
})

test('no text is too odd to be told, and no JSON too odd to be read into storable texts', () => {
  const uri = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.tuple(
      fc.constantFrom('data:', 'data:application/json,', 'data:;base64,', 'data:;enc=gzip;base64,', 'ipfs://', 'ar://'),
      fc.string({ unit: 'binary' }),
    ),
    fc.tuple(fc.constantFrom('https://', 'http://[', '{', 'ipfs/', 'Qm', 'baf', '"'), fc.string()),
  )
  fc.assert(
    fc.property(uri, (text) => {
      expect(parseForm([text].flat().join('')).kind).toBeTypeOf('string')
    }),
    { numRuns: 500 },
  )
  const key = fc.constantFrom(
    'name',
    'Name',
    'services',
    'endpoints',
    'endpoint',
    'url',
    'x402',
    'supportedTrusts',
    'type',
  )
  const text = fc.string({ unit: 'binary', maxLength: 20 })
  const leaf = fc.oneof(text, fc.jsonValue({ maxDepth: 1 }))
  const entry = fc.dictionary(key, leaf, { maxKeys: 4 })
  const file = fc.dictionary(key, fc.oneof(leaf, entry, fc.array(entry, { maxLength: 4 })), { maxKeys: 8 })
  fc.assert(
    fc.property(file, (value) => {
      const read = JSON.stringify(toRegistrationFile(value) ?? null)
      // What Postgres takes as JSON and text: no escaped NUL, no lone surrogate.
      expect(read).not.toMatch(/(?<!\\)(\\\\)*\\u(0000|d[89a-f])/i)
    }),
    { numRuns: 500 },
  )
})
