import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Agent0, installAgent0 } from '../../support/api/agent0-sdk.ts'
import {
  declared,
  endpoint,
  type Fits,
  idOf,
  mean,
  movedAt,
  says,
  standing,
  value,
} from '../../support/api/agent0-searches.ts'
import { startApi, type TestApi } from '../../support/api/api.ts'
import { seedRegistrations, type WorldAgent } from '../../support/api/registrations-world.ts'
import { testDatabase } from '../../support/database.ts'
import { addressOf } from '../../support/seed.ts'

// What agent0-sdk finds, unchanged and by its own functions. It turns errors into empty lists, so everything is counted.

const database = testDatabase()
let api: TestApi
let world: WorldAgent[]
let sdk: InstanceType<Agent0['SDK']>
let remove: () => Promise<void>
beforeAll(async () => {
  const installed = await installAgent0()
  remove = installed.remove
  world = await seedRegistrations(database.pool)
  api = await startApi(database)
  const subgraphOverrides = Object.fromEntries([1, 8453, 42220].map((id) => [id, `${api.url}/subgraph/${id}`]))
  sdk = new installed.agent0.SDK({ chainId: 8453, rpcUrl: 'http://127.0.0.1:1', subgraphOverrides })
})
afterAll(async () => {
  await api?.stop()
  await remove?.()
})

const at = 1_772_323_200

const searches: [object, Fits][] = [
  [{}, () => true],
  [{ chains: [42220] }, ({ chain }) => chain === 'celo'],
  [{ agentIds: ['8453:6', '8453:7', '8453:999999'] }, ({ id }) => id === '6' || id === '7'],
  [{ name: 'ADA' }, ({ file }) => says(file?.name, 'ada')],
  [{ description: 'things' }, ({ file }) => says(file?.description, 'things')],
  [
    { owners: [addressOf('owner 1'), addressOf('owner 2')] },
    ({ owner }) => [1, 2].some((n) => owner === addressOf(`owner ${n}`)),
  ],
  [{ walletAddress: addressOf('wallet 2') }, ({ wallet }) => wallet === addressOf('wallet 2')],
  [{ operators: [addressOf('operator 1'), addressOf('operator 2')] }, ({ operators }) => operators.length > 0],
  [{ operators: [addressOf('operator 2')] }, ({ operators }) => operators.includes(addressOf('operator 2'))],
  [
    { supportedTrust: ['reputation', 'tee-attestation'] },
    ({ file }) => file?.trusts.some((one) => ['reputation', 'tee-attestation'].includes(one)),
  ],
  [{ active: true }, ({ file }) => file?.active === true],
  [{ active: false }, ({ file }) => file?.active === false],
  [{ x402support: true }, ({ file }) => file?.x402 === true],
  [{ ensContains: 'ens.EX' }, (one) => says(endpoint(one, 'ens'), 'ens.ex')],
  [{ didContains: 'did' }, (one) => says(endpoint(one, 'did'), 'did')],
  [{ hasMCP: true }, (one) => endpoint(one, 'mcp')],
  [{ hasMCP: false }, (one) => endpoint(one, 'mcp') === null],
  [{ hasA2A: true, hasWeb: false }, (one) => endpoint(one, 'a2a') && !endpoint(one, 'web')],
  [{ hasOASF: true }, (one) => [...declared(one, 'oasf', 'skills'), ...declared(one, 'oasf', 'domains')].length > 0],
  [{ hasEndpoints: false }, (one) => !endpoint(one, 'web') && !endpoint(one, 'mcp') && !endpoint(one, 'a2a')],
  [{ mcpContains: 'agent.example' }, (one) => says(endpoint(one, 'mcp'), 'agent.example')],
  [{ a2aContains: 'agent.example' }, (one) => says(endpoint(one, 'a2a'), 'agent.example')],
  [{ webContains: '100%' }, (one) => says(endpoint(one, 'web'), '100%')],
  [{ a2aSkills: ["o'clock"] }, (one) => declared(one, 'a2a', 'skills').includes("o'clock")],
  [{ mcpTools: ['tell', 'none'] }, (one) => declared(one, 'mcp', 'tools').includes('tell')],
  [{ mcpPrompts: ['Greet'] }, (one) => declared(one, 'mcp', 'prompts').includes('Greet')],
  [{ mcpResources: ['file://x'] }, (one) => declared(one, 'mcp', 'resources').length > 0],
  [{ oasfSkills: ['nlp/summarization'] }, (one) => declared(one, 'oasf', 'skills').length > 0],
  [{ oasfDomains: ['law'] }, (one) => declared(one, 'oasf', 'domains').includes('law')],
  [
    { registeredAtFrom: at + 600, registeredAtTo: at + 1_200 },
    ({ createdAt }) => createdAt >= at + 600 && createdAt <= at + 1_200,
  ],
  [{ updatedAtFrom: at + 86_400 + 1_800 }, (one) => movedAt(one) >= at + 86_400 + 1_800],
  [{ updatedAtFrom: at + 201_000 }, (one) => movedAt(one) >= at + 201_000],
  [{ hasMetadataKey: 'category' }, ({ metadata }) => metadata.category],
  [{ metadataValue: { key: 'category', value: "it's" } }, ({ metadata }) => metadata.category === "it's"],
  [{ feedback: { hasFeedback: true } }, (one) => standing(one).length > 0],
  [{ feedback: { hasNoFeedback: true } }, (one) => standing(one).length === 0],
  [{ feedback: { minCount: 2 } }, (one) => standing(one).length >= 2],
  [
    { feedback: { minValue: 30, tag: 'starred' } },
    (one) => mean(standing(one).filter(({ tag1, tag2 }) => [tag1, tag2].includes('starred'))) >= 30,
  ],
  [
    { feedback: { fromReviewers: [addressOf('client 3')], includeRevoked: true } },
    ({ feedback }) => feedback.some(({ client }) => client === addressOf('client 3')),
  ],
  [
    { feedback: { endpoint: 'a2a.EXAMPLE' } },
    (one) => standing(one).some((given) => says(given.endpoint, 'a2a.example')),
  ],
  [{ feedback: { hasResponse: true } }, (one) => standing(one).some(({ responses }) => responses.length > 0)],
]

test.each(searches)('searchAgents %j finds as many as there are', async (filters, fits) => {
  const found = await sdk.searchAgents({ chains: [8453], ...filters })
  const chain = 'chains' in filters ? 'celo' : 'base'
  const expected = world.filter((agent) => agent.chain === chain && agent.file !== null && fits(agent)).map(idOf)
  expect(expected.length).toBeGreaterThan(0)
  expect(found.map(({ agentId }) => agentId).sort()).toEqual(expected.sort())
})

test.each(['createdAt', 'updatedAt', 'name', 'chainId', 'lastActivity', 'feedbackCount'])(
  'searchAgents in the order of %s finds all, on several chains, each once',
  async (sort) => {
    for (const direction of ['asc', 'desc']) {
      const found = await sdk.searchAgents({ chains: [1, 8453, 42220] }, { sort: [`${sort}:${direction}`] })
      const expected = world.filter(({ file }) => file !== null).map(idOf)
      expect(found.map(({ agentId }) => agentId).sort()).toEqual(expected.sort())
    }
  },
)

test('getAgent, searchFeedback and getReputationSummary answer as the world is', async () => {
  const agent = world.find((one) => standing(one).length === 2 && one.file?.name) as WorldAgent
  expect(await sdk.getAgent(idOf(agent))).toMatchObject({
    agentId: idOf(agent),
    name: agent.file?.name,
    feedbackCount: 2,
  })
  expect(await sdk.getAgent('8453:987654321')).toBe(null)
  expect(await sdk.searchFeedback({ agents: [idOf(agent)] })).toHaveLength(2)
  const given = world.filter(({ chain }) => chain === 'base').flatMap(standing)
  const byTag = given.filter(({ tag1, tag2 }) => [tag1, tag2].includes('week'))
  expect(await sdk.searchFeedback({ tags: ['week'] })).toHaveLength(byTag.length)
  const by = given.filter((one) => one.client === addressOf('client 4') && value(one) >= 10)
  expect(await sdk.searchFeedback({ reviewers: [addressOf('client 4')] }, { minValue: 10 })).toHaveLength(by.length)
  const summary = await sdk.getReputationSummary(idOf(agent))
  expect(summary).toEqual({ count: 2, averageValue: Math.round(mean(standing(agent)) * 100) / 100 })
})
