import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addressOwnersAnswer, agentStateAnswer, portfolioAnswer } from '../../../api/schemas/agents/as-of.ts'
import { readingLimits } from '../../../config/limits.ts'
import { startApi, type TestApi } from '../../support/api/api.ts'
import { chainRows } from '../../support/chain/rows.ts'
import { testDatabase } from '../../support/database.ts'
import {
  addressOf,
  insert,
  seedAgent,
  seedChainState,
  seedRegistration,
  seedSettlement,
  seedVerification,
} from '../../support/seed.ts'

const database = testDatabase()
let api: TestApi
let write: ReturnType<typeof chainRows>
const day = 86_400_000
const start = Date.UTC(2026, 2, 1)
const time = (n: number) => new Date(start + n * day)
const chains = ['base', 'celo'] as const
const lastDay = 40

beforeAll(async () => {
  api = await startApi(database)
  for (const chain of chains)
    await seedChainState(database.pool, { chain, indexed: 9_000, finalized: 9_000, at: time(lastDay) })
  write = chainRows(database.pool)
  // First event of each chain's registry. Random histories use ids below 900.
  for (const chain of chains) await write.transfer({ chain, id: 999_999 }, null, addressOf('first'), time(0))
})
afterAll(() => api.stop())

const read = async (path: string): Promise<unknown> => {
  const response = await api.get(path)
  expect([path, response.status]).toEqual([path, 200])
  return response.json()
}

interface Span {
  readonly from: number
  readonly to: number | null
}
const meets = (one: Span, other: Span): Span | undefined => {
  const from = Math.max(one.from, other.from)
  const ends = [one.to, other.to].filter((end) => end !== null)
  const to = ends.length === 0 ? null : Math.min(...ends)
  return to === null || to > from ? { from, to } : undefined
}
const holds = ({ from, to }: Span, at: number | undefined) =>
  at === undefined || (from <= at && (to === null || to > at))

const anyDay = fc.nat(lastDay)
const holder = fc.constantFrom(0, 1, 2, null)
const history = fc.record({
  tokens: fc.array(fc.array(fc.record({ to: holder, at: anyDay }), { minLength: 1, maxLength: 5 }), { maxLength: 4 }),
  verifications: fc.array(
    fc.record({ fid: fc.nat(1), address: fc.nat(2), from: anyDay, days: fc.option(fc.integer({ min: 1, max: 20 })) }),
    { maxLength: 6 },
  ),
  at: fc.option(anyDay, { nil: undefined }),
})

let run = 0

test('who held what, and whose address it was, is what the events say, at any time and over all', async () => {
  const { pool } = database
  await fc.assert(
    fc.asyncProperty(history, async ({ tokens, verifications, at }) => {
      run++
      const fids = [2 * run, 2 * run + 1]
      const addresses = [0, 1, 2].map((n) => addressOf(`run ${run} ${n}`))
      for (const fid of fids) await seedAgent(pool, { fid })
      // An account's verifications of one address do not overlap: one that would is skipped.
      const verified: (Span & { fid: number; address: string })[] = []
      for (const one of [...verifications].sort((a, b) => a.from - b.from)) {
        const fid = fids[one.fid] as number
        const address = addresses[one.address] as string
        const span = { from: one.from, to: one.days === null ? null : one.from + one.days }
        if (verified.some((other) => other.fid === fid && other.address === address && meets(other, span))) continue
        verified.push({ fid, address, ...span })
        const endedAt = span.to === null ? null : time(span.to)
        await seedVerification(pool, { fid, address, verifiedAt: time(span.from), endedAt })
      }
      const held: (Span & { chain: string; id: number; address: string })[] = []
      for (const [index, moves] of tokens.entries()) {
        const token = { chain: chains[index % 2] as 'base', id: run * 10 + index }
        let owner: string | null = null
        const changes: { at: number; to: string | null }[] = []
        for (const move of [...moves].sort((a, b) => a.at - b.at)) {
          const to: string | null = move.to === null ? null : (addresses[move.to] as string)
          if (owner === null && to === null) continue
          await write.transfer(token, owner, to, time(move.at))
          if (to !== owner) changes.push({ at: move.at, to })
          owner = to
        }
        for (const [place, change] of changes.entries()) {
          const to = changes[place + 1]?.at ?? null
          if (change.to !== null && to !== change.at) held.push({ ...token, address: change.to, from: change.at, to })
        }
      }
      const iso = (span: Span) => ({
        from: time(span.from).toISOString(),
        to: span.to === null ? null : time(span.to).toISOString(),
      })
      const query = at === undefined ? '' : `?as_of=${time(at).toISOString()}`
      const bySpan = (a: Span, b: Span) => a.from - b.from
      const listed = (spans: (Span & { chain: string; id: number; address: string })[]) =>
        chains.flatMap((chain) =>
          spans
            .filter((one) => one.chain === chain && holds(one, at))
            .map((one) => JSON.stringify([chain, one.id, one.address, iso(one)]))
            .sort(),
        )
      const answered = (body: {
        chains: {
          chain: string
          registrations: { erc8004_id: number; held_by: string; from: string | null; to: string | null }[] | null
        }[]
      }) =>
        chains.flatMap((chain) =>
          (body.chains.find((one) => one.chain === chain)?.registrations ?? [])
            .map(({ erc8004_id, held_by, from, to }) => JSON.stringify([chain, erc8004_id, held_by, { from, to }]))
            .sort(),
        )

      for (const fid of fids) {
        const own = verified.filter((one) => one.fid === fid)
        const body = agentStateAnswer.parse(await read(`/api/agent/${fid}/state${query}`))
        expect(body.addresses.map(({ address, ...span }) => JSON.stringify([address, span])).sort()).toEqual(
          own
            .filter((one) => holds(one, at))
            .map((one) => JSON.stringify([one.address, iso(one)]))
            .sort(),
        )
        const mine = held.flatMap((one) =>
          own.flatMap((other) => {
            const span = other.address === one.address ? meets(one, other) : undefined
            return span ? [{ ...one, ...span }] : []
          }),
        )
        expect(answered(body)).toEqual(listed(mine))
        expect(body.as_of).toBe(at === undefined ? null : time(at).toISOString())
      }
      for (const address of addresses) {
        const body = addressOwnersAnswer.parse(await read(`/api/by-address/${address}/owners${query}`))
        const whose = verified.filter((one) => one.address === address && holds(one, at))
        expect(body.owners.map(({ fid, from, to }) => JSON.stringify([fid, { from, to }])).sort()).toEqual(
          whose
            .sort(bySpan)
            .map((one) => JSON.stringify([one.fid, iso(one)]))
            .sort(),
        )
        expect(answered(body)).toEqual(listed(held.filter((one) => one.address === address)))
      }
      if (at === undefined) return
      const asked = async (from: string, columns: string, order: string) =>
        (await pool.query(`select ${columns} from ${from} order by ${order}`)).rows
      const then = `timestamptz '${time(at).toISOString()}'`
      const dates = ({ from, to }: Span) => [time(from), to === null ? null : time(to)]
      const byText = (a: unknown, b: unknown) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)
      for (const fid of fids) {
        const mine = held.flatMap((one) =>
          verified
            .filter((other) => other.fid === fid && other.address === one.address)
            .flatMap((other) =>
              holds(one, at) && holds(other, at) ? [{ ...one, ...(meets(one, other) as Span) }] : [],
            ),
        )
        const rows = await asked(`directory.agent_as_of(${fid}, ${then})`, '*, erc8004_id::int as id', 'chain, id')
        expect(rows.map((row) => [row.chain, row.id, row.held_by, row.held_from, row.held_to]).sort(byText)).toEqual(
          mine.map((one) => [one.chain, one.id, one.address, ...dates(one)]).sort(byText),
        )
      }
      for (const address of addresses) {
        const rows = await asked(`directory.fids_of_address_as_of('${address}', ${then})`, '*', 'fid')
        expect(rows.map((row) => [row.fid, row.verified_at, row.ended_at]).sort(byText)).toEqual(
          verified
            .filter((one) => one.address === address && holds(one, at))
            .map((one) => [one.fid, ...dates(one)])
            .sort(byText),
        )
      }
      for (const chain of chains) {
        const rows = await asked(`directory.holders_as_of('${chain}', ${then})`, '*, erc8004_id::int as id', 'id')
        const ofRun = rows.filter(({ id }) => id >= run * 10 && id < (run + 1) * 10)
        expect(ofRun.map((row) => [row.id, row.holder_address, row.held_from, row.held_to])).toEqual(
          held
            .filter((one) => one.chain === chain && holds(one, at))
            .sort((a, b) => a.id - b.id)
            .map((one) => [one.id, one.address, ...dates(one)]),
        )
      }
    }),
    { numRuns: 25 },
  )
})

test('of a time before a registry, after its newest block, or of another chain, nothing is known', async () => {
  await seedAgent(database.pool, { fid: 900 })
  const known = async (query: string) => {
    const body = agentStateAnswer.parse(await read(`/api/agent/900/state${query}`))
    return body.chains.filter(({ registrations }) => registrations !== null).map(({ chain }) => chain)
  }
  expect(await known('')).toEqual(['base', 'celo'])
  expect(await known(`?as_of=${time(1).toISOString()}`)).toEqual(['base', 'celo'])
  expect(await known(`?as_of=${new Date(start - 1).toISOString()}`)).toEqual([])
  expect(await known(`?as_of=${time(lastDay + 1).toISOString()}`)).toEqual([])
  const body = agentStateAnswer.parse(await read('/api/agent/900/state'))
  expect(body.known_through).toEqual(chains.map((chain) => ({ chain, block_timestamp: time(lastDay).toISOString() })))
  expect(await known('?as_of=then')).toEqual([])
  expect((await api.get('/api/agent/999999/state')).status).toBe(404)
})

test('a portfolio is what the address holds, whose it is, who shares it, and what it was paid and paid', async () => {
  const { pool } = database
  const [mine, other] = ['mine', 'other'].map(addressOf) as [string, string]
  await seedAgent(pool, { fid: 901, handle: 'ada', addresses: [mine], claimMethod: 'jfs' })
  await seedAgent(pool, { fid: 902, handle: 'bob', addresses: [other] })
  await pool.query(`update agent set handle_assurance = 'proven' where fid = 901`)
  await insert(pool, 'agent_edge', { fid: 901, peer: 902, kind: 'shared_owner', direction: 'both', weight: 1 })
  await seedRegistration(pool, { chain: 'celo', id: 904, owner: mine })
  await seedRegistration(pool, { chain: 'base', id: 911, owner: mine })
  await seedRegistration(pool, { chain: 'base', id: 912, owner: other })
  await seedSettlement(pool, { chain: 'base', recipient: mine, block: 1, amount: 1_250_000n, payer: other })
  await seedSettlement(pool, { chain: 'celo', recipient: mine, block: 1, amount: 7n, payer: addressOf('else') })
  await seedSettlement(pool, { chain: 'base', recipient: other, block: 2, amount: 3n, payer: mine })
  await seedSettlement(pool, { chain: 'base', recipient: mine, block: 3, amount: 5n, selector: '0xcf092995' })
  const body = portfolioAnswer.parse(await read(`/api/by-address/${mine.toUpperCase().replace('0X', '0x')}/portfolio`))
  expect(body).toMatchObject({
    address: mine,
    registrations_total: 2,
    registrations: [
      { chain: 'base', erc8004_id: 911 },
      { chain: 'celo', erc8004_id: 904 },
    ],
    agents: [{ fid: 901, handle: 'ada', display_name: null, claimed: true, handle_assurance: 'proven' }],
    other_agents: [{ fid: 902, handle: 'bob', display_name: null, claimed: false, handle_assurance: 'stated' }],
    settlements_in: { count: 2, amount_usdc: 1.250007 },
    settlements_out: { count: 1, amount_usdc: 0.000003 },
  })
  expect(body.next_cursor).toBe(null)
  const nobody = portfolioAnswer.parse(await read(`/api/by-address/${addressOf('nobody at all')}/portfolio`))
  expect(nobody).toMatchObject({ registrations: [], agents: [], settlements_in: { count: 0, amount_usdc: 0 } })
})

test('a portfolio of more registrations than a page leads to all of them', async () => {
  const { pool } = database
  const address = addressOf('platform')
  const held = readingLimits.portfolioRegistrations + 3
  await pool.query(
    `insert into registration (id, chain, agent_id, owner, burned, registered_block, registered_at, registered_tx,
                               acquired_block, acquired_at, updated_block, updated_at)
     select 'held-' || n, case n % 2 when 0 then 'celo' else 'base' end, 100000 + n, $1, false, 1, now(), '', 1, now(), 1, now()
       from generate_series(1, $2::int) n`,
    [Buffer.from(address.slice(2), 'hex'), held],
  )
  const page = async (query: string) => {
    const response = await api.get(`/api/by-address/${address}/portfolio${query}`)
    return { ...portfolioAnswer.parse(await response.json()), link: response.headers.get('link') }
  }
  const first = await page('')
  expect([first.registrations.length, first.registrations_total]).toEqual([held - 3, held])
  expect(first.link).toContain(`cursor=${first.next_cursor}`)
  const last = await page(`?cursor=${first.next_cursor}`)
  expect([last.registrations.length, last.registrations_total, last.next_cursor]).toEqual([3, held, null])
  const all = [...first.registrations, ...last.registrations].map((one) => `${one.chain} ${one.erc8004_id}`)
  expect(new Set(all).size).toBe(held)
  expect((await api.get(`/api/by-address/${addressOf('mine')}/portfolio?cursor=${first.next_cursor}`)).status).toBe(404)
})
