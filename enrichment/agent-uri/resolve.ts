import { DoorError } from '../../net/errors.ts'
import { parseJson } from '../../net/json.ts'
import type { Version } from '../agent-hosts.ts'
import { type ContentOptions, createContents } from './content.ts'
import { type RegistrationFile, toRegistrationFile } from './registration-file.ts'

/**
 * Result of resolving an agentURI. `settled`: it need not be read again. `isOwn`: the address that answered, after all
 * redirects, has the origin of the agentURI, so that the file speaks for it.
 */
type Resolved =
  | {
      readonly status: 'ok'
      readonly file: RegistrationFile
      readonly settled: boolean
      readonly isOwn: boolean
      readonly version?: Version
    }
  /** The host answered 304: the document is the known version. */
  | { readonly status: 'unchanged'; readonly isOwn: boolean }
  /** The URI or the file itself shows that there is nothing to read. */
  | { readonly status: 'empty' | 'unsupported' | 'invalid'; readonly settled: boolean }
  /** No file this time: there was no answer, or the answer is not a registration file. */
  | { readonly status: 'failed'; readonly word: 'unreachable' | 'invalid'; readonly reason: string }

export type Resolve = (uri: string, known?: Version) => Promise<Resolved>

/** Creates the function that resolves agentURIs. It throws HostClosed when the document's host may not be asked now. */
export function createResolver(options: ContentOptions): Resolve {
  const readContent = createContents(options)
  return async (uri, known) => {
    const content = await readContent(uri, known)
    if (content.status === 'nothing') return { status: content.why, settled: true }
    if (content.status !== 'found') return content
    const { bytes, settled, from, isOwn, version } = content
    const isInline = version === undefined
    const resolved = read(bytes, { settled, isOwn })
    if (resolved?.status === 'ok') return isInline ? resolved : { ...resolved, version }
    if (resolved) return resolved
    // A host may send another file later.
    return isInline
      ? { status: 'invalid', settled: true }
      : { status: 'failed', word: 'invalid', reason: `${from} sends no registration file` }
  }
}

/** Reads a registration file; `{}` is an empty one; undefined: not a registration file. */
function read(
  bytes: Uint8Array,
  { settled, isOwn }: { settled: boolean; isOwn: boolean },
): Extract<Resolved, { settled: boolean }> | undefined {
  const value = parsed(bytes)
  const file = toRegistrationFile(value)
  if (file) return { status: 'ok', file, settled, isOwn }
  const isEmpty = typeof value === 'object' && value !== null && Object.keys(value).length === 0
  return isEmpty ? { status: 'empty', settled } : undefined
}

/** The JSON value of a body; undefined: it is no JSON. */
function parsed(bytes: Uint8Array): unknown {
  try {
    return parseJson(bytes)
  } catch (error) {
    if (!(error instanceof DoorError)) throw error
    return undefined
  }
}
