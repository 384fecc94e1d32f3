import { afterAll, beforeAll, expect, test } from 'vitest'
import { signersOf, whatWorks } from '../../api/pages/claim/standing.ts'
import { claimMessage } from '../../trust/claim-text.ts'
import { startApi, type TestApi } from '../support/api/api.ts'
import { testDatabase } from '../support/database.ts'
import { addressOf, seedAgent } from '../support/seed.ts'

const database = testDatabase()
let api: TestApi
const hers = addressOf('hers')
const now = Date.parse('2026-06-01T12:00:00Z')

beforeAll(async () => {
  api = await startApi(database, { now: () => now })
  await seedAgent(database.pool, { fid: 7, displayName: 'Ada', addresses: [hers] })
})
afterAll(() => api.stop())

const read = async (path: string) => (await api.get(path)).text()
const unescaped = (text: string) => text.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&')

test('without a FID the page asks for one, and says what is wrong with a bad one', async () => {
  expect(await read('/claim')).not.toContain('2. Prove it')
  const page = await read('/claim?fid=1e3%22%3E')
  expect(page).toContain('A FID is a positive integer in decimal digits.')
  expect(page).not.toContain('2. Prove it')
})

test('the text to sign is the one the claim checks, with the nonce and the time of the request next to it', async () => {
  const page = unescaped(await read(`/claim?fid=7&address=${hers.toUpperCase().replace('0X', '0x')}`))
  const [, nonce = ''] = /Nonce: ([0-9a-f]{32})\n/.exec(page) ?? []
  const timestamp = new Date(now).toISOString()
  const terms = {
    serviceName: 'agent-directory',
    siteUrl: 'https://agents.example',
    baseUrl: 'https://api.agents.example',
  }
  const text = claimMessage(terms, { fid: 7, address: hers as `0x${string}`, chainId: 10, nonce, timestamp })
  expect(page).toContain(`<code>${text}</code>`)
  expect(page).toContain(
    JSON.stringify({ method: 'eip191', fid: 7, address: hers, nonce, timestamp, signature: '0x…' }),
  )
  expect(page).toContain(JSON.stringify({ aud: terms.baseUrl, action: 'claim', fid: 7, nonce, timestamp }))
  expect(page).toContain('<code>/.well-known/agent-directory.json</code>')
})

test('the addresses of a listed agent are there to choose; a FID that is not listed can claim as well', async () => {
  expect(await read('/claim?fid=7')).toContain(`<option value="${hers}">`)
  const page = await read('/claim?fid=8')
  expect(page).toContain('is not in the directory yet')
  expect(page).toContain('<input id="address"')
})

test('what works is said before anything is signed, and why the rest does not', async () => {
  const { pool } = database
  const wallet = addressOf('contract wallet')
  await seedAgent(pool, { fid: 9, addresses: [wallet, addressOf('nine')] })
  const page = await read('/claim?fid=9')
  const works = page.slice(page.indexOf('id="works"'), page.indexOf('</section>', page.indexOf('id="works"')))
  expect(works.match(/<li class="done">/g)).toHaveLength(1)
  expect(works).toContain('We know of no key of this account in the KeyRegistry.')
  expect(works.match(/title="0x[0-9a-f]{40}"/g)).toHaveLength(2)
  expect(works).toContain('Neither the profile nor a registration names a host, as far as we know.')
  expect(await read('/claim?fid=8')).toContain('We know of no verified address.')
  const known = {
    fid: 9,
    addresses: [
      { address: wallet, before_custody: false, disputed: false },
      { address: hers, before_custody: true, disputed: false },
    ],
  }
  const signers = signersOf([wallet, hers], known as never, new Map([[wallet, 8453]]))
  expect(signers).toEqual([
    { address: wallet, problem: undefined, chainId: 8453 },
    { address: hers, problem: expect.stringContaining('changed hands'), chainId: null },
  ])
  const key = `0x${'5e'.repeat(32)}`
  const signed = { key, checked_at: '2026-05-30T00:00:00.000Z', before_custody: false }
  const keys = [
    { ...signed, key_source: 'chain' },
    signed,
    { ...signed, key: `0x${'99'.repeat(32)}`, before_custody: true },
  ]
  const works9 = whatWorks(signers, { fid: 9, addresses: keys } as never, []).text
  expect(works9).toContain('works: contract wallet on Base')
  expect(works9.match(/title="0x5e/g)).toHaveLength(1)
  expect(works9).not.toContain('0x9999')
})

test('a withdrawal has words of its own, and the page of a claim lets windows of wallets speak to it', async () => {
  const page = unescaped(await read(`/claim?fid=7&action=withdraw&address=${hers}`))
  expect(page).toContain('Withdraw the claim of FID 7 on agent-directory.')
  expect(page).toContain('/api/claim/withdraw')
  expect(page).toContain('"withdrawn": true')
  const opener = async (path: string) => (await api.get(path)).headers.get('cross-origin-opener-policy')
  expect([await opener('/claim'), await opener('/network'), await opener('/')]).toEqual([
    'same-origin-allow-popups',
    'same-origin',
    'same-origin',
  ])
})

test('each view has its own nonce, is not kept, and may run scripts of ours alone', async () => {
  const one = await api.get('/claim?fid=7')
  const other = await api.get('/claim?fid=7')
  expect(one.headers.get('cache-control')).toBe('no-store')
  expect(one.headers.get('content-security-policy')).toMatch(
    /^default-src 'none';.*script-src 'self';.*; connect-src 'self'$/,
  )
  const page = await one.text()
  expect(page.match(/<script[^>]*>/g)).toEqual([
    '<script src="/assets/local.js" defer blocking="render">',
    '<script src="/assets/claim.js" defer blocking="render">',
  ])
  expect(await other.text()).not.toBe(page)
})
