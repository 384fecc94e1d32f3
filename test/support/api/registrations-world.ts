import { createHash } from 'node:crypto'
import type pg from 'pg'
import type { ChainName } from '../../../config/chains.ts'
import { keyDigest } from '../../../db/registry-keys.ts'
import { derivations } from '../../../derive/derivations.ts'
import { settle } from '../../../derive/pass.ts'
import { addressOf, hashOf } from '../seed.ts'

// Registrations of three chains with files, feedback, responses and metadata, as objects and in the database: what a
// search finds can be counted in the objects.

export interface WorldAgent {
  readonly chain: ChainName
  readonly chainId: number
  readonly id: string
  readonly owner: string
  readonly operators: readonly string[]
  readonly wallet: string | null
  readonly uri: string | null
  readonly createdAt: number
  readonly updatedAt: number
  readonly file: WorldFile | null
  readonly metadata: Readonly<Record<string, string>>
  readonly feedback: readonly WorldFeedback[]
}

interface WorldFile {
  readonly name: string | null
  readonly description: string | null
  readonly active: boolean | null
  readonly x402: boolean | null
  readonly trusts: readonly string[]
  readonly services: readonly WorldService[]
}

interface WorldService {
  readonly name: string
  readonly endpoint: string
  readonly version: string | null
  readonly declared?: Readonly<Record<string, readonly string[]>>
}

interface WorldFeedback {
  readonly client: string
  readonly index: number
  readonly value: number
  readonly decimals: number
  readonly tag1: string
  readonly tag2: string
  readonly endpoint: string
  readonly createdAt: number
  readonly revokedAt: number | null
  readonly responses: readonly string[]
}

const pick = <T>(list: readonly T[], n: number) => list[n % list.length] as T
const begin = Date.UTC(2026, 2, 1) / 1_000
const ofChain = { base: 8453, celo: 42220, ethereum: 1 } as const

function serviceOf(name: string, n: number): WorldService {
  const words: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
    MCP: {
      tools: pick([['ask'], ['tell', 'ask'], []], n),
      prompts: pick([['Greet'], []], n >> 1),
      resources: ['file://x'],
    },
    A2A: { skills: pick([['Sum'], ["o'clock", 'Sum']], n) },
    OASF: { skills: pick([['nlp/summarization'], []], n), domains: pick([['finance'], [], ['law']], n) },
  }
  const declared = words[name]
  const endpoint = pick([`https://${name}.example/${n}`, `HTTPS://Agent.EXAMPLE/${name}/100%_${n}`], n)
  return { name, endpoint, version: pick(['1', null], n), ...(declared && { declared }) }
}

function agentOf(n: number): WorldAgent {
  const chain = n < 1_150 ? 'base' : pick(['celo', 'ethereum'] as const, n)
  const names = ['MCP', 'a2a', 'A2A', 'web', 'OASF', 'ENS', 'did', 'email'].filter(
    (_, place) => ((n * 37) >> place) & 1,
  )
  const file: WorldFile = {
    name: pick(['Ada Lovelace', '100% Ada_', 'Träumer', null], n),
    description: pick(['Counts things.', 'Writes about ADA.', null], n >> 1),
    active: pick([true, false, null], n),
    x402: pick([true, null, false], n >> 2),
    trusts: pick([['reputation'], ['Reputation', 'tee-attestation'], []], n),
    services: names.map((name) => serviceOf(name, n)),
  }
  return {
    chain,
    chainId: ofChain[chain],
    id: `${n % 70 ? n : 2n ** 200n + BigInt(n)}`,
    owner: addressOf(`owner ${n % 7}`),
    operators: operatorsOf(chain, n),
    wallet: pick([addressOf(`wallet ${n % 5}`), null], n),
    uri: pick([`https://agent.example/${n}`, `ipfs://Qm${'a'.repeat(44)}`, 'data:application/json,{}'], n),
    createdAt: begin + (n % 40) * 60,
    updatedAt: begin + 86_400 + (n % 53) * 60,
    file: n % 5 ? file : null,
    metadata: { ...(n % 3 && { category: pick(['defi', 'Art', "it's"], n) }), ...(n % 400 === 0 && { rare: 'yes' }) },
    feedback: Array.from({ length: n % 4 }, (_, index) => feedbackOf(n, index + 1)),
  }
}

/** What owners said of operators, in its order: on one chain only, and taken back. */
const named: readonly { chain: ChainName; owner: number; approved: boolean }[] = [
  { chain: 'base', owner: 1, approved: true },
  { chain: 'base', owner: 2, approved: true },
  { chain: 'base', owner: 2, approved: false },
  { chain: 'celo', owner: 3, approved: true },
]
/** Who is approved for a registration; of the others of these, a transfer or another approval came later. */
const approvedFor = (n: number) => (n % 11 ? null : addressOf(pick(['operator 1', ...Array(4).fill('operator 2')], n)))
const isTransferred = (n: number) => n % 2 === 0
const isTakenBack = (n: number) => n % 3 === 0

function operatorsOf(chain: ChainName, n: number): string[] {
  const last = named.filter((one) => one.chain === chain && one.owner === n % 7).at(-1)
  const approved = isTransferred(n) || isTakenBack(n) ? null : approvedFor(n)
  return [...new Set([last?.approved ? addressOf('operator 1') : null, approved])].filter((one) => one !== null).sort()
}

function feedbackOf(n: number, index: number): WorldFeedback {
  const at = n * 10 + index
  return {
    client: addressOf(`client ${at % 11}`),
    index,
    value: ((at * 7) % 200) - 50,
    decimals: at % 3,
    tag1: pick(['starred', 'uptime', ''], at),
    tag2: pick(['', 'week', 'starred'], at >> 1),
    endpoint: pick(['', 'https://A2A.example/x'], at),
    createdAt: begin + 200_000 + n * 2,
    revokedAt: at % 9 === 0 ? begin + 300_000 : null,
    responses: at % 4 === 0 ? [`https://answers.example/${at}`] : [],
  }
}

const bytes = (hex: string | null) => hex && `\\x${hex.slice(2)}`
const time = (seconds: number | null) => seconds && new Date(seconds * 1_000).toISOString()
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

async function insertAll(pool: pg.Pool, table: string, rows: readonly Record<string, unknown>[]): Promise<void> {
  const columns = Object.keys(rows[0] ?? {}).map((name) => `"${name}"`)
  await pool.query(
    `insert into ${table} (${columns.join(', ')}) select ${columns.join(', ')} from json_populate_recordset(null::${table}, $1)`,
    [JSON.stringify(rows)],
  )
}

const registrationRow = ({ chain, id, owner, wallet, uri, createdAt, updatedAt }: WorldAgent) => ({
  id: `${chain}-${id}`,
  chain,
  agent_id: id,
  owner: bytes(owner),
  burned: false,
  agent_wallet: bytes(wallet),
  agent_uri: uri,
  agent_uri_length: uri?.length ?? null,
  registered_block: 100,
  registered_at: time(createdAt),
  registered_tx: bytes(hashOf(`mint ${chain} ${id}`)),
  acquired_block: 100,
  acquired_at: time(createdAt),
  updated_block: 100,
  updated_at: time(updatedAt),
})

const documentRow = ({ chain, id, uri, file }: WorldAgent) => ({
  chain,
  agent_id: id,
  uri_sha256: `\\x${sha256(uri ?? '')}`,
  uri_status: 'ok',
  name: file?.name,
  description: file?.description,
  active: file?.active,
  x402_support: file?.x402,
  services: file?.services ?? [],
  supported_trust: file?.trusts ?? [],
  updated_at: time(begin),
})

const feedbackRow = ({ chain, id }: WorldAgent, given: WorldFeedback) => ({
  id: `${chain}-${id}-${given.client}-${given.index}`,
  chain,
  agent_id: id,
  client: bytes(given.client),
  feedback_index: given.index,
  value: given.value,
  value_decimals: given.decimals,
  tag1: given.tag1,
  tag2: given.tag2,
  endpoint: given.endpoint,
  feedback_uri: '',
  feedback_hash: bytes(hashOf('none')),
  block_number: given.createdAt - begin,
  log_index: given.index,
  block_timestamp: time(given.createdAt),
  tx_hash: bytes(hashOf(`feedback ${id}`)),
  revoked_block: given.revokedAt && given.revokedAt - begin,
  revoked_at: time(given.revokedAt),
})

const responseRow = ({ chain, id }: WorldAgent, given: WorldFeedback, uri: string) => ({
  id: `${chain}-${id}-${given.index}-${uri}`,
  chain,
  agent_id: id,
  client: bytes(given.client),
  feedback_index: given.index,
  responder: bytes(addressOf('responder')),
  response_uri: uri,
  response_hash: bytes(hashOf(uri)),
  block_number: given.createdAt - begin + 10,
  log_index: 1,
  block_timestamp: time(given.createdAt + 10),
  tx_hash: bytes(hashOf(`response ${id}`)),
})

const metadataRow = ({ chain, id, updatedAt }: WorldAgent, [key, value]: [string, string]) => ({
  id: `${chain}-${id}-${keyDigest(key)}`,
  chain,
  agent_id: id,
  key,
  value: `\\x${Buffer.from(value).toString('hex')}`,
  block_number: 100,
  log_index: 1,
  block_timestamp: time(updatedAt),
  tx_hash: bytes(hashOf(`${key} of ${id}`)),
})

const event = (chain: ChainName, block_number: number, log_index: number) => ({
  id: `${chain}-${block_number}-${log_index}`,
  chain,
  block_number,
  log_index,
  block_timestamp: time(begin + block_number),
  tx_hash: bytes(hashOf(`event ${block_number} ${log_index}`)),
})

async function seedOperators(pool: pg.Pool, agents: readonly WorldAgent[]): Promise<void> {
  await insertAll(
    pool,
    'registration_operator',
    named.map(({ chain, owner, approved }, place) => ({
      ...event(chain, 101, place),
      owner: bytes(addressOf(`owner ${owner}`)),
      operator: bytes(addressOf('operator 1')),
      approved,
    })),
  )
  const approvals = agents.flatMap(({ chain, id, owner }, n) => {
    const approved = approvedFor(n)
    const row = { agent_id: id, owner: bytes(owner) }
    if (approved === null) return []
    return [
      { ...event(chain, 101, n), ...row, approved: bytes(approved) },
      ...(isTakenBack(n) ? [{ ...event(chain, 102, n), ...row, approved: null }] : []),
    ]
  })
  await insertAll(pool, 'registration_approval', approvals)
  const moved = agents.flatMap(({ chain, id, owner }, n) =>
    approvedFor(n) !== null && isTransferred(n)
      ? [{ ...event(chain, 103, n), agent_id: id, from: bytes(addressOf('before')), to: bytes(owner) }]
      : [],
  )
  await insertAll(pool, 'registration_transfer', moved)
}

/** Stores them, and derives what the search reads. More than a page of a thousand are on Base. */
export async function seedRegistrations(pool: pg.Pool): Promise<WorldAgent[]> {
  const agents = Array.from({ length: 1_250 }, (_, n) => agentOf(n))
  const given = agents.flatMap((agent) => agent.feedback.map((one) => [agent, one] as const))
  await insertAll(pool, 'registration', agents.map(registrationRow))
  await seedOperators(pool, agents)
  await insertAll(pool, 'registration_document', agents.filter(({ file }) => file).map(documentRow))
  await insertAll(
    pool,
    'registration_metadata',
    agents.flatMap((agent) => Object.entries(agent.metadata).map((entry) => metadataRow(agent, entry))),
  )
  await insertAll(
    pool,
    'feedback',
    given.map(([agent, one]) => feedbackRow(agent, one)),
  )
  const revoked = given.filter(([, { revokedAt }]) => revokedAt !== null)
  await insertAll(
    pool,
    'registry_event',
    revoked.map(([{ chain, id }, { revokedAt, client, index }], n) => ({
      ...event(chain, Number(revokedAt) - begin, n),
      agent_id: id,
      event: 'FeedbackRevoked',
      account: bytes(client),
      feedback_index: index,
    })),
  )
  const answers = given.flatMap(([agent, one]) => one.responses.map((uri) => responseRow(agent, one, uri)))
  await insertAll(pool, 'feedback_response', answers)
  await settle(
    derivations.filter(({ kind }) => kind === 'searched registrations' || kind === 'declarations'),
    { pool, now: () => new Date(), settlementOverloads: 'spec' },
  )
  return agents
}
