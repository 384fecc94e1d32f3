import type { CID } from 'multiformats/cid'
import { parseCid } from './cid.ts'
import { readBareBase64, readDataUri } from './data-uri.ts'
import { maxDocumentBytes } from './registration-file.ts'

/** Kind of an agentURI, judged by its text alone. */
export type Form =
  /** The URI holds the document itself. */
  | { readonly kind: 'inline'; readonly bytes: Uint8Array }
  | { readonly kind: 'web'; readonly url: URL }
  /** `path` begins with a slash or is empty. `gateway`: a gateway's address that was written instead of an ipfs URI. */
  | { readonly kind: 'ipfs'; readonly cid: CID; readonly path: string; readonly gateway?: URL }
  | { readonly kind: 'arweave'; readonly path: string }
  /** Nothing can be read; `status` says why, as a value of `uri_status` (docs/rules.md 3). */
  | { readonly kind: 'nothing'; readonly status: 'empty' | 'unsupported' | 'invalid' }

/** Parses an agentURI. Never throws. */
export function parseForm(uri: string): Form {
  const text = uri.trim().replace(/^"(.*)"$/s, '$1')
  if (text === '') return nothing('empty')
  if (/^data:/i.test(text)) {
    const bytes = readDataUri(text)
    return bytes && bytes.length <= maxDocumentBytes ? { kind: 'inline', bytes } : nothing('invalid')
  }
  if (text.startsWith('{')) return { kind: 'inline', bytes: Buffer.from(text) }
  if (/^%7b/i.test(text)) return parseForm(`data:,${text}`)
  if (/^https?:\/\//i.test(text)) return webForm(text)
  if (/^ipfs:\/\//i.test(text)) return ipfsForm(text.slice('ipfs://'.length))
  if (/^\/?ipfs\//.test(text) || parseCid(text.split('/', 1)[0]!)) return ipfsForm(text.replace(/^\//, ''))
  if (/^ar:\/\//i.test(text)) return arweaveForm(text.slice('ar://'.length))
  const bare = readBareBase64(text)
  if (bare && bare.length <= maxDocumentBytes) return { kind: 'inline', bytes: bare }
  const isName = /^[^\s/]+\.eth$/i.test(text)
  const hasScheme = /^[a-z][a-z0-9+.-]*:/i.test(text)
  return nothing(isName || hasScheme ? 'unsupported' : 'invalid')
}

function webForm(text: string): Form {
  const url = URL.parse(text)
  if (!url || isPlaceholder(url)) return nothing('invalid')
  const [label = '', system] = url.hostname.split('.')
  const subdomain = system === 'ipfs' ? parseCid(label) : undefined
  if (subdomain) return { kind: 'ipfs', cid: subdomain, path: pathOf(url.pathname), gateway: url }
  if (!url.pathname.startsWith('/ipfs/')) return { kind: 'web', url }
  const form = ipfsForm(url.pathname.slice(1))
  return form.kind === 'ipfs' ? { ...form, gateway: url } : { kind: 'web', url }
}

function ipfsForm(text: string): Form {
  const [first = '', ...rest] = text.replace(/^ipfs\//, '').split('/')
  const [name = ''] = first.split(/[?#]/, 1)
  const cid = parseCid(name)
  const path = pathOf(`/${rest.join('/')}`)
  return cid && isBelow(`/ipfs/${cid}`, path) ? { kind: 'ipfs', cid, path } : nothing('invalid')
}

function arweaveForm(path: string): Form {
  const [id] = /^[A-Za-z0-9_-]{43}(?=\/|$)/.exec(path) ?? []
  return id && isBelow(`/${id}`, path.slice(id.length)) ? { kind: 'arweave', path: `/${path}` } : nothing('invalid')
}

/**
 * Whether a path stays below the content that it begins at, at a gateway's address: one of `..` would lead to whatever
 * else is at that host. Encoded slashes count, because some servers decode them first.
 */
function isBelow(content: string, path: string): boolean {
  const { pathname } = new URL(`http://gateway${content}${path}`)
  const plain = pathname.replaceAll(/%2f|%5c/gi, '/').replaceAll(/%2e/gi, '.')
  return `${pathname}/`.startsWith(`${content}/`) && !plain.split('/').some((step) => step === '.' || step === '..')
}

function pathOf(path: string): string {
  return path === '/' ? '' : path
}

/** Whether an address is an unfilled template, which cannot lead to the agent. */
function isPlaceholder({ hostname, href }: URL): boolean {
  return (
    /(^|\.)example(\.(com|net|org))?$/.test(hostname) || /your-?_?domain/i.test(hostname) || /%7B\w+%7D/i.test(href)
  )
}

function nothing(status: 'empty' | 'unsupported' | 'invalid'): Form {
  return { kind: 'nothing', status }
}
