import { createHash } from 'node:crypto'
import type { Fetched } from '../../net/door.ts'
import { DoorError } from '../../net/errors.ts'
import type { AgentHosts } from '../agent-hosts.ts'
import { HostClosed } from '../host.ts'
import { second } from '../source.ts'
import type { Cid } from './cid.ts'
import { maxDocumentBytes } from './registration-file.ts'

export interface GatewayOptions {
  readonly hosts: AgentHosts
  /** Base addresses, the best first. */
  readonly urls: readonly string[]
  /** A gateway that has not answered by then is joined by the next one. */
  readonly hedgeMs?: number
  readonly timeoutMs?: number
}

export interface Gateways {
  /**
   * Content from whichever gateway answers first. `last` is tried after all of them. Undefined: none has it.
   * Throws HostClosed when no gateway may be asked now. Content is compared with its identifier where that is possible
   * (one raw block); else the gateway is believed.
   */
  read(content: { cid: Cid; path: string }, last?: URL): Promise<Fetched | undefined>
}

const redirects = 2

export function createGateways(options: GatewayOptions): Gateways {
  const { hosts, urls, hedgeMs = 3 * second, timeoutMs = 8 * second } = options
  /** Failures in a row; a gateway in good health is asked first. */
  const failures = new Map(urls.map((url) => [url, 0]))

  async function ask(url: URL, cid: Cid, path: string): Promise<Fetched> {
    const fetched = await hosts.fetch(url, { maxBytes: maxDocumentBytes, timeoutMs, redirects, mayRedirect })
    if (fetched.status !== 200) throw new ContentMissing(`${url.host} answers ${fetched.status}`)
    if (path === '' && !holds(cid, fetched.body)) throw new ContentMissing(`${url.host} sent other content`)
    return fetched
  }

  async function askGateway(gateway: string, cid: Cid, path: string): Promise<Fetched> {
    try {
      const fetched = await ask(new URL(`${gateway}/ipfs/${cid.text}${path}`), cid, path)
      failures.set(gateway, 0)
      return fetched
    } catch (error) {
      failures.set(gateway, failures.get(gateway)! + 1)
      throw error
    }
  }

  return {
    async read({ cid, path }, last) {
      const ordered = [...failures.keys()].sort((a, b) => failures.get(a)! - failures.get(b)!)
      const attempts = ordered.map((gateway) => () => askGateway(gateway, cid, path))
      if (last) attempts.push(() => ask(last, cid, path))
      try {
        return await firstOf(attempts, hedgeMs)
      } catch (error) {
        if (!(error instanceof AggregateError)) throw error
        const unknown = error.errors.find((one) => !isFailure(one))
        if (unknown) throw unknown
        const closed = error.errors.filter((one) => one instanceof HostClosed)
        if (closed.length === attempts.length && closed[0]) throw closed[0]
        return undefined
      }
    },
  }
}

/** A gateway answered, with something else than the content. */
class ContentMissing extends Error {
  override readonly name = 'ContentMissing'
}

const isFailure = (error: unknown) =>
  error instanceof ContentMissing || error instanceof DoorError || error instanceof HostClosed

/** Gateways send content to an origin of its own: `<cid>.ipfs.<gateway>`. */
function mayRedirect(from: URL, to: URL): boolean {
  return to.host === from.host || to.hostname.endsWith(`.ipfs.${from.hostname}`)
}

function holds({ contentSha256 }: Cid, body: Uint8Array): boolean {
  return contentSha256 === undefined || createHash('sha256').update(body).digest().equals(contentSha256)
}

/**
 * The first result; the next attempt begins when one fails or `hedgeMs` after the one before. Rejects with an
 * AggregateError when all have failed. Attempts that come later than the first result are left to end by themselves.
 */
function firstOf<T>(attempts: readonly (() => Promise<T>)[], hedgeMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const errors: unknown[] = []
    let begun = 0
    let done = false
    let timer: NodeJS.Timeout | undefined
    const settle = () => {
      done = true
      clearTimeout(timer)
    }
    const begin = () => {
      clearTimeout(timer)
      const attempt = attempts[begun]
      if (done || !attempt) return
      begun++
      timer = setTimeout(begin, hedgeMs)
      attempt().then(
        (value) => {
          settle()
          resolve(value)
        },
        (error) => {
          errors.push(error)
          if (errors.length < attempts.length) return begin()
          settle()
          reject(new AggregateError(errors))
        },
      )
    }
    if (attempts.length === 0) reject(new AggregateError([]))
    begin()
  })
}
