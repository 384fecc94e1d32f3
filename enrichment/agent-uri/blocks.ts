import { createHash } from 'node:crypto'
import { type Cid, codecs, readCid } from './cid.ts'
import { createReader, type Field, readFields } from './reader.ts'
import { maxDocumentBytes } from './registration-file.ts'

/** Blocks by the SHA-256 that was computed of them, in hex: whoever sent them need not be trusted. */
export type Blocks = ReadonlyMap<string, Uint8Array>

/** The blocks of an archive; undefined: it is none. Source: ipld.io, "CARv1 Specification". */
export function readArchive(bytes: Uint8Array): Blocks | undefined {
  const reader = createReader(bytes)
  const header = reader.take(reader.varint() ?? Number.POSITIVE_INFINITY)
  const blocks: Uint8Array[] = []
  while (header && !reader.done()) {
    const section = reader.take(reader.varint() ?? Number.POSITIVE_INFINITY)
    const read = section && readCid(section)
    if (!read) return undefined
    blocks.push(section.subarray(read.length))
  }
  return header && toBlocks(blocks)
}

export function toBlocks(blocks: readonly Uint8Array[]): Blocks {
  return new Map(blocks.map((block) => [createHash('sha256').update(block).digest('hex'), block]))
}

/** Why blocks do not come to a file: one is missing, so the sender is; or they are of a kind that is not read here. */
export type Unreadable = 'incomplete' | 'unsupported'

type Key = Omit<Cid, 'text'>
/** Types of UnixFS nodes. */
const rawData = 0
const directory = 1
const file = 2
/** Blocks looked at for one file: a tree may name one block again and again. */
const mostVisits = 1_000

/**
 * The file at a path below an identifier, put together from its blocks. Directories that are spread over several blocks
 * and links to other places are unsupported, as is a file of more than `maxDocumentBytes`.
 *
 * Source: specs.ipfs.tech, "UnixFS"; ipld.io, "DAG-PB".
 */
export function fileOf(blocks: Blocks, root: Key, path: string): Buffer | Unreadable {
  let key = root
  for (const name of path.split('/').filter((part) => part !== '')) {
    const node = nodeOf(blocks, key)
    if (typeof node === 'string') return node
    if (node.type !== directory) return 'unsupported'
    const link = node.links.find((one) => one.name === decoded(name))
    if (!link) return 'incomplete'
    key = link.key
  }
  const pieces: Uint8Array[] = []
  let size = 0
  let visits = 0
  const collect = (at: Key): Unreadable | undefined => {
    const node = nodeOf(blocks, at)
    if (typeof node === 'string') return node
    if (node.type !== file && node.type !== rawData) return 'unsupported'
    size += node.data.length
    if (size > maxDocumentBytes || ++visits > mostVisits) return 'unsupported'
    pieces.push(node.data)
    for (const { key } of node.links) {
      const failure = collect(key)
      if (failure) return failure
    }
    return undefined
  }
  return collect(key) ?? Buffer.concat(pieces)
}

interface Node {
  readonly type: number
  readonly data: Uint8Array
  readonly links: readonly { readonly name: string; readonly key: Key }[]
}

const nothing = new Uint8Array()

function nodeOf(blocks: Blocks, { codec, sha256 }: Key): Node | Unreadable {
  if (!sha256 || (codec !== codecs.raw && codec !== codecs.dagPb)) return 'unsupported'
  const block = blocks.get(Buffer.from(sha256).toString('hex'))
  if (!block) return 'incomplete'
  if (codec === codecs.raw) return { type: rawData, data: block, links: [] }
  const fields = readFields(block)
  const unixfs = fields && readFields(bytesOf(fields, 1))
  const type = unixfs?.find(([field]) => field === 1)?.[1]
  if (!fields || !unixfs || typeof type !== 'number') return 'unsupported'
  const links = fields.filter(([field]) => field === 2).map(([, link]) => linkOf(link))
  if (links.includes(undefined)) return 'unsupported'
  return { type, data: bytesOf(unixfs, 2), links: links as Node['links'] }
}

function linkOf(value: Field[1]): Node['links'][number] | undefined {
  const fields = typeof value === 'number' ? undefined : readFields(value)
  const read = fields && readCid(bytesOf(fields, 1))
  return read && { name: Buffer.from(bytesOf(fields, 2)).toString(), key: read.cid }
}

function bytesOf(fields: readonly Field[], wanted: number): Uint8Array {
  const value = fields.find(([field]) => field === wanted)?.[1]
  return typeof value === 'object' ? value : nothing
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}
