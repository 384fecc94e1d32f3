import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { discoverySelection } from '../../../api/schemas/directory/discovery.ts'
import type { ChainName } from '../../../config/chains.ts'
import { failure, startApi, type TestApi } from '../../support/api/api.ts'
import { testDatabase } from '../../support/database.ts'
import { addressOf, dropAgents, insert, type SeedAgent, seedAgent, seedFigure } from '../../support/seed.ts'

const database = testDatabase()
let api: TestApi
let now = Date.now()

const minute = (n: number) => new Date(Date.UTC(2026, 2, 1, 0, n))
const statuses = ['active', 'historical', 'claimed-only'] as const
const methods = [null, 'eip191', 'jfs', 'well-known'] as const
const chainsOf = (n: number) => (['base', 'celo', 'arbitrum'] as ChainName[]).slice(0, n % 4)

/** Agents that share times and figures, so that every order needs its last column to be total. */
const world = Array.from({ length: 90 }, (_, n) => ({
  fid: 500 + ((n * 37) % 90),
  handle: `agent${n}`,
  chains: chainsOf(n),
  addresses: [addressOf(`of ${n}`)],
  claimMethod: methods[n % 4] ?? null,
  status: statuses[n % 3] as (typeof statuses)[number],
  settlements30d: n % 5,
  settlementsAll: n % 7 === 0 ? 0 : (n % 5) + (n % 2),
  listedAt: minute(n % 20),
  registeredAt: minute(n % 30),
  registryEventAt: n % 3 ? minute(n % 40) : null,
  lastMessageAt: n % 4 ? minute(n % 50) : null,
  tag: n % 6 === 0 ? 'Trader' : n % 6 === 1 ? 'oracle' : null,
  // Base units, in 30 days and ever; null: no figure is stored. Refunds of earlier payments can leave less than nothing.
  earned: [null, [0n, 0n], [0n, 5n], [-7n, 6n], [7n, 9n], [7n, 7n], [10n ** 20n, 10n ** 21n + 1n]][n % 7] as
    | [bigint, bigint]
    | null,
})) satisfies (SeedAgent & { tag: string | null; earned: [bigint, bigint] | null })[]
type One = (typeof world)[number]

beforeAll(async () => {
  api = await startApi(database, { now: () => now })
  for (const { tag, earned, ...agent } of world) {
    await seedAgent(database.pool, agent)
    await seedEarned(agent.fid, earned)
    if (tag === null) continue
    await seedTag(agent.fid, agent.addresses[0] as string, tag)
  }
  // A tag of an address that is no longer verified does not make the agent match.
  await seedTag((world[2] as One).fid, addressOf('former'), 'Trader')
})
afterAll(() => api.stop())

/** With payments from the agent's own addresses, and on one chain, agents rank the other way round: neither is asked for. */
async function seedEarned(fid: number, earned: readonly [bigint, bigint] | null) {
  if (earned) await seedFigure(database.pool, { fid, earned })
  const other = 1_000_000n - BigInt(fid)
  await seedFigure(database.pool, { fid, own: true, earned: [other, other] })
  await seedFigure(database.pool, { fid, chain: 'base', earned: [other, other] })
}

const seedTag = (fid: number, address: string, name: string) =>
  insert(database.pool, 'oli_tag', {
    fid,
    address: Buffer.from(address.slice(2), 'hex'),
    source: 'oli',
    slug: `slug-${name}`,
    name,
    tag_type: 'name',
    fetched_at: minute(0),
  })

const orders: Record<string, (agent: One) => (number | bigint)[]> = {
  newest: ({ listedAt, fid }) => [-listedAt.getTime(), -fid],
  oldest: ({ listedAt, fid }) => [listedAt.getTime(), -fid],
  'cross-chain': ({ chains, settlementsAll, fid }) => [-chains.length, -settlementsAll, -fid],
  'most-active': ({ settlements30d, settlementsAll, fid }) => [-settlements30d, -settlementsAll, -fid],
  'most-earned': ({ earned, fid }) => [earned && earned[0] > 0n ? -earned[0] : 0n, -(earned?.[1] ?? 0n), -fid],
}
const sorted = (sort: string, agents: readonly One[]) =>
  [...agents]
    .sort((a, b) => {
      const one = orders[sort]?.(a) ?? []
      const other = orders[sort]?.(b) ?? []
      const place = one.findIndex((value, index) => value !== other[index])
      return (one[place] ?? 0) < (other[place] ?? 0) ? -1 : 1
    })
    .map(({ fid }) => fid)

async function page(query: string) {
  const response = await api.get(`/api/discovery?${query}`)
  expect([query, response.status]).toEqual([query, 200])
  const body = discoverySelection.parse(await response.json())
  return { body, link: response.headers.get('link') }
}

async function walk(query: string, between: () => Promise<unknown> = async () => {}) {
  const fids: number[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { body } = await page(`${query}&cursor=${cursor}`)
    expect([body.page, body.offset, Object.keys(body).at(-1)]).toEqual([null, null, 'next_cursor'])
    fids.push(...body.agents.map(({ fid }) => fid))
    cursor = body.next_cursor ?? null
    await between()
  }
  return fids
}

test.each(Object.keys(orders))('a walk by %s meets every agent once, in the order of the pages', async (sort) => {
  for (const limit of [10, 13, 100]) expect(await walk(`sort=${sort}&limit=${limit}`)).toEqual(sorted(sort, world))
  expect((await page(`sort=${sort}&limit=100`)).body.agents.map(({ fid }) => fid)).toEqual(sorted(sort, world))
})

test('filters combine with AND, lists inside one with OR', async () => {
  const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
  const seen = ({ registryEventAt, lastMessageAt }: One) =>
    Math.max(registryEventAt?.getTime() ?? -1, lastMessageAt?.getTime() ?? -1)
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        status: maybe(fc.subarray([...statuses], { minLength: 1 })),
        method: maybe(fc.subarray(['eip191', 'jfs', 'well-known'], { minLength: 1 })),
        tag: maybe(fc.subarray(['TRADER', 'slug-oracle'], { minLength: 1 })),
        has_settlements: maybe(fc.boolean()),
        min_settlements: maybe(fc.nat(6)),
        registered_since: maybe(fc.nat(30)),
        registered_until: maybe(fc.nat(30)),
        seen_since: maybe(fc.nat(50)),
        sort: fc.constantFrom(...Object.keys(orders)),
      }),
      async ({ status, method, tag, sort, ...scalars }) => {
        const query = new URLSearchParams({ sort, limit: '11' })
        for (const [name, list] of Object.entries({ status, method, tag }))
          for (const value of list ?? []) query.append(name, value)
        for (const [name, value] of Object.entries(scalars)) {
          if (value === undefined) continue
          query.set(name, /since|until/.test(name) ? minute(Number(value)).toISOString() : String(value))
        }
        const { has_settlements: paid, min_settlements: least } = scalars
        const { registered_since: since, registered_until: until, seen_since: seenSince } = scalars
        const expected = world.filter(
          (agent) =>
            (status === undefined || status.includes(agent.status)) &&
            (method === undefined || method.includes(agent.claimMethod ?? '')) &&
            (tag === undefined ||
              tag.some((one) => agent.tag && one.toLowerCase().includes(agent.tag.toLowerCase()))) &&
            (paid === undefined || agent.settlementsAll > 0 === paid) &&
            (least === undefined || agent.settlementsAll >= least) &&
            (since === undefined || agent.registeredAt >= minute(since)) &&
            (until === undefined || agent.registeredAt < minute(until)) &&
            (seenSince === undefined || seen(agent) >= minute(seenSince).getTime()),
        )
        expect(await walk(String(query))).toEqual(sorted(sort, expected))
        expect((await page(String(query))).body.total).toBe(expected.length)
      },
    ),
    { numRuns: 40 },
  )
})

test.each([
  'status=retired',
  'method=guess',
  'tag=nobody',
  'has_settlements=1',
  'min_settlements=-1',
  'min_settlements=many',
  'registered_since=2026',
  'registered_until=2026-03-01T00:00:00',
  'seen_since=now',
])('a filter that cannot be read, or that nobody meets, matches nothing: %s', async (query) => {
  expect((await page(query)).body).toMatchObject({ agents: [], total: 0, count: 0, page: 1, offset: 0 })
  expect((await page(`${query}&cursor=`)).body).toMatchObject({ agents: [], total: 0, next_cursor: null })
})

test.each(['newest', 'oldest'])('agents that stay are met once by %s, whatever comes and goes', async (sort) => {
  const { pool } = database
  let n = 0
  const between = async () => {
    n++
    now += 10_000
    await dropAgents(pool, 'fid >= 1000 and fid % 3 = $1', [n % 3])
    await seedAgent(pool, { fid: 1_000 + n, listedAt: minute((n * 7) % 25) })
  }
  const met = await walk(`sort=${sort}&limit=10`, between)
  expect(met.filter((fid) => fid < 1_000)).toEqual(sorted(sort, world))
  await dropAgents(pool, 'fid >= 1000')
  now += 10_000
})

test('the header leads on with everything that was asked; a cursor is good for its own list alone', async () => {
  const query = 'limit=10&sort=oldest&status=active&status=historical&chain=Base&fields=handle,chains'
  const { body, link } = await page(`${query}&cursor=`)
  const target = /^<https:\/\/api\.agents\.example(\/api\/discovery\?[^>]+)>; rel="next"$/.exec(link as string)?.[1]
  const next = discoverySelection.parse(await (await api.get(target as string)).json())
  expect(next).toEqual((await page(`${query}&cursor=${body.next_cursor}`)).body)
  expect(next.agents.map((agent) => Object.keys(agent))).toEqual(next.agents.map(() => ['fid', 'handle', 'chains']))
  for (const other of ['limit=10&sort=newest', 'limit=10&sort=oldest&status=active']) {
    const refused = await failure(await api.get(`/api/discovery?${other}&cursor=${body.next_cursor}`))
    expect(refused).toMatchObject({ status: 404, error: 'ERR_NOT_FOUND' })
  }
})

test('fields come in the order of the contract; unknown ones are ignored, the fid always comes', async () => {
  const keys = async (fields: string) => Object.keys((await page(`limit=10&fields=${fields}`)).body.agents[0] ?? {})
  expect(await keys('last_seen_at,fid,oli')).toEqual(['fid', 'oli', 'last_seen_at'])
  expect(await keys('__proto__,nothing')).toEqual(['fid'])
  expect(await keys('')).toHaveLength(16)
})
