import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { chainNames, chainOf } from '../../config/chains.ts'
import { samples } from '../../db/contract/questions.ts'
import { createPool } from '../../db/pool.ts'
import { readJoinProgress } from '../../db/queries/agents/progress.ts'
import { installAgent0 } from '../support/api/agent0-sdk.ts'
import { idOf, searchesFor } from '../support/api/agent0-searches.ts'
import type { WorldAgent } from '../support/api/registrations-world.ts'
import { registerSought } from '../support/api/sought-registration.ts'
import { storedRegistrations } from '../support/api/stored-registrations.ts'
import { type Devnet, type DevnetProcess, devnetReadyMs, payByHand, startDevnet } from '../support/devnet.ts'
import { runMain } from '../support/mains.ts'
import { descendantsOf, stillRunning } from '../support/processes.ts'
import { until } from '../support/until.ts'

/** Timeout from a block to the API; the promise is ten seconds, on a machine that does nothing else. */
const visibleMs = 60_000

/** Questions whose answer may be empty in the local world, by words of their titles. */
const mayHaveNone = new RegExp(
  [
    'paid less often|went from one agent|changed hands|hold a week ago|written on chain|trust models|payers do agents 1 and 2 share',
    'more than one account|address was one address|edges does|claims stand|claims of agent|responded|was said last',
    'did one address pay|one address receive day by day|paid it before|never paid|ten thousand|facilitators settled',
    'descriptions on|hosts of agent|client of identity 1|label the addresses|names is agent|asks for|code accounts|loads of backfills|certified',
  ].join('|'),
)

const folder = mkdtempSync(join(tmpdir(), 'start-test-'))
chmodSync(folder, 0o755) // as root the database runs as another user, who has to reach its data
const running: ChildProcess[] = []
afterAll(async () => {
  const left = running.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)
  for (const child of left) child.kill('SIGINT')
  await Promise.all(left.map((child) => once(child, 'exit')))
  rmSync(folder, { recursive: true, force: true })
})

/** The port that the API is to have, and somebody else has. */
let taken: number
const occupant = createServer()
beforeAll(async () => {
  await once(occupant.listen(0, '127.0.0.1'), 'listening')
  taken = (occupant.address() as AddressInfo).port
})
afterAll(() => void occupant.close())

function start() {
  const devnet = startDevnet(folder, { PORT: String(taken) })
  running.push(devnet.child)
  return devnet
}

const ended = (child: ChildProcess) => expect.poll(() => child.exitCode ?? child.signalCode).not.toBe(null)

const devnet = () => first.world()

async function get<T>(path: string): Promise<{ status: number; body: T }> {
  const response = await fetch(`${devnet().api}${path}`)
  return { status: response.status, body: (await response.json()) as T }
}

interface Settlements {
  readonly settlements: { tx_hash: string; chain: string; amount_usdc: number; recipient_address: string }[]
}

let first: DevnetProcess
/** Addresses whose payments from before the start were not counted yet when the local world reported ready. */
let uncountedAtReady: number
beforeAll(async () => {
  const countedUntil = new Date()
  first = start()
  await first.untilReady()
  const pool = createPool({ databaseUrl: devnet().database_url, name: 'test', max: 1 })
  uncountedAtReady = (await readJoinProgress(pool, { fids: [], countedUntil })).uncounted
  await pool.end()
}, devnetReadyMs)

describe('once it says ready', () => {
  test('the last line is the address of the API, and devnet.json describes the world', () => {
    const file = devnet()
    expect(first.output().trim().split('\n').at(-1)).toBe(`ready ${file.api}`)
    expect(Object.keys(file)).toEqual([
      'api',
      'site',
      'graphql',
      'database_url',
      'chains',
      'hub',
      'explorer',
      'identity',
      'codehost',
      'agent_hosts',
      'funder_private_key',
      'agents',
    ])
    expect(Object.keys(file.chains)).toEqual(chainNames)
    for (const name of chainNames) {
      expect(file.chains[name]).toMatchObject({ chain_id: chainOf(name).id, registry: chainOf(name).registry.address })
    }
    expect(file.agents.length).toBeGreaterThanOrEqual(40)
    for (const { addresses, app_keys } of file.agents) {
      for (const { address, private_key } of addresses) {
        expect(privateKeyToAccount(private_key).address.toLowerCase()).toBe(address)
      }
      expect(app_keys).toHaveLength(1)
    }
  })

  test.for(['devnet.json', 'devnet.env'])(
    '%s, which has the password of the database, is for its owner alone',
    (name) => {
      expect(statSync(join(folder, name)).mode & 0o077).toBe(0)
    },
  )

  test('a port that others had is named with the one chosen, and a new world is said to be new', () => {
    expect(readFileSync(join(folder, 'devnet.env'), 'utf8')).toContain(`AGENT_DIRECTORY_URL='${devnet().api}'\n`)
    expect(first.output()).toMatch(
      new RegExp(`taken: .*\\b${taken}, so the API is on ${new URL(devnet().api).port}\\b`),
    )
    expect(first.output()).toContain('a new world')
  })

  test('what was paid before the start is counted', () => expect(uncountedAtReady).toBe(0))

  test('agents on all seven chains answer, and their settlements carry all six chains with dollars', async () => {
    const holders = devnet().agents.filter((agent) => agent.chains.length > 0)
    expect(holders.length).toBeGreaterThanOrEqual(40)
    const labels = new Set<string>()
    const paid = new Set<string>()
    for (const { fid, handle, addresses } of holders) {
      const profile = await get<{ fid: number; handle: string; chains: string[]; verified_addresses: string[] }>(
        `/api/agent/${fid}`,
      )
      expect(profile.status).toBe(200)
      expect(profile.body).toMatchObject({ fid, handle })
      for (const { address } of addresses) expect(profile.body.verified_addresses).toContain(address)
      for (const label of profile.body.chains) labels.add(label)
      const { body } = await get<Settlements>(`/api/agent/${fid}/settlements?limit=100`)
      for (const { chain } of body.settlements) paid.add(chain)
    }
    expect([...labels].sort()).toEqual(chainNames.map((name) => chainOf(name).label).sort())
    expect([...paid].sort()).toEqual(chainNames.filter((name) => chainOf(name).tokens.length > 0).sort())
  })

  test('the files under /exports are those of its own folder, and a mirror can start from them', async () => {
    expect(first.output()).toContain(`${devnet().api}/exports/manifest.json`)
    expect(existsSync(join(folder, 'devnet.exports/manifest.json'))).toBe(true)
    const file = join(folder, 'mirror.json')
    const args = ['mirror', '--api', devnet().api, '--file', file, '--from', 'snapshot']
    const { code, stderr } = await runMain('client/main.ts', args)
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^\S+mirror\.json: \d+ agents\n$/)])
    expect(Object.keys(JSON.parse(readFileSync(file, 'utf8')).agents).length).toBeGreaterThanOrEqual(40)
  })

  test('GraphQL answers with the same agents', async () => {
    const response = await fetch(`${devnet().graphql}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: '{ allAgents(first: 100) { totalCount } }' }),
    })
    const { data } = (await response.json()) as { data: { allAgents: { totalCount: number } } }
    expect(data.allAgents.totalCount).toBeGreaterThanOrEqual(40)
    const total = async () => (await get<{ total_agents: number }>('/api/stats')).body.total_agents
    await until('the totals count them', async () => (await total()) >= 40)
  })

  test.each(['base', 'celo'] as const)('a payment on %s is in the API soon after its block', async (name) => {
    const { agents } = devnet()
    const agent = agents[0] as Devnet['agents'][number]
    const recipient = agent.addresses[0]?.address as Hex
    const hash = await payByHand(devnet(), name, recipient, 1_234_567n)
    const find = async () => {
      const { body } = await get<Settlements>(`/api/agent/${agent.fid}/settlements?limit=100`)
      return body.settlements.find(({ tx_hash }) => tx_hash === hash)
    }
    await expect.poll(find, { timeout: visibleMs, interval: 200 }).toMatchObject({
      amount_usdc: 1.234567,
      chain: name,
      recipient_address: recipient,
    })
  })

  test('the login it prints reads the views, and the questions of docs/sql.md have answers', async () => {
    const url = /psql '(.+)'/.exec(first.output())?.[1]
    const reader = new pg.Client({ connectionString: url })
    await reader.connect()
    onTestFinished(() => reader.end())
    const { body } = await get<{ agents: { fid: number }[] }>('/api/leaderboard')
    const fid = body.agents[0]?.fid
    const unanswered = async () => {
      const questions: string[] = []
      for (const { question, sql } of samples) {
        const { rowCount } = await reader.query(sql.replaceAll(/\bfid( = |:| => )1\b/g, `fid$1${fid}`))
        if (rowCount === 0) questions.push(question)
      }
      return questions.filter((question) => !mayHaveNone.test(question))
    }
    await expect.poll(unanswered, { interval: 2_000 }).toEqual([])
  })

  test('what the hub says again is in the API, too', async () => {
    const fid = devnet().agents[1]?.fid
    const body = JSON.stringify({ do: 'profile', fid, displayName: 'Renamed by hand' })
    expect((await fetch(`${devnet().hub}/control`, { method: 'POST', body })).status).toBe(200)
    const name = async () => (await get<{ display_name: string }>(`/api/agent/${fid}`)).body.display_name
    await expect.poll(name, { interval: 500 }).toBe('Renamed by hand')
  })

  test('somebody has tags, identities, a code account and edges, from doubles that devnet.json names', async () => {
    const { agents, ...file } = JSON.parse(readFileSync(join(folder, 'devnet.json'), 'utf8'))
    for (const name of ['explorer', 'identity', 'codehost']) {
      expect((await fetch(`${file[name]}/control`)).status).toBe(200)
    }
    const blocks = async () => {
      const found = new Set<string>()
      for (const { fid } of agents) {
        const { body } = await get<Record<string, unknown[] | object | null>>(`/api/agent/${fid}`)
        for (const block of ['oli_tags', 'agent_identities', 'agent_edges', 'codehost_profiles']) {
          if (Object.keys(body[block] ?? {}).length > 0) found.add(block)
        }
      }
      return [...found].sort()
    }
    const all = ['agent_edges', 'agent_identities', 'codehost_profiles', 'oli_tags']
    await expect.poll(blocks, { interval: 2_000 }).toEqual(all)
    const edges = async () => {
      const found = new Set<string>()
      for (const { fid } of agents) {
        const { body } = await get<{ agent_edges: { kind: string }[] }>(`/api/agent/${fid}`)
        for (const { kind } of body.agent_edges) found.add(kind)
      }
      return [...found].sort()
    }
    const kinds = ['feedback', 'follows', 'settlement', 'shared_host', 'shared_owner']
    await expect.poll(edges, { interval: 2_000 }).toEqual(expect.arrayContaining(kinds))
  })

  test('agent0-sdk, led here by one address, finds by each of its filters what is stored', async () => {
    const { agent0, remove } = await installAgent0()
    onTestFinished(remove)
    const pool = createPool({ databaseUrl: devnet().database_url, name: 'test', max: 1 })
    onTestFinished(() => pool.end())
    const { uri, client } = await registerSought(devnet(), 'base')
    const sought = async () => (await storedRegistrations(pool)).find((one) => one.uri === uri)
    const answered = async () => {
      const one = await sought()
      return (
        one?.operators.length === 1 && one.file !== null && one.feedback.some(({ responses }) => responses.length > 0)
      )
    }
    await expect.poll(answered, { timeout: visibleMs, interval: 500 }).toBe(true)
    const agent = (await sought()) as WorldAgent
    const ids = Object.values(devnet().chains).map(({ chain_id }) => chain_id)
    const subgraphOverrides = Object.fromEntries(ids.map((id) => [id, `${devnet().api}/subgraph/${id}`]))
    const rpcUrl = devnet().chains.base?.rpc
    const sdk = new agent0.SDK({ chainId: agent.chainId, rpcUrl, subgraphOverrides })
    // The world goes on meanwhile: each search has to agree with what is stored at some time.
    let wrong = searchesFor({ agent, client }).map(([filters, fits]) => ({
      filters,
      fits,
      found: [''],
      expected: [''],
    }))
    const stillWrong = async () => {
      const looked = []
      for (const { filters, fits } of wrong) {
        const found = (await sdk.searchAgents({ chains: ids, ...filters })).map(({ agentId }) => agentId)
        const expected = (await storedRegistrations(pool)).filter((one) => one.file !== null && fits(one)).map(idOf)
        looked.push({ filters, fits, found: found.sort(), expected: expected.sort() })
      }
      wrong = looked.filter(
        ({ found, expected }) => !found.includes(idOf(agent)) || JSON.stringify(found) !== JSON.stringify(expected),
      )
      return wrong.map(({ filters, found, expected }) => ({ filters, found, expected }))
    }
    await expect.poll(stillWrong, { timeout: visibleMs, interval: 500 }).toEqual([])
    expect(await sdk.getAgent(idOf(agent))).toMatchObject({
      agentId: idOf(agent),
      name: agent.file?.name,
      feedbackCount: 2,
    })
    expect(await sdk.searchFeedback({ agents: [idOf(agent)] })).toHaveLength(2)
    expect(await sdk.searchFeedback({ reviewers: [client] })).toHaveLength(2)
    expect(await sdk.getReputationSummary(idOf(agent))).toEqual({ count: 2, averageValue: 85 })
  }, 900_000)

  test('a second start in the same folder says so and ends with 1', async () => {
    const second = start()
    await ended(second.child)
    expect(second.child.exitCode).toBe(1)
    expect(second.output()).toContain('it is already running in')
    expect(stillRunning(descendantsOf(first.child.pid as number)).length).toBeGreaterThan(15)
  })

  test('Ctrl-C leaves no process', async () => {
    const all = descendantsOf(first.child.pid as number)
    first.child.kill('SIGINT')
    await ended(first.child)
    expect(first.child.exitCode).toBe(0)
    await expect.poll(() => stillRunning(all)).toEqual([])
    for (const name of ['devnet.json', 'devnet.env']) expect(existsSync(join(folder, name))).toBe(false)
  }, 900_000)
})
