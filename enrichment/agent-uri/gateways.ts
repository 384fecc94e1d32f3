import type { CID } from 'multiformats/cid'
import * as raw from 'multiformats/codecs/raw'
import { HostClosed } from '../../hosts/host.ts'
import type { Fetched } from '../../net/door.ts'
import { DoorError } from '../../net/errors.ts'
import { second } from '../../ops/time.ts'
import type { AgentHosts } from '../agent-hosts.ts'
import { fileOf, maxArchiveBytes, readArchive, toBlocks } from './blocks.ts'
import { maxDocumentBytes } from './registration-file.ts'

interface GatewayOptions {
  readonly hosts: AgentHosts
  /** Base addresses of the gateways, preferred ones first. */
  readonly urls: readonly string[]
  /** Milliseconds without an answer after which the next gateway is asked as well (hedging). Default: 3 s. */
  readonly hedgeMs?: number
  readonly timeoutMs?: number
}

export interface Gateways {
  /**
   * Content from the gateway that answers first. `last`: an address to try after all gateways. Undefined: none has the
   * content. Throws HostClosed when no gateway may be asked now.
   *
   * `proven`: the content was built from blocks that hash to the identifier. Otherwise the gateway was trusted, because
   * it sends no blocks, or blocks of a kind that is not read here.
   */
  read(content: { cid: CID; path: string }, last?: URL): Promise<GatewayContent | undefined>
}

interface GatewayContent {
  readonly fetched: Fetched
  readonly proven: boolean
}

const redirects = 2
const archiveType = 'application/vnd.ipld.car'

export function createGateways(options: GatewayOptions): Gateways {
  const { hosts, urls, hedgeMs = 3 * second, timeoutMs = 8 * second } = options
  // Anybody can name content that nobody has: that must not close the gateways for the content of others.
  const asking = { timeoutMs, redirects, mayRedirect, mayTimeOut: true }
  const fetch: GatewayFetch = (url, asked) => hosts.fetch(url, { ...asking, ...asked })
  /** Failures in a row by gateway; the one with the fewest is asked first. */
  const failures = new Map(urls.map((url) => [url, 0]))

  async function askGateway(gateway: string, cid: CID, path: string): Promise<GatewayContent> {
    try {
      const content = await askFor(fetch, new URL(`${gateway}/ipfs/${cid}${path}`), cid, path)
      failures.set(gateway, 0)
      return content
    } catch (error) {
      failures.set(gateway, failures.get(gateway)! + 1)
      throw error
    }
  }

  return {
    async read({ cid, path }, last) {
      const ordered = [...failures.keys()].sort((a, b) => failures.get(a)! - failures.get(b)!)
      const attempts = ordered.map((gateway) => () => askGateway(gateway, cid, path))
      if (last) attempts.push(() => askFor(fetch, last, cid, path))
      try {
        return await firstOf(attempts, hedgeMs)
      } catch (error) {
        if (!(error instanceof AggregateError)) throw error
        const unknown = error.errors.find((one) => !isFailure(one))
        if (unknown) throw unknown
        const closed = error.errors.filter((one) => one instanceof HostClosed)
        const [first] = closed.sort((a, b) => a.until.getTime() - b.until.getTime())
        if (closed.length < attempts.length || !first) return undefined
        throw new HostClosed(
          first.message,
          first.until,
          closed.some(({ wasAsked }) => wasAsked),
        )
      }
    },
  }
}

type GatewayFetch = (url: URL, asked: { maxBytes: number; headers?: Record<string, string> }) => Promise<Fetched>

/** A gateway's answer, proven where it sends blocks that are read here. Throws ContentMissing. */
async function askFor(fetch: GatewayFetch, url: URL, cid: CID, path: string): Promise<GatewayContent> {
  const isOneBlock = cid.code === raw.code && path === ''
  if (!isOneBlock) {
    const content = await askForBlocks(fetch, url, cid, path)
    if (content) return content
  }
  const fetched = await fetch(url, { maxBytes: maxDocumentBytes })
  if (fetched.status !== 200) throw new ContentMissing(`${url.host} answers ${fetched.status}`)
  const file = isOneBlock ? fileOf(toBlocks([fetched.body]), cid, '') : 'unsupported'
  if (file === 'incomplete') throw new ContentMissing(`${url.host} sent other content`)
  return { fetched, proven: file !== 'unsupported' }
}

/**
 * Asks a gateway for a file as blocks. Undefined: it sends something else, or blocks of a kind that is not read here.
 *
 * Source: specs.ipfs.tech, "Trustless Gateway Specification".
 */
async function askForBlocks(
  fetch: GatewayFetch,
  url: URL,
  cid: CID,
  path: string,
): Promise<GatewayContent | undefined> {
  const archive = new URL(url)
  archive.searchParams.set('format', 'car')
  archive.searchParams.set('dag-scope', 'entity')
  const headers = { accept: archiveType }
  const fetched = await fetch(archive, { headers, maxBytes: maxArchiveBytes })
  if (fetched.status !== 200 || !fetched.headers.get('content-type')?.startsWith(archiveType)) return undefined
  const blocks = await readArchive(fetched.body)
  const file = typeof blocks === 'string' ? blocks : fileOf(blocks, cid, path)
  if (file === 'incomplete') throw new ContentMissing(`${url.host} sent other blocks`)
  return file === 'unsupported' ? undefined : { fetched: { ...fetched, body: file }, proven: true }
}

/** A gateway answered, but not with the content that was asked for. */
class ContentMissing extends Error {
  override readonly name = 'ContentMissing'
}

const isFailure = (error: unknown) =>
  error instanceof ContentMissing || error instanceof DoorError || error instanceof HostClosed

/** Gateways redirect content to an origin of its own: `<cid>.ipfs.<gateway>`. */
function mayRedirect(from: URL, to: URL): boolean {
  return to.host === from.host || to.hostname.endsWith(`.ipfs.${from.hostname}`)
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
