import type { Fetched } from '../../net/door.ts'
import { DoorError } from '../../net/errors.ts'
import { parseJson } from '../../net/json.ts'
import { second } from '../../ops/time.ts'
import { type AgentHosts, conditionsOf, type Version, versionOf } from '../agent-hosts.ts'
import { type Form, parseForm } from './form.ts'
import type { Gateways } from './gateways.ts'
import { maxDocumentBytes, type RegistrationFile, toRegistrationFile } from './registration-file.ts'

interface ResolverOptions {
  readonly hosts: AgentHosts
  readonly gateways: Gateways
  /** Base address of an Arweave gateway. */
  readonly arweaveUrl: string
  /** Milliseconds until an agent's host or the Arweave gateway must have answered. Default: 10 s. */
  readonly timeoutMs?: number
}

/**
 * Result of resolving an agentURI. `settled`: the URI is immutable, because it holds the content or was shown to
 * name it by its hash; it need not be read again. (An Arweave gateway is trusted.)
 */
type Resolved =
  | { readonly status: 'ok'; readonly file: RegistrationFile; readonly settled: boolean; readonly version?: Version }
  /** The host answered 304: the document is the known version. */
  | { readonly status: 'unchanged' }
  /** The URI or the file itself shows that there is nothing to read. */
  | { readonly status: 'empty' | 'unsupported' | 'invalid'; readonly settled: boolean }
  /** No file this time: there was no answer, or the answer is not a registration file. */
  | { readonly status: 'failed'; readonly word: 'unreachable' | 'invalid'; readonly reason: string }

export type Resolve = (uri: string, known?: Version) => Promise<Resolved>

const redirects = 3

/** Creates the function that resolves agentURIs. It throws HostClosed when the document's host may not be asked now. */
export function createResolver({ hosts, gateways, arweaveUrl, timeoutMs = 10 * second }: ResolverOptions): Resolve {
  return async (uri, known) => {
    const form = parseForm(uri)
    if (form.kind === 'nothing') return { status: form.status, settled: true }
    if (form.kind === 'inline') return inline(form.bytes)
    try {
      if (form.kind === 'web') return remote(await fetchForm(form, known), false, known)
      if (form.kind === 'arweave') return remote(await fetchForm(form, undefined), true)
      const content = await gateways.read(form, form.gateway)
      return content ? remote(content.fetched, content.proven) : failed('unreachable', 'no gateway has it')
    } catch (error) {
      if (!(error instanceof DoorError)) throw error
      const answered = ['not_json', 'too_large', 'encoded'].includes(error.reason)
      return failed(answered ? 'invalid' : 'unreachable', error.message)
    }
  }

  function fetchForm(form: Extract<Form, { kind: 'web' | 'arweave' }>, known: Version | undefined) {
    const options = { maxBytes: maxDocumentBytes, timeoutMs, redirects }
    if (form.kind === 'web') return hosts.fetch(form.url, { ...options, headers: conditionsOf(known) })
    // A gateway redirects each transaction to a subdomain of its own.
    const mayRedirect = (from: URL, to: URL) => to.host === from.host || to.hostname.endsWith(`.${from.hostname}`)
    // Anybody can name a transaction that nobody has: that must not close the gateway for the others.
    return hosts.fetch(new URL(`${arweaveUrl}${form.path}`), { ...options, mayRedirect, mayTimeOut: true })
  }
}

function inline(bytes: Uint8Array): Resolved {
  try {
    return read(parseJson(bytes), true) ?? { status: 'invalid', settled: true }
  } catch (error) {
    if (!(error instanceof DoorError)) throw error
    return { status: 'invalid', settled: true }
  }
}

/** Reads an answer; `sent`: the version that the request asked about, without which a host's 304 says nothing. */
function remote(fetched: Fetched, settled: boolean, sent?: Version): Resolved {
  const { status, body, url } = fetched
  if (status === 304 && (sent?.etag || sent?.lastModified)) return { status: 'unchanged' }
  if (status !== 200) return failed('unreachable', `${url} answers ${status}`)
  const resolved = read(parseJson(body), settled)
  if (!resolved) return failed('invalid', `${url} sends JSON that is no registration file`)
  return resolved.status === 'ok' ? { ...resolved, version: versionOf(fetched) } : resolved
}

/** Reads a JSON value as a registration file; `{}` is an empty one; undefined: not a registration file. */
function read(value: unknown, settled: boolean): Extract<Resolved, { settled: boolean }> | undefined {
  const file = toRegistrationFile(value)
  if (file) return { status: 'ok', file, settled }
  const isEmpty = typeof value === 'object' && value !== null && Object.keys(value).length === 0
  return isEmpty ? { status: 'empty', settled } : undefined
}

function failed(word: 'unreachable' | 'invalid', reason: string): Resolved {
  return { status: 'failed', word, reason }
}
