import { getIntrospectionQuery, parse } from 'graphql'
import type { QueryConfig } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { run, subgraphSchema } from '../../../api/subgraph/execute.ts'
import { SubgraphReading } from '../../../api/subgraph/read.ts'
import { chainNames } from '../../../config/chains.ts'
import { subgraphLimits } from '../../../config/limits.protocols.ts'
import type { Queryable } from '../../../db/pool.ts'
import { startApi, type TestApi } from '../../support/api/api.ts'
import { seedRegistrations, type WorldAgent } from '../../support/api/registrations-world.ts'
import { testDatabase } from '../../support/database.ts'

const database = testDatabase()
let api: TestApi
let world: WorldAgent[]
beforeAll(async () => {
  world = await seedRegistrations(database.pool)
  api = await startApi(database)
})
afterAll(() => api.stop())

const { cost, definitions, fields, objects, values } = subgraphLimits

interface Answer {
  readonly data?: { agents: Record<string, unknown>[] }
  readonly errors?: { readonly message: string }[]
}

async function ask(query: string, variables?: object) {
  const body = JSON.stringify({ query, variables })
  const response = await api.get('/subgraph', { method: 'POST', body })
  return { status: response.status, ...((await response.json()) as Answer) }
}

const times = (count: number, each: (n: number) => string, by = ' ') =>
  Array.from({ length: count }, (_, n) => each(n)).join(by)
/** Fragments, each of which spreads the next one so many times. */
const chained = (count: number, on: string, spread: number, last: string) =>
  times(count, (n) => `fragment F${n} on ${on} { ${n === count - 1 ? last : `...F${n + 1} `.repeat(spread)} }`)

test('fragments that spread each other twice are answered while they are few, and refused by what they would cost', async () => {
  const doubled = (count: number) =>
    ask(`{ agents(first: 1) { id ...F0 } } ${chained(count, 'Agent', 2, '__typename')}`)
  const { data, errors } = await doubled(8)
  expect(errors).toBe(undefined)
  expect(data?.agents).toEqual([{ id: expect.any(String), __typename: 'Agent' }])
  expect((await doubled(29)).errors?.[0]?.message).toContain(`cost of an operation must be at most ${cost}`)
})

const asVariables = 'query ($where: Agent_filter) { agents(where: $where) { id } }'
const empty = { or: Array.from({ length: 80_000 }, () => ({})) }

test.each([
  [
    'names of types',
    `{ agents(first: 1000) { ${times(1_900, (n) => `a${n}: __typename`)} } }`,
    undefined,
    `cost of an operation must be at most ${cost}`,
  ],
  [
    'one field again and again',
    `{ agents { ${'__typename '.repeat(1_900)} } }`,
    undefined,
    `cost of an operation must be at most ${cost}`,
  ],
  [
    'fields of a fragment that each operation spreads',
    `fragment F on Query { ${'valueOf '.repeat(19_600)} } ${times(38, (n) => `query A${n} { ...F }`)}`,
    undefined,
    `a document may have ${fields} fields`,
  ],
  [
    'names that every object has',
    `{ ${times(1_900, (n) => ['valueOf', 'toString', 'constructor', '__proto__'][n % 4] as string)} }`,
    undefined,
    `cost of an operation must be at most ${cost}`,
  ],
  [
    'operations none of which is named',
    times(2, (n) => `query q${n} { agents { id } }`),
    undefined,
    'operationName must be the name of one operation',
  ],
  [
    'brackets behind a comment of closing ones',
    `#${')'.repeat(9_000)}\n${'{a'.repeat(9_000)}`,
    undefined,
    'brackets may be nested 50 deep',
  ],
  [
    'brackets between comments of closing ones',
    `${`${'{a'.repeat(40)}#${')'.repeat(40)}\n`.repeat(200)}`,
    undefined,
    'brackets may be nested 50 deep',
  ],
  [
    'brackets between texts of closing ones',
    `{a(b:${`${'['.repeat(40)}"${']'.repeat(40)}" """${']'.repeat(40)}""" `.repeat(100)}`,
    undefined,
    'brackets may be nested 50 deep',
  ],
  ['one list again and again', `{ ${'agents { id } '.repeat(249)} }`, undefined, 'under the same name too often'],
  [
    'long lists to compare',
    `{ ${`agents(where: { agentId_in: [${'1 '.repeat(700)}] }) { id } `.repeat(20)} }`,
    undefined,
    'under the same name too often',
  ],
  [
    'fragments in a row',
    `{ ...F0 } ${chained(2_000, 'Query', 1, 'agents { id }')}`,
    undefined,
    `a document may have ${definitions} operations`,
  ],
  [
    'operations',
    times(1_000, (n) => `query q${n} { agents { id } }`),
    undefined,
    `a document may have ${definitions} operations`,
  ],
  ['empty filters', asVariables, { where: empty }, `variables may have ${objects} objects`],
  [
    'empty filters in the document',
    `{ agents(where: { or: [${'{} '.repeat(5_000)}] }) { id } }`,
    undefined,
    `arguments may have ${objects} objects`,
  ],
  [
    'introspection',
    `{ __schema { ${times(20, (n) => `a${n}: types { name }`)} } }`,
    undefined,
    'fields of introspection have no aliases',
  ],
])('%s are refused before they are validated', async (_, query, variables, message) => {
  const answer = await ask(query, variables)
  expect([answer.status, answer.errors?.[0]?.message]).toEqual([400, expect.stringContaining(message)])
})

test('what an answer may hold is bounded in fields and bytes, and no text is in it under many names', async () => {
  const twice = await ask('{ agents { registrationFile { a: description b: description } } }')
  expect(twice.errors?.[0]?.message).toBe('description may be asked for under one name')
  const all =
    'id clientAddress feedbackIndex value tag1 tag2 endpoint feedbackURI feedbackURIType feedbackHash isRevoked'
  const around = (inner: string) => `feedback { ${all} createdAt revokedAt agent { id owner ${inner} } }`
  const { errors } = await ask(`{ agents(first: 1000) { ${around(around(around('updatedAt')))} } }`)
  expect(errors?.[0]?.message).toBe(`an answer may have ${values} values in all: ask for fewer at once`)
})

test('a registration file of many bytes is not repeated for each row that leads to it', async () => {
  const agent = world.find(({ file, feedback }) => file && feedback.length === 3) as WorldAgent
  const text = 'x'.repeat(300_000)
  await database.pool.query(
    `update registration_document set services = json_build_array(json_build_object('name', 'web', 'endpoint', $3::text))
      where chain = $1 and agent_id = $2`,
    [agent.chain, agent.id, text],
  )
  const file = `agent(id: "${agent.chainId}:${agent.id}") { registrationFile { endpointsRawJson } }`
  const one = await ask(`{ ${file} }`)
  expect(one.errors).toBe(undefined)
  expect(JSON.stringify(one.data)).toContain(text)
  const copies = times(20, (n) => `a${n}: ${file}`)
  expect((await ask(`{ ${copies} }`)).errors).toBe(undefined)
  const within = `agent(id: "${agent.chainId}:${agent.id}") { feedback { agent { feedback { agent { registrationFile { endpointsRawJson } } } } } }`
  const { errors } = await ask(`{ ${times(4, (n) => `a${n}: ${within}`)} }`)
  expect(errors?.[0]?.message).toContain(`an answer may have ${subgraphLimits.bytes} bytes`)
})

test('the introspection that tools begin with is answered', async () => {
  const { status, errors } = await ask(getIntrospectionQuery())
  expect([status, errors]).toEqual([200, undefined])
})

test('of several operations only the one that is asked for is weighed and answered', async () => {
  const query = `query Dear { agents { ${times(600, (n) => `a${n}: id`)} } } query Cheap { agents(first: 1) { id } }`
  const of = async (operationName: string) => {
    const response = await api.get('/subgraph', { method: 'POST', body: JSON.stringify({ query, operationName }) })
    return (await response.json()) as Answer
  }
  expect((await of('Cheap')).data?.agents).toEqual([{ id: expect.any(String) }])
  expect((await of('Dear')).errors?.[0]?.message).toContain(`cost of an operation must be at most ${cost}`)
})

test('words of all parts of a filter together are bounded as they are looked up', async () => {
  const words = Array.from({ length: 100 }, (_, n) => `${n}`.padEnd(420, 'x'))
  const query = `query ($w: [String!]) { agentRegistrationFiles(where: { and: [${'{ oasfSkills: $w } '.repeat(30)}] }) { id } }`
  expect(await ask(query, { w: words })).toEqual({ status: 200, data: { agentRegistrationFiles: [] } })
})

test('an id in two spellings is one row', async () => {
  const { chainId, id } = world[0] as WorldAgent
  const ids = [`${chainId}:${id}`, `${chainId}:0${id}`, `${chainId}:000${id}`]
  const { data } = await ask('query ($ids: [ID!]) { agents(where: { id_in: $ids }) { id } }', { ids })
  expect(data?.agents).toEqual([{ id: ids[0] }])
})

test('the lists of a request are read one after the other, and none once it has asked for too much', async () => {
  const agent = world.find(({ file }) => file) as WorldAgent
  await database.pool.query(
    `update registration_document set services = json_build_array(json_build_object('name', 'web', 'endpoint', $3::text))
      where chain = $1 and agent_id = $2`,
    [agent.chain, agent.id, 'x'.repeat(subgraphLimits.bytes / 3)],
  )
  let running = 0
  let most = 0
  let statements = 0
  const query = async (config: QueryConfig) => {
    statements++
    most = Math.max(most, ++running)
    return database.pool.query(config).finally(() => running--)
  }
  const schema = subgraphSchema()
  const of = async (text: string) => {
    const reading = new SubgraphReading({ query } as Queryable, chainNames, () => {})
    statements = 0
    return run(schema, reading, { document: parse(text), variables: undefined, operationName: undefined })
  }
  const file = (n: number) =>
    `a${n}: agent(id: "${agent.chainId}:${agent.id}") { registrationFile { endpointsRawJson } }`
  const { errors } = await of(`{ ${times(20, file)} }`)
  expect(errors?.[0]?.message).toContain(`an answer may have ${subgraphLimits.bytes} bytes`)
  expect([most, statements]).toEqual([1, 3])
  // What is wrong with one id is no reason to leave out the others.
  const { data } = await of('{ bad: agent(id: "\\u0000") { id } good: agents(first: 1) { feedback { id } } }')
  expect([data?.bad, data?.good]).toEqual([null, [{ feedback: expect.any(Array) }]])
})
