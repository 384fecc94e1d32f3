import type { Fetched } from '../../net/door.ts'
import { DoorError } from '../../net/errors.ts'
import { second } from '../../ops/time.ts'
import { type AgentHosts, conditionsOf, type Version, versionOf } from '../agent-hosts.ts'
import { type Form, parseForm } from './form.ts'
import type { Gateways } from './gateways.ts'
import { maxDocumentBytes } from './registration-file.ts'

export interface ContentOptions {
  readonly hosts: AgentHosts
  readonly gateways: Gateways
  /** Base address of an Arweave gateway. */
  readonly arweaveUrl: string
  /** Milliseconds until an agent's host or the Arweave gateway must have answered. Default: 10 s. */
  readonly timeoutMs?: number
}

/**
 * What a URI leads to, as bytes. `settled`: the URI is immutable, because it holds the content or was shown to name it by
 * its hash; it need not be read again. (An Arweave gateway is trusted.)
 */
type Content =
  | {
      readonly status: 'found'
      readonly bytes: Uint8Array
      readonly settled: boolean
      readonly from: string
      /** Whether the address that answered, after all redirects, has the origin of the URI; one of http is asked by https. */
      readonly isOwn: boolean
      readonly version?: Version
    }
  /** The host answered 304: it is the known version. */
  | { readonly status: 'unchanged'; readonly isOwn: boolean }
  /** The URI itself shows that there is nothing to read. */
  | { readonly status: 'nothing'; readonly why: 'empty' | 'unsupported' | 'invalid' }
  /** No content this time: there was no answer, or it may not be read. */
  | { readonly status: 'failed'; readonly word: 'unreachable' | 'invalid'; readonly reason: string }

export type ReadContent = (uri: string, known?: Version) => Promise<Content>

const redirects = 3

/** Creates the function that reads what URIs lead to. It throws HostClosed when the host may not be asked now. */
export function createContents({ hosts, gateways, arweaveUrl, timeoutMs = 10 * second }: ContentOptions): ReadContent {
  return async (uri, known) => {
    const form = parseForm(uri)
    if (form.kind === 'nothing') return { status: 'nothing', why: form.status }
    if (form.kind === 'inline')
      return { status: 'found', bytes: form.bytes, settled: true, from: 'the URI itself', isOwn: false }
    try {
      if (form.kind === 'web')
        return remote(await fetchForm(form, known), { settled: false, sent: known, at: hosts.secured(form.url) })
      if (form.kind === 'arweave') return remote(await fetchForm(form, undefined), { settled: true })
      const content = await gateways.read(form, form.gateway)
      return content ? remote(content.fetched, { settled: content.proven }) : failed('unreachable', 'no gateway has it')
    } catch (error) {
      if (!(error instanceof DoorError)) throw error
      const answered = ['too_large', 'encoded'].includes(error.reason)
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

interface Asked {
  readonly settled: boolean
  /** Version that the request asked about, without which a host's 304 says nothing. */
  readonly sent?: Version
  /** The address that the URI is, as it is asked: by https. Undefined: the URI names content that any host may send. */
  readonly at?: URL
}

function remote(fetched: Fetched, { settled, sent, at }: Asked): Content {
  const { status, body, url } = fetched
  const isOwn = at !== undefined && new URL(url).origin === at.origin
  if (status === 304 && (sent?.etag || sent?.lastModified)) return { status: 'unchanged', isOwn }
  if (status !== 200) return failed('unreachable', `${url} answers ${status}`)
  return { status: 'found', bytes: body, settled, from: url, isOwn, version: versionOf(fetched) }
}

function failed(word: 'unreachable' | 'invalid', reason: string): Content {
  return { status: 'failed', word, reason }
}
