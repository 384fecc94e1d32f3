import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { discoveryList } from '../../../api/schemas/directory/discovery.ts'
import { allRegistrationsList } from '../../../api/schemas/registrations/registration.ts'
import type { ChainName } from '../../../config/chains.ts'
import { type RegistrationFilter, registrationFilters } from '../../../db/queries/registrations/filters.ts'
import { registrationsPage } from '../../../db/queries/registrations/page.ts'
import { derivations } from '../../../derive/derivations.ts'
import { settle } from '../../../derive/pass.ts'
import { startApi, type TestApi } from '../../support/api/api.ts'
import { testDatabase } from '../../support/database.ts'
import { addressOf, hashOf, insert, seedAgent, seedRegistration } from '../../support/seed.ts'

const database = testDatabase()
let api: TestApi
const now = Date.UTC(2026, 2, 20)
const minute = (n: number) => new Date(Date.UTC(2026, 2, 1, 0, n))
const bytes = (hex: string) => Buffer.from(hex.slice(2), 'hex')
const owners = ['of 1', 'of 2', 'stranger', 'crowd'].map(addressOf)
const delegates = ['delegate 0', 'delegate 1', 'delegate 2'].map(addressOf)
const wallets = [addressOf('wallet 1'), addressOf('wallet 2'), null]
const chains = ['base', 'celo', 'gnosis'] as const satisfies readonly ChainName[]
const pick = <T>(list: readonly T[], n: number) => list[n % list.length] as T

/** Registrations that share times, words and holders, so that filters meet and orders need their last column. */
async function seedOne(n: number) {
  const { pool } = database
  const key = { chain: pick(chains, n), agent_id: `${n % 7 ? n : 2n ** 200n + BigInt(n)}` }
  await seedRegistration(pool, {
    chain: key.chain,
    id: BigInt(key.agent_id),
    owner: n % 29 ? pick(owners, Math.floor(n / 3)) : null,
    wallet: pick(wallets, n * 5),
    uri: n % 11 ? `https://agent.example/${n}` : null,
    at: minute(n % 13),
  })
  await pool.query('update registration set updated_at = $1 where chain = $2 and agent_id = $3', [
    minute(n % 17),
    key.chain,
    key.agent_id,
  ])
  if (n % 5) await seedDocument(n, key)
  for (const [name, value] of [
    ['category', pick(['defi', 'Art', "it's"], n)],
    ['a=b', 'c'],
    ['wide', '0xff'],
  ] as const) {
    if (n % 3 === 0 || name !== 'category') continue
    await insert(pool, 'registration_metadata', {
      id: `${key.chain}-${key.agent_id}-${name}`,
      ...key,
      key: name,
      value: Buffer.from(value),
      block_number: 100,
      log_index: n,
      block_timestamp: minute(n),
      tx_hash: bytes(hashOf(`metadata ${n}`)),
    })
  }
  if (n % 4 === 1) await seedApproval(n, key)
  for (let given = 0; given < n % 4; given++) await seedFeedback(n, given, key)
}

/** Who is approved for it, some of them before its last transfer, which ends that. */
async function seedApproval(n: number, key: { chain: string; agent_id: string }) {
  const place = { ...key, log_index: n, block_timestamp: minute(n), tx_hash: bytes(hashOf(`approval ${n}`)) }
  const owner = bytes(pick(owners, n))
  const approved = n % 8 === 1 ? null : bytes(pick(delegates, n))
  const id = `${key.chain}-100-${n}`
  await insert(database.pool, 'registration_approval', { id, ...place, block_number: 100, owner, approved })
  if (n % 3) return
  await insert(database.pool, 'registration_transfer', { id, ...place, block_number: 101, from: owner, to: owner })
}

/** Operators of some owners: named, taken back, named again. */
async function seedOperators() {
  const words = [
    ['base', 0, 0, true],
    ['base', 0, 1, true],
    ['base', 0, 1, false],
    ['celo', 0, 1, true],
    ['celo', 3, 2, false],
    ['celo', 3, 2, true],
    ['gnosis', 2, 0, false],
  ] as const
  for (const [n, [chain, owner, operator, approved]] of words.entries()) {
    await insert(database.pool, 'registration_operator', {
      id: `${chain}-${n}-1`,
      chain,
      owner: bytes(pick(owners, owner)),
      operator: bytes(pick(delegates, operator)),
      approved,
      block_number: n,
      log_index: 1,
      block_timestamp: minute(n),
      tx_hash: bytes(hashOf(`operator ${n}`)),
    })
  }
}

async function seedDocument(n: number, key: { chain: string; agent_id: string }) {
  const declared = {
    skills: [pick(['Sum', "o'clock", 'back\\slash'], n)],
    domains: ['Finance'],
    tools: [pick(['ask', 'tell'], n)],
  }
  const services = [
    {
      name: pick(['MCP', 'A2A', 'OASF'], n),
      endpoint: 'https://agent.example',
      version: null,
      ...(n % 2 && { declared }),
    },
    { name: null, endpoint: 'https://agent.example/web', version: null },
  ]
  await insert(database.pool, 'registration_document', {
    ...key,
    uri_status: 'ok',
    name: pick(['Ada Lovelace', '100% Ada_', 'Träumer', null], n),
    description: pick(['Counts things.', 'Writes about ADA.', null], Math.floor(n / 2)),
    active: pick([true, false, null], n),
    x402_support: pick([true, null], Math.floor(n / 3)),
    services: JSON.stringify(services),
    supported_trust: JSON.stringify(n % 4 ? ['Reputation'] : ['reputation', 'tee-attestation']),
    updated_at: minute(n),
  })
}

async function seedFeedback(n: number, given: number, key: { chain: string; agent_id: string }) {
  await insert(database.pool, 'feedback', {
    id: `${key.chain}-${key.agent_id}-${given}`,
    ...key,
    client: bytes(addressOf(`client ${(n + given) % 5}`)),
    feedback_index: given + 1,
    value: 40 + ((n * 7 + given) % 60),
    value_decimals: given % 2,
    tag1: pick(['starred', 'uptime', ''], n + given),
    tag2: pick(['', 'week'], n),
    endpoint: '',
    feedback_uri: '',
    feedback_hash: bytes(hashOf('none')),
    block_number: 100,
    log_index: n * 10 + given,
    block_timestamp: minute(n),
    tx_hash: bytes(hashOf(`feedback ${n}`)),
    revoked_block: given === 2 ? 120 : null,
    revoked_at: given === 2 ? minute(n + 1) : null,
  })
}

const context = () => ({ pool: database.pool, now: () => new Date(now), settlementOverloads: 'spec' }) as const
const searched = derivations.filter(({ kind }) => kind === 'searched registrations' || kind === 'declarations')

beforeAll(async () => {
  const { pool } = database
  await seedAgent(pool, { fid: 1, addresses: [owners[0] as string] })
  await seedAgent(pool, { fid: 2, addresses: [owners[1] as string], claimMethod: 'jfs' })
  for (let n = 0; n < 150; n++) await seedOne(n)
  await pool.query(`
    insert into agent_holding (fid, chain, agent_id, held_by, acquired_block, acquired_log_index, acquired_at)
    select v.fid, r.chain, r.agent_id, r.owner, 100, 0, r.registered_at
      from registration r join verified_address v on v.address = r.owner`)
  await seedOperators()
  await settle(searched, context())
  api = await startApi(database, { now: () => now })
})
afterAll(() => api.stop())

/** SQL over the views of the SQL contract, or the tables where no view has it, of a registration `r`; one for each filter. */
const any = (view: string, condition: string) =>
  `exists (select from ${view} o where o.chain = r.chain and o.erc8004_id = r.erc8004_id and ${condition})`
const declaredIn = (list: string, of = 'true') => `exists (
  select from registration_document d
   cross join lateral json_array_elements(d.services) s
   cross join lateral json_array_elements_text(s -> 'declared' -> '${list}') word
   where d.chain = r.chain and d.agent_id = r.erc8004_id and lower(word) = lower($1) and ${of})`
const isOasf = `lower(s ->> 'name') like 'oasf%'`
const holderOf = (condition: string) =>
  `exists (select from directory.agents a join directory.addresses v using (fid)
            where v.address = r.owner_address and v.ended_at is null and ${condition})`
const standing =
  '(select count(*) from directory.feedback f where f.chain = r.chain and f.erc8004_id = r.erc8004_id and f.revoked_block is null)'
const given = (condition: string) => `exists (select from directory.feedback f
  where f.chain = r.chain and f.erc8004_id = r.erc8004_id and f.revoked_block is null and ${condition})`
const mean = standing.replace('count(*)', 'avg(f.value)')
const meant: Record<keyof typeof registrationFilters, string> = {
  chain: 'r.chain = $1',
  name: 'strpos(lower(r.name), lower($1)) > 0',
  description: 'strpos(lower(r.description), lower($1)) > 0',
  owner: 'r.owner_address = $1',
  wallet: 'r.agent_wallet = $1',
  operator: `(exists (
      select from registration_operator o
       where o.chain = r.chain and '0x' || encode(o.owner, 'hex') = r.owner_address and o.approved
         and '0x' || encode(o.operator, 'hex') = $1
         and not exists (select from registration_operator later
                          where (later.chain, later.owner, later.operator) = (o.chain, o.owner, o.operator)
                            and later.block_number > o.block_number))
    or exists (
      select from registration_approval p
       where p.chain = r.chain and p.agent_id = r.erc8004_id and '0x' || encode(p.approved, 'hex') = $1
         and not exists (select from directory.transfers t
                          where t.chain = r.chain and t.erc8004_id = r.erc8004_id and t.block_number > p.block_number)))`,
  fid: holderOf('a.fid = $1::bigint'),
  human: `${holderOf('true')} = $1::boolean`,
  active: 'r.active = $1::boolean',
  x402: 'r.x402_support = $1::boolean',
  trust: any('directory.trust_models', 'lower(o.model) = lower($1)'),
  service: any('directory.services', 'lower(o.name) = lower($1)'),
  oasf_skill: declaredIn('skills', isOasf),
  oasf_domain: declaredIn('domains', isOasf),
  skill: declaredIn('skills'),
  tool: declaredIn('tools'),
  prompt: declaredIn('prompts'),
  resource: declaredIn('resources'),
  metadata: any(
    'directory.registration_metadata',
    `(o.key = $1 or (strpos($1, '=') > 0 and o.key = split_part($1, '=', 1)
       and o.value = '0x' || encode(convert_to(split_part($1, '=', 2), 'UTF8'), 'hex')))`,
  ),
  min_feedback: `${standing} >= $1::bigint`,
  max_feedback: `${standing} <= $1::bigint`,
  feedback_client: given('f.client_address = $1'),
  feedback_tag: given(`lower($1) in (lower(f.tag1), lower(f.tag2))`),
  min_feedback_value: `${mean} >= $1::numeric`,
  max_feedback_value: `${mean} <= $1::numeric`,
  registered_since: 'r.deployed_at >= $1::timestamptz',
  updated_since: 'r.updated_at >= $1::timestamptz',
}

const values: Record<keyof typeof registrationFilters, readonly string[]> = {
  chain: [...chains, 'mantle'],
  name: ['ada', '%', 'ADA_', 'träu', 'lovelace', 'da love', 'ace Ada', '100% A', 'zz', "'"],
  description: ['ada', 'counts THINGS', 'bout ada', 'ada writes', 'ings.', 'x'],
  owner: owners,
  wallet: [addressOf('wallet 1'), addressOf('nobody')],
  operator: [...delegates, addressOf('nobody')],
  fid: ['1', '002', '3'],
  human: ['true', 'false'],
  active: ['true', 'false'],
  x402: ['true', 'false'],
  trust: ['reputation', 'TEE-attestation', 'none'],
  service: ['mcp', 'a2a', 'oasf'],
  oasf_skill: ['sum', "o'clock", 'back\\slash'],
  oasf_domain: ['finance', 'law'],
  skill: ['sum', 'SUM', "o'clock"],
  tool: ['ask', 'tell'],
  prompt: ['ask'],
  resource: ['ask'],
  metadata: ['category', 'category=defi', 'category=Art', "category=it's", 'Category', 'a=b'],
  min_feedback: ['0', '1', '2', '3'],
  max_feedback: ['0', '1', '2'],
  feedback_client: [addressOf('client 1'), addressOf('client 3'), addressOf('wallet 1')],
  feedback_tag: ['starred', 'WEEK', 'other'],
  min_feedback_value: ['0', '50', '45.5', '-3.25'],
  max_feedback_value: ['30', '60.125'],
  registered_since: [minute(0), minute(6), minute(12)].map((time) => time.toISOString()),
  updated_since: [minute(3), minute(15)].map((time) => time.toISOString()),
}

type Given = { readonly [name: string]: string }

async function expected(given: Given, sort: string): Promise<string[]> {
  const asked = Object.entries(given)
  const conditions = asked.map(([name], n) => meant[name as keyof typeof meant].replaceAll('$1', `$${n + 1}::text`))
  const time = sort === 'newest' ? 'deployed_at' : 'updated_at'
  const { rows } = await database.pool.query<{ id: string }>(
    `select r.chain || ':' || r.erc8004_id as id from directory.registrations r
      where ${['not r.burned', ...conditions].join(' and ')}
      order by r.${time} desc, r.chain collate "default" desc, r.erc8004_id desc`,
    asked.map(([, value]) => value),
  )
  return rows.map(({ id }) => id)
}

async function page(query: string) {
  const response = await api.get(`/api/registrations?${query}`)
  expect([query, response.status]).toEqual([query, 200])
  const text = await response.text()
  const ids = [...text.matchAll(/"chain":"(\w+)","chain_id":\d+,"erc8004_id":(\d+)/g)].map(([, ...key]) =>
    key.join(':'),
  )
  return { ids, body: allRegistrationsList.parse(JSON.parse(text)) }
}

async function walk(query: string): Promise<string[]> {
  const all: string[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { ids, body } = await page(`${query}&cursor=${cursor}`)
    all.push(...ids)
    cursor = body.next_cursor
  }
  return all
}

const nothing = Object.fromEntries(Object.keys(registrationFilters).map((name) => [name, null]))
const names = Object.keys(registrationFilters) as (keyof typeof registrationFilters)[]
const combination = fc
  .subarray(names, { maxLength: 4 })
  .chain((chosen) => fc.record(Object.fromEntries(chosen.map((name) => [name, fc.constantFrom(...values[name])]))))

test.each(names)('the filter %s finds what the SQL contract says, for each of its values', async (name) => {
  expect(values[name]).not.toEqual([])
  for (const value of values[name]) {
    const given = { [name]: value }
    expect([given, await walk(`${new URLSearchParams(given)}&limit=7`)]).toEqual([
      given,
      await expected(given, 'updated'),
    ])
  }
})

test.each([
  { walked: 5, matched: 1_000 },
  { walked: 3, matched: 4 },
])('whether registrations are looked at in turn or looked up, a walk meets all of them: %o', async (most) => {
  const given = { ...nothing, active: true, trust: ['reputation'] } as unknown as RegistrationFilter
  const all: string[] = []
  let after: readonly string[] | undefined
  let empty = 0
  do {
    const installation = { registries: {}, baseUrl: '' } as never
    const found = await registrationsPage(database.pool, {
      filter: given,
      sort: 'newest',
      limit: 2,
      after,
      installation,
      most,
    })
    all.push(
      ...[...found.rows.matchAll(/"chain" : "(\w+)", "chain_id" : \d+, "erc8004_id" : (\d+)/g)].map(([, ...key]) =>
        key.join(':'),
      ),
    )
    if (found.count === 0) empty++
    after = found.next ?? undefined
  } while (after)
  expect(all).toEqual(await expected({ active: 'true', trust: 'reputation' }, 'newest'))
  expect(empty > 0).toBe(most.matched < 10)
})

test('filters combine with AND, in each order, page by page', async () => {
  let found = 0
  await fc.assert(
    fc.asyncProperty(
      combination,
      fc.constantFrom('updated', 'newest'),
      fc.integer({ min: 1, max: 100 }),
      async (given, sort, limit) => {
        const rows = await walk(`${new URLSearchParams(given)}&sort=${sort}&limit=${limit}`)
        expect(rows).toEqual(await expected(given, sort))
        found += rows.length
      },
    ),
    { numRuns: 80 },
  )
  expect(found).toBeGreaterThan(100)
})

test.each([
  ['trust', 'tee-attestation', 'trust'],
  ['trust', "it's", 'trust'],
  ['active', 'true', 'active'],
  ['x402', 'false', 'x402'],
  ['x402', 'true', 'x402'],
  ['min_feedback', '2', 'min_feedback'],
  ['min_feedback', '9', 'min_feedback'],
] as const)('agents are found by what a registration that they hold says: %s is %s', async (name, value, filter) => {
  const { rows } = await database.pool.query<{ fid: number }>(
    `select distinct h.fid from directory.holdings h join directory.registrations r using (chain, erc8004_id)
      where h.reason is null and ${meant[filter].replaceAll('$1', '$1::text')} order by 1`,
    [value],
  )
  const response = await api.get(`/api/discovery?${new URLSearchParams({ [name]: value })}`)
  const { agents, total } = discoveryList.parse(await response.json())
  expect(agents.map(({ fid }) => fid).sort()).toEqual(rows.map(({ fid }) => fid))
  expect(total).toBe(rows.length)
})
