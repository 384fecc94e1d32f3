import { expect, test } from 'vitest'
import { Cache } from '../../../api/http/cache.ts'
import { Content, chooseEncoding } from '../../../api/http/content.ts'

const setUp = (maxBytes = 1_000_000) => {
  const clock = { now: 1_000_000 }
  return { clock, cache: new Cache<{ bytes: number; name: string }>({ maxBytes, now: () => clock.now }) }
}
const value = (name: string, bytes = 10) => ({ name, bytes })

test('a value is loaded once while it is fresh, and says how old it is', async () => {
  const { clock, cache } = setUp()
  let loads = 0
  const get = () => cache.get('key', 5_000, async () => value(String(++loads)))
  expect(await get()).toEqual({ value: value('1'), hit: false, ageSeconds: 0 })
  clock.now += 4_999
  expect(await get()).toEqual({ value: value('1'), hit: true, ageSeconds: 4 })
  clock.now += 1
  expect(await get()).toEqual({ value: value('2'), hit: false, ageSeconds: 0 })
})

test('those who ask while a value is loaded wait for that one load', async () => {
  const { cache } = setUp()
  let loads = 0
  let finish = () => {}
  const loading = new Promise<void>((resolve) => {
    finish = resolve
  })
  const load = async () => {
    loads++
    await loading
    return value('shared')
  }
  const asked = Array.from({ length: 20 }, () => cache.get('key', 5_000, load))
  finish()
  const answers = await Promise.all(asked)
  expect(loads).toBe(1)
  expect(answers.every((answer) => answer.value?.name === 'shared' && !answer.hit)).toBe(true)
})

test('a failed load is told to all who wait for it, and the next one asks again', async () => {
  const { cache } = setUp()
  const fail = async () => {
    throw new Error('the database is away')
  }
  const asked = [cache.get('key', 5_000, fail), cache.get('key', 5_000, fail)]
  for (const answer of asked) await expect(answer).rejects.toThrow('the database is away')
  expect(cache.size).toBe(0)
  expect(cache.bytes).toBe(0)
  expect((await cache.get('key', 5_000, async () => value('back'))).value).toEqual(value('back'))
})

test('that there is no such thing is remembered too', async () => {
  const { cache } = setUp()
  let loads = 0
  const get = () => cache.get('key', 5_000, async () => void loads++)
  expect([await get(), await get()]).toMatchObject([{ hit: false }, { hit: true, value: undefined }])
  expect(loads).toBe(1)
})

test('beyond its bytes the entries not used for the longest time leave', async () => {
  const { cache } = setUp(10_000)
  const load = (name: string) => cache.get(name, 5_000, async () => value(name, 2_000))
  for (const name of ['a', 'b', 'c']) await load(name)
  await load('a')
  await load('d')
  expect((await load('a')).hit).toBe(true)
  expect((await load('b')).hit).toBe(false)
  expect(cache.bytes).toBeLessThanOrEqual(10_000)
  for (let n = 0; n < 1_000; n++) await load(`other ${n}`)
  expect(cache.bytes).toBeLessThanOrEqual(10_000)
})

test('a value that grew is counted again, and one too large for the cache is answered all the same', async () => {
  const { cache } = setUp(10_000)
  const grown = value('grown', 10)
  await cache.get('grown', 5_000, async () => grown)
  const before = cache.bytes
  grown.bytes += 500
  cache.measure('grown')
  expect(cache.bytes - before).toBe(500)
  const huge = await cache.get('huge', 5_000, async () => value('huge', 50_000))
  expect([huge.value?.bytes, cache.size, cache.bytes]).toEqual([50_000, 1, before + 500])
})

test('evicting forgets what is about many and what is touched, being loaded or not, and leaves the rest', async () => {
  const { cache } = setUp()
  const subjects = { list: {}, 'agent 1': { fid: 1 }, 'agent 2': { fid: 2 }, 'address a': { address: 'a' } }
  const ask = (load: string) =>
    Promise.all(
      Object.entries(subjects).map(([key, subject]) => cache.get(key, 5_000, async () => value(load), subject)),
    )
  await ask('before')
  let finish = () => {}
  const waiting = new Promise<void>((resolve) => {
    finish = resolve
  })
  const loading = cache.get('late', 5_000, () => waiting.then(() => value('old')), { fid: 1 })
  cache.evict(({ fid, address }) => fid === 1 || address === 'a')
  const asked = cache.get('late', 5_000, async () => value('new'), { fid: 1 })
  finish()
  expect((await loading).value?.name).toBe('old')
  expect((await asked).value?.name).toBe('new')
  expect((await cache.get('late', 5_000, async () => value('newer'), { fid: 1 })).value?.name).toBe('new')
  expect((await ask('after')).map(({ value }) => value?.name)).toEqual(['after', 'after', 'before', 'after'])
})

test('a body is compressed once per encoding, whoever asks at once, and small ones not at all', async () => {
  const content = new Content('text/plain', Buffer.from('word '.repeat(1_000)))
  const [first, second] = await Promise.all([content.in('br'), content.in('br')])
  expect(first).toBe(second)
  expect(await content.in('br')).toBe(first)
  expect((await content.in('gzip')).length).toBeLessThan(200)
  const small = new Content('text/plain', Buffer.from('word'))
  expect((await small.in('br')).encoding).toBe('identity')
})

test.each([
  [undefined, 'identity'],
  ['', 'identity'],
  ['gzip, deflate, br, zstd', 'br'],
  ['gzip', 'gzip'],
  ['GZIP', 'gzip'],
  ['x-gzip', 'gzip'],
  ['br;q=0.5, gzip;q=0.9', 'gzip'],
  ['br;q=0, gzip;q=0', 'identity'],
  ['identity', 'identity'],
  ['identity;q=0.5, gzip;q=0.4', 'identity'],
  ['identity;q=0, *;q=0', 'identity'],
  ['*', 'br'],
  ['*;q=0.3, br;q=0', 'gzip'],
  ['deflate', 'identity'],
  ['br;q=hello', 'identity'],
  [', ,;;', 'identity'],
])('Accept-Encoding %j is answered with %s', (header, encoding) => {
  expect(chooseEncoding(header)).toBe(encoding)
})
