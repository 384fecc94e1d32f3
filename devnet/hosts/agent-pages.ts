import { chains, type DefaultChain } from '../../config/chains.ts'
import { pictureOf } from './picture.ts'
import type { Page, Pages } from './web-host.ts'

interface PublishedAgent {
  readonly name: string
  readonly description: string
  /** Base URL of the host these pages are for. */
  readonly url: string
  /** Content of its registration file. */
  readonly registration: object
  readonly tokens: readonly { readonly chain: DefaultChain; readonly agentId: bigint | number }[]
  /** Whether it takes x402 payments: it then publishes a manifest and a price, and its MCP server answers 401. */
  readonly x402: boolean
  /** Whether its agent card can be read while nobody answers at the address in it. */
  readonly deaf?: boolean
}

/** What an agent that takes itself seriously publishes on its own host. */
export function pagesOf(agent: PublishedAgent): Pages {
  const pages: Pages = new Map()
  pages.set('/', { body: `<!doctype html><title>${escaped(agent.name)}</title><p>${escaped(agent.description)}` })
  pages.set('/avatar.png', { headers: { 'content-type': 'image/png' }, body: pictureOf(agent.name) })
  pages.set('/.well-known/agent-registration.json', { body: { ...agent.registration, registrations: tokensOf(agent) } })
  pages.set('/.well-known/agent-card.json', { body: cardOf(agent) })
  pages.set('/openapi.json', { body: openApiOf(agent) })
  pages.set('/mcp', (method, body) => answerMcp(agent, method, body))
  if (!agent.deaf) pages.set('/a2a', (method, body) => answerTask(method, body))
  if (!agent.x402) return pages
  pages.set('/.well-known/x402', { body: manifestOf(agent) })
  for (const path of sold) pages.set(path, { status: 402, body: { x402Version: 2, error: 'pay', accepts: [] } })
  return pages
}

function tokensOf({ tokens }: PublishedAgent) {
  return tokens.map(({ chain, agentId }) => ({
    agentId: Number(agentId),
    agentRegistry: `eip155:${chains[chain].id}:${chains[chain].registry.address}`,
  }))
}

function cardOf({ name, description, url }: PublishedAgent) {
  return {
    protocolVersion: '0.3.0',
    name,
    description,
    url: `${url}/a2a`,
    preferredTransport: 'JSONRPC',
    version: '1.0.0',
    capabilities: { streaming: false },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [
      { id: 'answer', name: 'Answer questions', description: 'Answers what it is asked.', tags: ['text'] },
      { id: 'quote', name: 'Quote a price', description: 'Says what an answer costs.', tags: ['x402'] },
    ],
  }
}

function openApiOf({ name, description, url, x402 }: PublishedAgent) {
  const answer = { responses: { 200: { description: 'An answer.' }, 402: { description: 'Payment is required.' } } }
  return {
    openapi: '3.1.0',
    info: { title: `${name} API`, version: '1.0.0', description },
    servers: [{ url }],
    paths: { '/answer': { get: x402 ? { ...answer, 'x-payment-info': price } : answer }, '/quote': { get: answer } },
  }
}

const price = { price: { mode: 'fixed', currency: 'USD', amount: '0.010000' }, protocols: [{ x402: {} }] }

const sold = ['/answer', '/quote']

function manifestOf({ url }: PublishedAgent) {
  return { version: 1, x402Version: 2, resources: sold.map((path) => `${url}${path}`), ownershipProofs: [] }
}

/** An agent of A2A 0.3 that has no tasks. */
function answerTask(method: string, body: string): Page {
  const { method: asked, id = null } = requestOf(body)
  if (method !== 'POST') return { status: 405, headers: { allow: 'POST' }, body: { error: 'Method Not Allowed' } }
  const error = asked === 'tasks/get' ? { code: -32001, message: 'Task not found' } : { code: -32601, message: 'no' }
  return { body: { jsonrpc: '2.0', id, error } }
}

/** A server of an older revision that says who it is and what it can do; a request that is not JSON-RPC is refused. */
function answerMcp({ name, x402 }: PublishedAgent, method: string, body: string): Page {
  if (method !== 'POST') return { status: 405, headers: { allow: 'POST' }, body: { error: 'Method Not Allowed' } }
  if (x402) return { status: 401, headers: { 'www-authenticate': 'Bearer' }, body: { error: 'unauthorized' } }
  const { method: asked, id } = requestOf(body)
  if (asked === 'notifications/initialized') return { status: 202, body: '' }
  const results: Record<string, unknown> = {
    initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name, version: '1.0.0' } },
    'tools/list': { tools: tools.map((tool) => ({ ...tool, inputSchema: { type: 'object' } })) },
  }
  const result = results[String(asked)]
  if (result === undefined || id === undefined)
    return { status: 400, body: { jsonrpc: '2.0', id: null, error: { code: -32600, message: 'no' } } }
  return { body: { jsonrpc: '2.0', id, result } }
}

const tools = [
  { name: 'answer', description: 'Answers what it is asked.' },
  { name: 'quote', description: 'Says what an answer costs.' },
]

function requestOf(body: string): { method?: unknown; id?: unknown } {
  try {
    return JSON.parse(body) ?? {}
  } catch {
    return {}
  }
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
