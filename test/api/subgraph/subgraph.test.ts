import { afterAll, beforeAll, expect, test } from 'vitest'
import { subgraphLimits } from '../../../config/limits.protocols.ts'
import { startApi, type TestApi } from '../../support/api/api.ts'
import { seedRegistrations, type WorldAgent } from '../../support/api/registrations-world.ts'
import { testDatabase } from '../../support/database.ts'
import { addressOf } from '../../support/seed.ts'

const database = testDatabase()
let api: TestApi
let world: WorldAgent[]
beforeAll(async () => {
  world = await seedRegistrations(database.pool)
  api = await startApi(database)
})
afterAll(() => api.stop())

interface Answer {
  // biome-ignore lint/suspicious/noExplicitAny: the shape is that of the query
  readonly data: Record<string, any>
  readonly errors?: { readonly message: string }[]
}

async function ask(query: string, variables?: object, path = '/subgraph/8453') {
  const body = JSON.stringify({ query, variables })
  const response = await api.get(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body })
  return { status: response.status, ...((await response.json()) as Answer) }
}

const idOf = ({ chainId, id }: WorldAgent) => `${chainId}:${id}`
const onBase = () => world.filter(({ chain }) => chain === 'base')
const search = `query ($where: Agent_filter, $first: Int!, $skip: Int!, $orderBy: Agent_orderBy!, $orderDirection: OrderDirection!) {
  agents(where: $where, first: $first, skip: $skip, orderBy: $orderBy, orderDirection: $orderDirection) { id }
}`

async function idsOf(where: object | null, path?: string): Promise<string[]> {
  const all: string[] = []
  for (let skip = 0; ; skip += 500) {
    const variables = { where, first: 500, skip, orderBy: 'updatedAt', orderDirection: 'desc' }
    const { data, errors } = await ask(search, variables, path)
    expect(errors).toBe(undefined)
    const page = data.agents.map(({ id }: { id: string }) => id) as string[]
    all.push(...page)
    if (page.length < 500) return all
  }
}
const sorted = (ids: readonly string[]) => [...ids].sort()
const idsIn = (fits: (agent: WorldAgent) => boolean, of = onBase()) => sorted(of.filter(fits).map(idOf))

test('an agent by its id has its registration, its file, its feedback with responses and its metadata', async () => {
  const agent = onBase().find(
    ({ file, feedback }) => file?.services.length === 5 && feedback.length === 3,
  ) as WorldAgent
  const { data, errors } = await ask(
    `query GetAgent($agentId: String!) { agent(id: $agentId) {
      id chainId agentId owner operators agentURI agentURIType agentWallet createdAt updatedAt totalFeedback lastActivity
      registrationFile { id agentId name description active x402Support supportedTrusts mcpEndpoint hasOASF a2aSkills }
      feedback(orderBy: createdAt) { id value isRevoked agent { id owner } responses { id responseUri feedback { value } } }
      metadata { key value } } }`,
    { agentId: idOf(agent) },
  )
  expect(errors).toBe(undefined)
  const last = agent.feedback.at(-1)
  expect(data.agent).toMatchObject({
    id: idOf(agent),
    chainId: '8453',
    agentId: agent.id,
    owner: agent.owner,
    agentWallet: agent.wallet,
    agentURI: agent.uri,
    createdAt: String(agent.createdAt),
    updatedAt: String(movedAt(agent)),
    lastActivity: String(last?.createdAt),
    totalFeedback: String(agent.feedback.filter(({ revokedAt }) => revokedAt === null).length),
    registrationFile: {
      agentId: idOf(agent),
      name: agent.file?.name,
      active: agent.file?.active,
      supportedTrusts: agent.file?.trusts,
    },
    metadata: Object.entries(agent.metadata).map(([key, value]) => ({
      key,
      value: `0x${Buffer.from(value).toString('hex')}`,
    })),
  })
  expect(data.agent.feedback).toEqual(
    agent.feedback.map(({ client, index, value, decimals, revokedAt, responses }) => ({
      id: `${idOf(agent)}:${client}:${index}`,
      value: String(value / 10 ** decimals),
      isRevoked: revokedAt !== null,
      agent: { id: idOf(agent), owner: agent.owner },
      responses: responses.map((responseUri) => ({
        id: expect.any(String),
        responseUri,
        feedback: { value: String(value / 10 ** decimals) },
      })),
    })),
  )
})

test('a page that is full is followed by the others, over all chains and over one', async () => {
  expect(sorted(await idsOf(null))).toEqual(idsIn(() => true))
  expect(sorted(await idsOf(null, '/subgraph'))).toEqual(idsIn(() => true, world))
  expect(sorted(await idsOf(null, '/subgraph/celo'))).toEqual(idsIn(({ chain }) => chain === 'celo', world))
  const byTime = (await idsOf({ registrationFile_not: null })).map((id) => movedAt(byId(id)))
  expect(byTime).toEqual([...byTime].sort((a, b) => b - a))
})

const byId = (id: string) => world.find((one) => idOf(one) === id) as WorldAgent
/** Last event of either registry. */
const movedAt = ({ updatedAt, feedback }: WorldAgent) =>
  Math.max(updatedAt, ...feedback.flatMap(({ createdAt, revokedAt }) => [createdAt, revokedAt ?? 0]))
const activeAt = ({ createdAt, feedback }: WorldAgent) => Math.max(createdAt, ...feedback.map((one) => one.createdAt))
const nameOf = ({ file }: WorldAgent) => file?.name?.toLowerCase() ?? ''

test.each<[string, (agent: WorldAgent) => number | string]>([
  ['updatedAt', movedAt],
  ['lastActivity', activeAt],
  ['totalFeedback', ({ feedback }) => feedback.filter(({ revokedAt }) => revokedAt === null).length],
  ['name', nameOf],
])('registrations with and without feedback are in the order of %s', async (orderBy, of) => {
  for (const [orderDirection, sign] of [['asc', 1] as const, ['desc', -1] as const]) {
    const variables = { where: null, first: 1_000, skip: 0, orderBy, orderDirection }
    const { data, errors } = await ask(search, variables)
    expect(errors).toBe(undefined)
    const found = data.agents.map(({ id }: { id: string }) => of(byId(id))) as (number | string)[]
    const all = onBase().map(of)
    const sort = (a: number | string, b: number | string) => sign * (a < b ? -1 : a > b ? 1 : 0)
    expect(found).toHaveLength(1_000)
    if (orderBy === 'name') expect(new Set(found).size).toBeGreaterThan(1)
    else expect(found).toEqual(all.sort(sort).slice(0, 1_000))
  }
})

test('registrations are found by when they moved last, without feedback by their own registry', async () => {
  const times = onBase()
    .map(movedAt)
    .sort((a, b) => a - b)
  const since = times[Math.floor(times.length / 2)] as number
  const ids = await idsOf({ updatedAt_gte: since })
  expect(sorted(ids)).toEqual(idsIn((agent) => movedAt(agent) >= since))
  const without = await idsOf({ updatedAt_gte: since, totalFeedback: '0' })
  const isWithout = ({ feedback }: WorldAgent) => feedback.every(({ revokedAt }) => revokedAt !== null)
  expect(sorted(without)).toEqual(idsIn((agent) => movedAt(agent) >= since && isWithout(agent)))
})

const endpointOf = ({ file }: WorldAgent, name: string) =>
  file?.services.find((service) => service.name.toLowerCase() === name)?.endpoint ?? null
const has = (text: string | null | undefined, part: string) => text?.toLowerCase().includes(part.toLowerCase()) ?? false
const declares = ({ file }: WorldAgent, service: string, list: string, word: string) =>
  file?.services.some(({ name, declared }) => name.toLowerCase() === service && declared?.[list]?.includes(word)) ??
  false

test.each<[object, (agent: WorldAgent) => boolean]>([
  [{ registrationFile: null }, ({ file }) => file === null],
  [{ registrationFile_not: null }, ({ file }) => file !== null],
  [{ owner_in: [addressOf('owner 3').toUpperCase().replace('X', 'x')] }, ({ owner }) => owner === addressOf('owner 3')],
  [{ agentWallet: addressOf('wallet 2') }, ({ wallet }) => wallet === addressOf('wallet 2')],
  [{ agentWallet: null }, ({ wallet }) => wallet === null],
  [{ totalFeedback: '0' }, ({ feedback }) => feedback.every(({ revokedAt }) => revokedAt !== null)],
  [{ totalFeedback_gt: 1 }, ({ feedback }) => feedback.filter(({ revokedAt }) => revokedAt === null).length > 1],
  [
    { createdAt_gte: 1_772_324_400, createdAt_lte: '1772325000' },
    ({ createdAt: at }) => at >= 1_772_324_400 && at <= 1_772_325_000,
  ],
  [{ registrationFile_: { name_contains_nocase: 'aDa' } }, ({ file }) => has(file?.name, 'ada')],
  [{ registrationFile_: { name_contains_nocase: '0% a' } }, ({ file }) => has(file?.name, '0% a')],
  [{ registrationFile_: { name_contains: 'aDa' } }, () => false],
  [{ registrationFile_: { description_contains_nocase: 'ada' } }, ({ file }) => has(file?.description, 'ada')],
  [
    { registrationFile_: { active: false, x402Support: true } },
    ({ file }) => file?.active === false && file.x402 === true,
  ],
  [{ registrationFile_: { mcpEndpoint: null } }, (one) => one.file !== null && endpointOf(one, 'mcp') === null],
  [
    { registrationFile_: { mcpEndpoint_contains_nocase: 'agent.EXAMPLE/mcp/100%_' } },
    (one) => has(endpointOf(one, 'mcp'), 'agent.example/mcp/100%_'),
  ],
  [{ registrationFile_: { ens_contains_nocase: 'ens.' } }, (one) => has(endpointOf(one, 'ens'), 'ens.')],
  [
    { registrationFile_: { supportedTrusts_contains: ['Reputation'] } },
    ({ file }) => file?.trusts.includes('Reputation') ?? false,
  ],
  [
    { registrationFile_: { a2aSkills_contains: ['Sum', "o'clock"] } },
    (one) => declares(one, 'a2a', 'skills', 'Sum') && declares(one, 'a2a', 'skills', "o'clock"),
  ],
  [{ registrationFile_: { a2aSkills_contains: ['sum'] } }, () => false],
  [{ registrationFile_: { a2aSkills_contains_nocase: ['sum'] } }, (one) => declares(one, 'a2a', 'skills', 'Sum')],
  [
    { registrationFile_: { hasOASF: true } },
    (one) =>
      ['skills', 'domains'].some((list) =>
        one.file?.services.some(({ name, declared }) => name === 'OASF' && declared?.[list]?.length),
      ),
  ],
  [
    { or: [{ owner: addressOf('owner 1') }, { registrationFile_: { mcpTools_contains: ['tell'] } }], createdAt_gt: 0 },
    (one) => one.owner === addressOf('owner 1') || declares(one, 'mcp', 'tools', 'tell'),
  ],
  [{ and: [{ or: [] }] }, () => false],
  [{ operators_contains: [addressOf('nobody')] }, () => false],
  [{ operators_contains: [addressOf('operator 1')] }, ({ operators }) => operators.includes(addressOf('operator 1'))],
  [
    { operators_contains: [addressOf('operator 2').toUpperCase().replace('X', 'x'), addressOf('operator 1')] },
    ({ operators }) => operators.length === 2,
  ],
  [
    { operators_not_contains: [addressOf('operator 2')] },
    ({ operators }) => !operators.includes(addressOf('operator 2')),
  ],
  [{ operators: [addressOf('operator 2')] }, ({ operators }) => operators.join() === addressOf('operator 2')],
])('agents by %j are those of the world', async (where, fits) => {
  expect(sorted(await idsOf(where))).toEqual(idsIn(fits))
})

test('operators are those whom the owner named there and has not taken back, and who is approved since the last transfer', async () => {
  const { data, errors } = await ask('{ agents(first: 1000) { id operators } }', undefined, '/subgraph/base')
  expect(errors).toBe(undefined)
  const known = new Map(world.map((agent) => [idOf(agent), agent.operators]))
  const found = data.agents as { id: string; operators: string[] }[]
  expect(found.map(({ operators }) => operators)).toEqual(found.map(({ id }) => known.get(id)))
  expect(new Set(found.map(({ operators }) => operators.length))).toEqual(new Set([0, 1, 2]))
})

test('ids of another chain find nothing, and ids lead on in their order', async () => {
  const foreign = world.filter(({ chain }) => chain === 'celo').slice(0, 2)
  const own = onBase().slice(10, 13)
  const ids = [...foreign, ...own].map(idOf)
  expect(sorted(await idsOf({ id_in: [...ids, '8453:', 'x', '5:1'] }))).toEqual(sorted(own.map(idOf)))
  expect((await ask('query ($id: ID!) { agent(id: $id) { id } }', { id: ids[0] })).data).toEqual({ agent: null })
  const walked: string[] = []
  for (let after = ''; ; ) {
    const { data } = await ask(`{ agents(first: 300, where: { id_gt: "${after}" }) { id } }`, undefined, '/subgraph')
    walked.push(...(data.agents as { id: string }[]).map(({ id }) => id))
    if (data.agents.length < 300) break
    after = walked.at(-1) as string
  }
  expect(sorted(walked)).toEqual(idsIn(() => true, world))
})

const feedbackOnBase = () => onBase().flatMap((agent) => agent.feedback.map((given) => ({ agent, ...given })))
const feedbackSearch = `query ($where: Feedback_filter, $skip: Int!) {
  feedbacks(where: $where, first: 1000, skip: $skip, orderBy: createdAt, orderDirection: desc) { id createdAt }
}`

test.each<[object, (given: ReturnType<typeof feedbackOnBase>[number]) => boolean]>([
  [{}, () => true],
  [{ isRevoked: false }, ({ revokedAt }) => revokedAt === null],
  [{ clientAddress_in: [addressOf('client 4')] }, ({ client }) => client === addressOf('client 4')],
  [
    { tag1: 'starred', value_gte: 20.5 },
    ({ tag1, value, decimals }) => tag1 === 'starred' && value / 10 ** decimals >= 20.5,
  ],
  [
    { or: [{ tag1: 'starred' }, { tag2: 'starred' }], value_lte: '-3' },
    (one) => [one.tag1, one.tag2].includes('starred') && one.value / 10 ** one.decimals <= -3,
  ],
  [{ endpoint_contains_nocase: 'a2a' }, ({ endpoint }) => has(endpoint, 'a2a')],
  [
    { agent_in: ['8453:6', '8453:7', '1:6', 'x'], isRevoked: false },
    ({ agent, revokedAt }) => ['6', '7'].includes(agent.id) && revokedAt === null,
  ],
])('feedback by %j is that of the world, newest first', async (where, fits) => {
  const all: { id: string; createdAt: string }[] = []
  for (let skip = 0; all.length === skip; skip += 1_000) {
    const { data, errors } = await ask(feedbackSearch, { where, skip })
    expect(errors).toBe(undefined)
    all.push(...data.feedbacks)
  }
  const expected = feedbackOnBase().filter(fits)
  const ids = expected.map(({ agent, client, index }) => `${idOf(agent)}:${client}:${index}`)
  expect(sorted(all.map(({ id }) => id))).toEqual(sorted(ids))
  expect(all.map(({ createdAt }) => Number(createdAt))).toEqual(
    expected.map(({ createdAt }) => createdAt).sort((a, b) => b - a),
  )
})

test('metadata is found by key and value under both names of its list, files and responses by themselves', async () => {
  const query = (list: string) =>
    `query ($where: AgentMetadata_filter) { ${list}(where: $where, first: 1000) { id agent { id } } }`
  const where = { key: 'category', value: `0x${Buffer.from('Art').toString('hex')}` }
  for (const list of ['agentMetadatas', 'agentMetadata_collection']) {
    const { data } = await ask(query(list), { where })
    const ids = data[list].map(({ agent }: { agent: { id: string } }) => agent.id)
    expect(sorted(ids)).toEqual(idsIn(({ metadata }) => metadata.category === 'Art'))
  }
  const { data, errors } = await ask(`{
    agentRegistrationFiles(first: 1000, where: { active: true, hasOASF: true }) { id agentId oasfSkills }
    feedbackResponses(first: 1000) { id feedback { id } }
  }`)
  expect(errors).toBe(undefined)
  const isFile = ({ file }: WorldAgent) =>
    file?.active === true &&
    file.services.some(({ name, declared }) => name === 'OASF' && Object.values(declared ?? {}).flat().length > 0)
  expect(sorted(data.agentRegistrationFiles.map(({ agentId }: { agentId: string }) => agentId))).toEqual(idsIn(isFile))
  expect(data.feedbackResponses).toHaveLength(feedbackOnBase().filter(({ responses }) => responses.length > 0).length)
  const [response] = data.feedbackResponses as [{ id: string; feedback: { id: string } }]
  const one = await ask(
    'query ($id: Bytes!, $file: String!) { feedbackResponse(id: $id) { feedback { id } } agentRegistrationFile(id: $file) { id } }',
    { id: response.id, file: data.agentRegistrationFiles[0].id },
  )
  expect(one.data).toEqual({
    feedbackResponse: { feedback: response.feedback },
    agentRegistrationFile: { id: data.agentRegistrationFiles[0].id },
  })
})

test.each([
  ['{ agents { nothing } }', undefined, 400, 'Cannot query field "nothing" on type "Agent".'],
  ['{ validations(first: 1) { id } }', undefined, 400, 'validations cannot be answered: the registry of validations'],
  ['{ agents { validations { id } } }', undefined, 400, 'validations cannot be answered'],
  [
    '{ protocolAgentStats(interval: "day") { id } }',
    undefined,
    400,
    'protocolAgentStats cannot be answered: there are no time series',
  ],
  ['{ agents(first: 1001) { id } }', undefined, 200, 'first must be from 0 to 1000'],
  ['{ agents(skip: 100001) { id } }', undefined, 200, 'skip must be from 0 to 100000'],
  ['query ($x: Boolean!) { agent(id: $x) { id } }', { x: true }, 400, 'used in position expecting type "ID!"'],
  ['mutation { x }', undefined, 400, 'there is no mutation here'],
  ['{ agents(where: { owner: "ada" }) { id } }', undefined, 200, 'owner must be 0x and pairs of hex digits'],
  ['{ agents(where: { createdAt_gt: null }) { id } }', undefined, 200, 'createdAt_gt must not be null'],
  [
    `{ ${Array.from({ length: 21 }, (_, n) => `a${n}: agents(first: 1) { id }`).join(' ')} }`,
    undefined,
    200,
    'a request may read 20 lists',
  ],
  [
    `{ ${Array.from({ length: 600 }, (_, n) => `a${n}: agents { id }`).join(' ')} }`,
    undefined,
    400,
    'the cost of an operation must be at most 500',
  ],
  [
    '{ agents(first: 1000) { feedback(first: 1000) { id agent { feedback(first: 1000) { id agent { feedback { id agent { feedback { id } } } } } } } } }',
    undefined,
    400,
    'the depth of an operation must be at most 8',
  ],
  [
    '{ a: agents(first: 1000) { feedback { agent { feedback { agent { feedback { id } } } } } } }',
    undefined,
    200,
    'an answer may have 20000 rows',
  ],
  ['{', undefined, 400, 'Syntax Error'],
])('%s is refused in so many words', async (query, variables, status, message) => {
  const answer = await ask(query, variables)
  expect([answer.status, answer.errors?.[0]?.message]).toEqual([status, expect.stringContaining(message)])
})

test('filters are bounded in depth, parts, values and length, and no nesting breaks the reader', async () => {
  const nested = (levels: number) =>
    Array.from({ length: levels }).reduce<object>((inner) => ({ and: [inner] }), { chainId: 1 })
  const query = 'query ($where: Agent_filter) { agents(where: $where) { id } }'
  const { filterDepth, filterParts, filterValues, filterCharacters } = subgraphLimits
  const told = async (where: object) => (await ask(query, { where })).errors?.[0]?.message
  expect(await told(nested(filterDepth - 1))).toBe(undefined)
  expect(await told(nested(filterDepth))).toBe(`filters may be nested ${filterDepth} deep`)
  const deep = `{"and":[`.repeat(10_000) + ']}'.repeat(10_000)
  const body = `{"query":"query ($where: Agent_filter) { agents(where: $where) { id } }","variables":{"where":${deep}}}`
  expect(await (await api.get('/subgraph', { method: 'POST', body })).json()).toEqual({
    errors: [{ message: 'variables may be nested 50 deep' }],
  })
  expect(
    await told({
      or: Array.from({ length: filterParts / 4 }, () => ({ chainId: 1, chainId_gt: 0, chainId_lt: 2, chainId_not: 3 })),
    }),
  ).toBe(`a filter may have ${filterParts} parts`)
  expect(await told({ id_in: Array.from({ length: filterValues + 1 }, (_, n) => `8453:${n}`) })).toBe(
    `a filter may have ${filterValues} values`,
  )
  expect(await told({ agentURI: 'x'.repeat(filterCharacters + 1) })).toBe(
    `agentURI may have ${filterCharacters} characters`,
  )
  const literal = `{ agents(where: ${'{ and: ['.repeat(3_000)}${']}'.repeat(3_000)}) { id } }`
  expect((await ask(literal)).status).toBeLessThan(500)
  const large = await ask(`{ agents { ${' id'.repeat(100_000)} } }`)
  expect(large.status).toBe(413)
})

test('another method, another chain and another body are refused', async () => {
  expect((await api.get('/subgraph')).status).toBe(404)
  expect((await ask('{ agents { id } }', undefined, '/subgraph/nowhere')).errors?.[0]?.message).toContain('8453 (Base)')
  const body = { method: 'POST', body: '[]' }
  expect((await api.get('/subgraph', body)).status).toBe(400)
})
