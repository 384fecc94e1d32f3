import { openChains, readChains } from '../../config/chains.file.ts'
import { siteOf } from '../../config/platforms.ts'
import { HostClosed } from '../../hosts/host.ts'
import { createDoor, type Fetched } from '../../net/door.ts'
import { DoorError } from '../../net/errors.ts'
import { createProofWorld } from '../../social/proof-world.ts'
import { type AgentHosts, createAgentHosts } from '../agent-hosts.ts'
import { readConfig } from '../config.ts'
import { createAnswers } from '../specs/answers/answers.ts'
import { toCatalog } from '../specs/catalog.ts'
import { statusOf } from '../specs/check-status.ts'
import { parsed } from '../specs/content.ts'
import { findingsOfDemand } from '../specs/findings/demand.ts'
import { findingsOfAnswer } from '../specs/findings/document.ts'
import { type Finding, finding } from '../specs/findings/finding.ts'
import { type AskedBlock, createOnChain, type Offered, type OnChain } from '../specs/findings/on-chain.ts'
import { maxSpecBytes, readContent, type SpecKind } from '../specs/kinds.ts'
import { askServer } from '../specs/mcp/session.ts'
import { saleIn } from '../specs/prices.ts'
import { specRequests } from '../specs/spec-requests.ts'
import { demandOf } from '../specs/x402.ts'

/** What an endpoint turned out to be. */
interface Examined {
  readonly is: SpecKind | 'catalog' | 'paid endpoint' | 'page' | null
  readonly findings: readonly Finding[]
  /** Blocks that chains were asked at about what it sells. */
  readonly blocks: readonly AskedBlock[]
}

/** What its answer tells, with what it sells. */
type Told = Pick<Examined, 'is' | 'findings'> & { readonly offers?: readonly Offered[] }

const redirects = 3
const kinds = ['x402', 'a2a', 'mcp', 'openapi'] as const
const listPath = '/.well-known/agent-registration.json'

/**
 * Looks at an endpoint now, as any client would: what it is, and what keeps callers or buyers from it. Nothing is called,
 * changed or paid there; at most twelve requests go out.
 */
export async function examine(hosts: AgentHosts, onChain: OnChain, url: URL): Promise<Examined> {
  const named = url.protocol === 'http:' && hosts.secured(url).protocol === 'https:' ? [finding('plain_http')] : []
  try {
    const { is, findings, offers = [] } = await askedBy(hosts, hosts.secured(url))
    const looked = await onChain(offers, { site: siteOf(url) ?? url.host })
    const all = [...named, ...findings, ...looked.findings, ...(await listing(hosts, url))]
    return { is, findings: all, blocks: looked.blocks }
  } catch (error) {
    return { is: null, findings: [...named, ...failure(error)], blocks: [] }
  }
}

async function askedBy(hosts: AgentHosts, url: URL): Promise<Told> {
  const options = { ...specRequests, maxBytes: maxSpecBytes.x402, redirects }
  const answer = await hosts.fetch(url, { ...options, headers: { accept: 'application/json' } })
  const judged = judge(answer, url)
  if (judged) return { ...judged, findings: [...judged.findings, ...(await heard(hosts, url, judged, answer))] }
  // What takes POST alone may want to be paid for it, or be an MCP server.
  const posted = await hosts.fetch(url, {
    ...options,
    redirects: 0,
    method: 'POST',
    body: '{}',
    headers: { accept: 'application/json', 'content-type': 'application/json' },
  })
  if (posted.status === 402) return demanded(posted, url)
  const { status } = await askServer(hosts, url)
  if (status === 'ok') return { is: 'mcp', findings: [] }
  const first = statusOf(answer.status)
  if (first !== undefined && first !== 'payment_required' && first !== 'ok')
    return { is: null, findings: [finding(first, `HTTP ${answer.status}`)] }
  return { is: 'page', findings: [finding(parsed(answer.body) === undefined ? 'not_json' : 'schema_mismatch')] }
}

/** Most requests to what a card leads to. */
const mostRequests = 6

/** Whether somebody answers where a card leads. */
async function heard(hosts: AgentHosts, url: URL, { is }: Told, answer: Fetched): Promise<Finding[]> {
  if (is !== 'a2a' && is !== 'mcp') return []
  let left = mostRequests
  const ask = createAnswers({ hosts, spend: () => left-- > 0 })
  const candidate = { kind: is, url, declared: true, session: false, contradicted: false }
  const check = { candidate, status: 'ok', latencyMs: null } as const
  return findingsOfAnswer(is, (await ask(check, readContent[is](parsed(answer.body))?.details)) ?? null)
}

const demanded = (answer: Fetched, url: URL): Told => {
  const { prices } = saleIn(demandOf(answer))
  return { is: 'paid endpoint', findings: findingsOfDemand(answer, url), offers: prices }
}

/** Undefined: the answer to a GET does not tell. */
function judge(answer: Fetched, url: URL): Told | undefined {
  if (answer.status === 402) return demanded(answer, url)
  if (answer.status === 401) return { is: null, findings: [finding('auth_required')] }
  const value = answer.status === 200 ? parsed(answer.body) : undefined
  if (value === undefined) return undefined
  const is = kinds.find((kind) => readContent[kind](value) !== undefined)
  if (is) return { is, findings: [], offers: saleIn(value, is).prices }
  return toCatalog(value, url) && { is: 'catalog', findings: [] }
}

/** Whether the host says which agents are its own. */
async function listing(hosts: AgentHosts, url: URL): Promise<Finding[]> {
  const place = new URL(listPath, hosts.secured(url))
  try {
    const { status } = await hosts.fetch(place, { ...specRequests, maxBytes: maxSpecBytes.a2a, redirects })
    return status === 200 ? [] : [finding('unlisted', `${place.pathname}: HTTP ${status}`)]
  } catch (error) {
    // What was found at the endpoint itself counts as well without it.
    return failure(error).map(({ code, detail }) => finding('unlisted', `${place.pathname}: ${detail ?? code}`))
  }
}

function failure(error: unknown): Finding[] {
  if (error instanceof HostClosed) return [finding('http_4xx', 'it asks to wait')]
  if (!(error instanceof DoorError) || error.checkStatus === null) throw error
  return [finding(error.reason === 'encoded' ? error.reason : error.checkStatus)]
}

/** Looks at an endpoint by the settings of the environment. */
export async function examineNow(url: URL, env: NodeJS.ProcessEnv) {
  const chains = readChains({ env, file: openChains(env) })
  const { egressAllow, userAgent } = readConfig(env).agentHosts
  const hosts = createAgentHosts({ door: createDoor({ userAgent, egressAllow }), egressAllow, now: () => new Date() })
  const world = createProofWorld(chains)
  const onChain = createOnChain({ nodeOf: world.nodeOf, slot: async () => {}, now: () => new Date() })
  return examine(hosts, onChain, url).finally(() => {
    hosts.host.stop()
    return world.close()
  })
}
