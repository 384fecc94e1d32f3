import { isSameSite } from '../../../config/platforms.ts'
import type { SpecDetails } from '../../../db/queries/sources/agent-specs.ts'
import { HostClosed } from '../../../hosts/host.ts'
import { DoorError } from '../../../net/errors.ts'
import { maxUrlLength } from '../../../net/target.ts'
import type { AgentHosts } from '../../agent-hosts.ts'
import { type Candidate, placeOf } from '../candidates.ts'
import { isOfContent, isOutOfReach, type SpecStatus, statusOf } from '../check-status.ts'
import type { SpecKind } from '../kinds.ts'
import { askServer } from '../mcp/session.ts'
import { countedHosts, RequestsSpent } from '../spec-requests.ts'
import { type Answered, askForTask, askOptions, type Interface } from './task.ts'

/** Kinds of documents that lead to a place; a web page is the place itself. */
type DescribedKind = Exclude<SpecKind, 'web'>

/** Asks a place of one kind; throws what a request throws. */
const asking: Record<DescribedKind, (hosts: AgentHosts, url: URL, at: Interface) => Promise<Answered | undefined>> = {
  a2a: askForTask,
  async mcp(hosts, url) {
    const { status: code, latencyMs } = await askServer(hosts, url)
    return { code, latencyMs }
  },
  /** The 402 itself. What sells in another way than by GET is asked with an empty object; nothing is ever paid. */
  async x402(hosts, url, { binding }) {
    const way = (binding ?? 'GET').toUpperCase()
    if (way !== 'GET' && way !== 'POST') return undefined
    const headers = { accept: 'application/json', ...(way === 'POST' && { 'content-type': 'application/json' }) }
    const { status, elapsedMs } = await hosts.fetch(url, {
      ...askOptions,
      headers,
      method: way,
      ...(way === 'POST' && { body: '{}' }),
    })
    return { code: statusOf(status) ?? 'schema_mismatch', latencyMs: Math.round(elapsedMs) }
  },
  /** Whoever answers at all is there: nothing need lie at the base address of an API. */
  async openapi(hosts, url) {
    const { status, elapsedMs } = await hosts.fetch(url, { ...askOptions, headers: { accept: 'application/json' } })
    const code = statusOf(status)
    const isThere = code === 'http_4xx' || code === 'not_found' || code === undefined
    return { code: isThere ? 'ok' : code, latencyMs: Math.round(elapsedMs) }
  },
}

interface AnswersOptions {
  readonly hosts: AgentHosts
  /** Whether a host may be asked once more. */
  readonly spend: (host: string) => boolean
}

/** A check of a document. */
interface Checked {
  readonly candidate: Candidate
  readonly status: SpecStatus
  readonly latencyMs: number | null
}

type Answers = (check: Checked, details: SpecDetails | undefined) => Promise<Answered | undefined>

/**
 * Creates the function that asks what a document describes, each place once: several documents may name the same. Places
 * on another site are not asked: whoever writes a document must not make us send anything to others.
 * `details`: what the document says, or said when it was read last. Undefined: it could not be asked this time. A check that
 * asked the endpoint itself, or got no document, is the answer.
 */
export function createAnswers({ hosts, spend }: AnswersOptions): Answers {
  const counted = countedHosts(hosts, spend)
  const asked = new Map<string, Promise<Answered | undefined>>()

  async function ask(kind: DescribedKind, url: URL, at: Interface): Promise<Answered | undefined> {
    try {
      return (await asking[kind](counted, url, at)) ?? notAsked
    } catch (error) {
      if (error instanceof HostClosed || error instanceof RequestsSpent) return undefined
      if (isOfContent(error)) {
        process.emitWarning(error)
        return { code: 'schema_mismatch', latencyMs: null }
      }
      if (!(error instanceof DoorError) || error.checkStatus === null) throw error
      return { code: error.checkStatus, latencyMs: null }
    }
  }

  return async ({ candidate, status, latencyMs }, details) => {
    const { kind, url, session } = candidate
    const itself = { code: status, latencyMs }
    if (kind === 'web') return itself
    if (session) asked.set(placeOf(candidate), Promise.resolve(itself))
    const isFinal = session || isOutOfReach(status) || status === 'auth_required' || status === 'payment_required'
    if (isFinal || (status !== 'ok' && !details)) return itself
    const places = details?.interfaces ?? []
    // A description without a server is one of the API next to it, which has just answered.
    if (places.length === 0) return kind === 'openapi' ? itself : notAsked
    const at = places.find((place) => addressOf(place, url) !== undefined && isSpoken(kind, place))
    if (!at) return notAsked
    const place = hosts.secured(addressOf(at, url)!)
    const key = placeOf({ kind, url: place })
    const answer = asked.get(key) ?? ask(kind, place, at)
    asked.set(key, answer)
    return answer
  }
}

const notAsked: Answered = { code: 'not_asked', latencyMs: null }

/** Where a place is; undefined: a template, on another site than the document, or no address that can be asked. */
function addressOf({ url }: Interface, document: URL): URL | undefined {
  const place = /[{}]|\/:/.test(url.replace('://', '')) ? null : URL.parse(url, document.href)
  return place && place.username === '' && place.href.length <= maxUrlLength && isSameSite(document, place)
    ? place
    : undefined
}

function isSpoken(kind: DescribedKind, { binding }: Interface): boolean {
  return kind !== 'a2a' || !/grpc/i.test(binding ?? '')
}
