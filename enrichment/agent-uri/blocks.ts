import { createHash } from 'node:crypto'
import { CarBlockIterator } from '@ipld/car/iterator'
import * as dagPb from '@ipld/dag-pb'
import { UnixFS } from 'ipfs-unixfs'
import type { CID } from 'multiformats/cid'
import * as raw from 'multiformats/codecs/raw'
import { sha256 } from 'multiformats/hashes/sha2'
import { maxCidLength } from './cid.ts'
import { maxDocumentBytes } from './registration-file.ts'

/** IPFS blocks by their SHA-256 in hex, computed here, so that their sender need not be trusted. */
export type Blocks = ReadonlyMap<string, Uint8Array>

/**
 * Why blocks do not yield a file. `incomplete`: one is missing, so the sender is at fault; `unsupported`: their kind or
 * number is not read here.
 */
type Unreadable = 'incomplete' | 'unsupported'

/** Longest archive, in bytes: besides the document it holds its blocks' identifiers and the directories on the path. */
export const maxArchiveBytes = 2 * maxDocumentBytes
/** Most blocks read for one file. */
const mostBlocks = 1_000
const sha256Bytes = 32

/** The blocks of a CAR archive; `incomplete`: the bytes are not one. Source: ipld.io, "CARv1 Specification". */
export async function readArchive(archive: Uint8Array): Promise<Blocks | Unreadable> {
  const blocks: Uint8Array[] = []
  try {
    for await (const { cid, bytes } of await CarBlockIterator.fromBytes(archive)) {
      // The reader copies identifiers, and lets one be longer than the section it stands in: a short archive could hold
      // as many as it has sections, each as long as the rest of it.
      if (cid.byteLength > maxCidLength || blocks.push(bytes) > mostBlocks) return 'unsupported'
    }
  } catch {
    return 'incomplete'
  }
  return toBlocks(blocks)
}

export function toBlocks(blocks: readonly Uint8Array[]): Blocks {
  return new Map(blocks.map((block) => [createHash('sha256').update(block).digest('hex'), block]))
}

/**
 * The file at a path below an identifier, put together from its blocks. Directories that are spread over several blocks
 * and links to other places are unsupported, as is a file of more than `maxDocumentBytes`.
 *
 * Source: specs.ipfs.tech, "UnixFS"; ipld.io, "DAG-PB".
 */
export function fileOf(blocks: Blocks, root: CID, path: string): Buffer | Unreadable {
  let cid = root
  for (const name of path
    .split('/')
    .filter((part) => part !== '')
    .map(decoded)) {
    const node = nodeOf(blocks, cid)
    if (typeof node === 'string') return node
    if (node.type !== 'directory') return 'unsupported'
    const link = node.links.find((one) => one.Name === name)
    if (!link) return 'incomplete'
    cid = link.Hash
  }
  const pieces: Uint8Array[] = []
  let visits = 0
  let bytesRead = 0
  let size = 0
  const collect = (at: CID): Unreadable | undefined => {
    const node = nodeOf(blocks, at)
    if (typeof node === 'string') return node
    if (node.type !== 'file' && node.type !== 'raw') return 'unsupported'
    // A tree may name one block again and again, even one that is long and holds nothing of the file.
    visits++
    bytesRead += node.blockBytes
    size += node.data.length
    if (visits > mostBlocks || bytesRead > maxArchiveBytes || size > maxDocumentBytes) return 'unsupported'
    pieces.push(node.data)
    for (const { Hash } of node.links) {
      const failure = collect(Hash)
      if (failure) return failure
    }
    return undefined
  }
  return collect(cid) ?? Buffer.concat(pieces)
}

interface Node {
  readonly type: string
  readonly data: Uint8Array
  readonly links: readonly dagPb.PBLink[]
  readonly blockBytes: number
}

function nodeOf(blocks: Blocks, { code, multihash }: CID): Node | Unreadable {
  const isSha256 = multihash.code === sha256.code && multihash.size === sha256Bytes
  if (!isSha256 || (code !== raw.code && code !== dagPb.code)) return 'unsupported'
  const block = blocks.get(Buffer.from(multihash.digest).toString('hex'))
  if (!block) return 'incomplete'
  const blockBytes = block.length
  if (code === raw.code) return { type: 'raw', data: block, links: [], blockBytes }
  try {
    const { Data, Links: links } = dagPb.decode(block)
    if (!Data) return 'unsupported'
    const { type, data = new Uint8Array() } = UnixFS.unmarshal(Data)
    return { type, data, links, blockBytes }
  } catch {
    return 'unsupported'
  }
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}
