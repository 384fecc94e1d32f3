import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { z } from 'zod'
import { discoveryList } from '../../api/schemas/directory/discovery.ts'
import { chainNames, chainOf } from '../../config/chains.ts'
import { startApi, type TestApi } from '../support/api/api.ts'
import { createTestDatabase, testDatabase } from '../support/database.ts'
import { addressOf, type SeedAgent, seedAgent, seedSearched, seedVerification } from '../support/seed.ts'

const database = testDatabase()
let api: TestApi

/** A fixed world: every filter has members and non-members, every sort has edges. */
const world: SeedAgent[] = Array.from({ length: 95 }, (_, index) => {
  const fid = 1_000 + index
  return {
    fid,
    handle: index % 10 === 9 ? null : `agent_${fid}`,
    displayName: index % 3 === 0 ? 'Ädä 100%' : `Bot ${index}`,
    oli: index % 7 === 0 ? 'DeFi\\Trader' : null,
    chains: chainNames.filter((_chain, place) => (index + place) % (place + 2) === 0),
    addresses: [addressOf(`agent ${fid}`)],
    claimMethod: index % 4 === 0 ? 'eip191' : null,
    hasSpec: index % 5 === 0,
    hasCodehost: index % 6 === 0,
    settlements30d: index % 8,
    settlementsAll: (index % 8) + (index % 3),
    listedAt: new Date(Date.UTC(2026, 2, 1, 0, Math.floor(index / 2))),
  }
})

beforeAll(async () => {
  api = await startApi(database)
  for (const agent of world) await seedAgent(database.pool, agent)
  await seedVerification(database.pool, { fid: 1_000, address: addressOf('removed'), endedAt: new Date() })
})
afterAll(() => api.stop())

const read = async (query: string): Promise<z.infer<typeof discoveryList>> => {
  const response = await api.get(`/api/discovery${query}`)
  expect(response.status).toBe(200)
  return discoveryList.parse(await response.json())
}
/** Fids of all matching agents, sorted; checks that `total` is their number. */
const fids = async (query: string) => {
  const { agents, total } = await read(`${query}&limit=100`)
  expect(total).toBe(agents.length)
  return agents.map((agent) => agent.fid).sort()
}
const expected = (keep: (agent: SeedAgent, index: number) => boolean) => world.filter(keep).map((agent) => agent.fid)

test('a lean row carries the fields of the contract, in its order', async () => {
  const { agents } = await read('?q=agent_1000')
  expect(agents).toEqual([
    {
      fid: 1_000,
      handle: 'agent_1000',
      display_name: 'Ädä 100%',
      pfp_url: null,
      oli: 'DeFi\\Trader',
      chains: ['Eth', 'Gnosis', 'Celo'].sort((a, b) => labels.indexOf(a) - labels.indexOf(b)).filter(isOf(world[0])),
      claimed: true,
      claim_method: 'eip191',
      agent_status: 'active',
      settlements_30d: 0,
      settlements_all: 0,
      has_spec: true,
      has_codehost: true,
      registered_at: '2026-03-01T00:00:00.000Z',
      listed_at: '2026-03-01T00:00:00.000Z',
      last_seen_at: null,
    },
  ])
})
const labels: string[] = chainNames.map((name) => chainOf(name).label)
const isOf = (agent?: SeedAgent) => (label: string) => agent?.chains?.some((name) => chainOf(name).label === label)

test('without parameters the 30 newest of all come on page 1', async () => {
  const body = await read('')
  expect(body).toMatchObject({ total: 95, limit: 30, offset: 0, page: 1, count: 30 })
  expect(body.agents.map((agent) => agent.fid)).toEqual(Array.from({ length: 30 }, (_, n) => 1_094 - n))
})

test.each([
  ['?limit=10', { limit: 10 }],
  ['?limit=9', { limit: 10 }],
  ['?limit=-1', { limit: 10 }],
  ['?limit=101', { limit: 100 }],
  ['?limit=ten', { limit: 30 }],
  ['?page=0', { page: 1, offset: 0 }],
  ['?page=-9', { page: 1, offset: 0 }],
  ['?page=2.5', { page: 1 }],
  ['?page=2', { page: 2, offset: 30 }],
  ['?page=4', { page: 4, offset: 90, count: 5 }],
  ['?page=5', { page: 5, offset: 120, count: 0, agents: [], total: 95 }],
  ['?page=99999999999999999999&limit=100', { page: 1_000_000, offset: 99_999_900, count: 0, total: 95 }],
  ['?page=2&page=3', { page: 2 }],
  ['?sort=cheapest&claimed=maybe&spec=1&codehost=yes&colour=red', { total: 95 }],
  ['?sort=constructor&claimed=toString&spec=__proto__&codehost=valueOf&chain=__proto__&__proto__=1', { total: 0 }],
  ['?sort=constructor&claimed=toString&spec=__proto__&codehost=valueOf', { total: 95 }],
])('%s gives %j', async (query, shown) => {
  expect(await read(query)).toMatchObject(shown)
})

describe('filters', () => {
  test('claimed is all, claimed or unclaimed', async () => {
    expect(await fids('?claimed=claimed')).toEqual(expected((agent) => agent.claimMethod !== null))
    expect(await fids('?claimed=unclaimed')).toEqual(expected((agent) => agent.claimMethod === null))
    expect(await fids('?claimed=all')).toEqual(expected(() => true))
  })

  test('spec and codehost are true, false or no filter', async () => {
    expect(await fids('?spec=true')).toEqual(expected((agent) => agent.hasSpec === true))
    expect(await fids('?spec=false')).toEqual(expected((agent) => agent.hasSpec === false))
    expect(await fids('?codehost=true&spec=true')).toEqual(
      expected((agent) => Boolean(agent.hasSpec && agent.hasCodehost)),
    )
    expect(await fids('?codehost=false')).toEqual(expected((agent) => agent.hasCodehost === false))
  })

  test('chain takes label, name and id in any case; several combine with OR', async () => {
    for (const name of chainNames) {
      const on = expected((agent) => agent.chains?.includes(name) === true)
      for (const value of [chainOf(name).label, name.toUpperCase(), String(chainOf(name).id)]) {
        expect(await fids(`?chain=${value}`)).toEqual(on)
      }
    }
    const either = expected((agent) => ['base', 'celo'].some((name) => agent.chains?.includes(name as 'base')))
    expect(await fids('?chain=Base&chain=celo')).toEqual(either)
  })

  test('an unknown chain matches nothing, and changes nothing next to a known one', async () => {
    expect(await read('?chain=Solana')).toMatchObject({ total: 0, agents: [], count: 0 })
    expect(await fids('?chain=Solana&chain=Base')).toEqual(await fids('?chain=Base'))
  })

  test('q finds a part of handle, display name or oli in any case', async () => {
    expect(await fids('?q=AGENT_100')).toEqual(expected((agent) => agent.handle?.includes('agent_100') === true))
    expect(await fids('?q=%20%C3%84D%C3%84%20')).toEqual(expected((_agent, index) => index % 3 === 0))
    expect(await fids('?q=trader')).toEqual(expected((agent) => agent.oli !== null))
    expect(await fids('?q=b%00ot%0A%201')).toEqual(expected((agent) => agent.displayName?.startsWith('Bot 1') === true))
  })

  test('q finds letters whose lower case depends on where they stand', async () => {
    const other = await createTestDatabase()
    await seedAgent(other.pool, { fid: 1, displayName: 'ΟΔΟΣ İstanbul' })
    await other.pool.query('update agent set search = lower(display_name)') // as the join writes it
    await seedSearched(other.pool)
    const greek = await startApi(other)
    for (const q of ['ΟΔΟΣ', 'οδοσ', 'İstan']) {
      const { total } = (await (await greek.get(`/api/discovery?q=${encodeURIComponent(q)}`)).json()) as {
        total: number
      }
      expect([q, total]).toEqual([q, 1])
    }
    await greek.stop()
    await other.drop()
  })

  test('q takes %, _ and \\ for themselves', async () => {
    expect(await fids('?q=100%25')).toEqual(expected((_agent, index) => index % 3 === 0))
    expect(await fids('?q=t_1')).toEqual(expected((agent) => agent.handle?.startsWith('agent_1') === true))
    expect(await fids('?q=%25%25')).toEqual([])
    expect(await fids('?q=i%5Ct')).toEqual(expected((agent) => agent.oli !== null))
  })

  test('q finds nothing but names: words of documents, and operators, are for a search', async () => {
    await database.pool.query(
      `update searched_agent set document = to_tsvector('simple', 'a weather service') where fid in (1001, 1002)`,
    )
    const searched = (await (await api.get('/api/search?q=service%20weather')).json()) as { total: number }
    expect(searched.total).toBe(2)
    for (const q of [
      'service weather',
      'weather',
      '-zzzz',
      'zzzz or weather',
      '"weather"',
      '@agent_1001',
      'FID 1009',
    ]) {
      const asked = `?q=${encodeURIComponent(q)}`
      expect([q, await fids(asked)]).toEqual([q, []])
      expect(await (await api.get(`/api/discovery/facets${asked}`)).json()).toMatchObject({ counted: 0 })
    }
    await database.pool.query(`update searched_agent set document = '' where fid in (1001, 1002)`)
  })

  test('q of digits is also the exact fid, q of an address exactly the agent that verifies it', async () => {
    expect(await fids('?q=1009')).toEqual([1_009]) // its handle is null
    expect(await fids(`?q=${'9'.repeat(30)}`)).toEqual([])
    const address = addressOf('agent 1042')
    expect(await fids(`?q=${address}`)).toEqual([1_042])
    expect(await fids(`?q=0x${address.slice(2).toUpperCase()}`)).toEqual([1_042])
    expect(await fids(`?q=${address.slice(0, 41)}`)).toEqual([])
    expect(await fids(`?q=${addressOf('removed')}`)).toEqual([])
  })

  test('q that is empty after cleaning is no filter; a long one is cut to 100 characters', async () => {
    expect((await read('?q=%20%09%00')).total).toBe(95)
    expect((await read(`?q=${'agent_1000'.padEnd(100, ' ')}${'x'.repeat(5_000)}`)).total).toBe(1)
  })
})

describe('sorts', () => {
  const time = (agent: SeedAgent) => agent.listedAt?.getTime() ?? 0
  const orders: Record<string, (agent: SeedAgent) => number[]> = {
    newest: (agent) => [-time(agent)],
    oldest: (agent) => [time(agent)],
    'cross-chain': (agent) => [-(agent.chains?.length ?? 0), -(agent.settlementsAll ?? 0)],
    'most-active': (agent) => [-(agent.settlements30d ?? 0), -(agent.settlementsAll ?? 0)],
  }
  const compare = (a: number[], b: number[]) =>
    a.map((x, n) => x - (b[n] ?? 0)).find((difference) => difference !== 0) ?? 0

  test.each(Object.keys(orders))(
    '%s is a total order: its pages put together are the whole list, each agent once',
    async (sort) => {
      const key = (agent: SeedAgent) => [...(orders[sort]?.(agent) ?? []), -agent.fid]
      const seen: number[] = []
      for (let page = 1; page <= 10; page++) {
        const body = await read(`?sort=${sort}&page=${page}&limit=10`)
        expect(body.total).toBe(95)
        seen.push(...body.agents.map((agent) => agent.fid))
      }
      expect(seen).toEqual([...world].sort((a, b) => compare(key(a), key(b))).map((agent) => agent.fid))
    },
  )

  test.each(['?claimed=claimed', '?chain=Base&chain=Eth', '?q=bot', '?spec=false&codehost=false'])(
    'total and pages of %s agree in every sort',
    async (filter) => {
      for (const sort of Object.keys(orders)) {
        const { total } = await read(`${filter}&sort=${sort}&limit=10`)
        const pages = Math.ceil(total / 10)
        let rows = 0
        for (let page = 1; page <= pages; page++)
          rows += (await read(`${filter}&sort=${sort}&limit=10&page=${page}`)).count
        expect(rows).toBe(total)
      }
    },
  )
})
