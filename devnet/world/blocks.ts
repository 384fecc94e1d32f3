import { createHash } from 'node:crypto'

// How IPFS keeps files: blocks that are named by their hash, trees of them, and archives to send them in.

export interface Block {
  /** CIDv1 in base32. */
  readonly cid: string
  readonly bytes: Buffer
  /** Of the CID. */
  readonly name: Buffer
}

/** Multicodec: bytes as they are, nodes of a tree. */
const raw = 0x55
const dagPb = 0x70
/** Types of UnixFS nodes. */
const directoryType = 1
const fileType = 2
const base32 = 'abcdefghijklmnopqrstuvwxyz234567'

export function rawBlock(content: string | Uint8Array): Block {
  return blockOf(raw, Buffer.from(content))
}

/** Identifier of content as one raw block: CIDv1, codec raw, SHA-256, in base32. */
export function rawCid(content: string): string {
  return rawBlock(content).cid
}

/** A file as a tree of raw leaves, and a directory that has it under a name. */
export function fileBlocks(name: string, content: string, bytesPerBlock = 1_024) {
  const bytes = Buffer.from(content)
  const leaves = Array.from({ length: Math.ceil(bytes.length / bytesPerBlock) }, (_, index) =>
    rawBlock(bytes.subarray(index * bytesPerBlock, (index + 1) * bytesPerBlock)),
  )
  const sizes = Buffer.concat(leaves.map((leaf) => numberField(4, leaf.bytes.length)))
  const file = node(
    [numberField(1, fileType), numberField(3, bytes.length), sizes],
    leaves.map((leaf) => link('', leaf)),
  )
  const directory = node([numberField(1, directoryType)], [link(name, file)])
  return { directory, file, leaves }
}

/** A small file as one node, as `ipfs add` has made them by default. */
export function smallFile(content: string): Block {
  const bytes = Buffer.from(content)
  return node([numberField(1, fileType), bytesField(2, bytes), numberField(3, bytes.length)], [])
}

/** An archive of blocks, the root first. Source: ipld.io, "CARv1 Specification". */
export function carOf(blocks: readonly Block[]): Buffer {
  const root = Buffer.concat([Buffer.from([0]), blocks[0]!.name])
  // {"roots": [tag 42 of the root], "version": 1} in CBOR.
  const header = Buffer.concat([
    Buffer.from([0xa2, 0x65]),
    Buffer.from('roots'),
    Buffer.from([0x81, 0xd8, 0x2a, 0x58, root.length]),
    root,
    Buffer.from([0x67]),
    Buffer.from('version'),
    Buffer.from([1]),
  ])
  const sections = blocks.map(({ name, bytes }) => withLength(Buffer.concat([name, bytes])))
  return Buffer.concat([withLength(header), ...sections])
}

/** UnixFS in a node of DAG-PB; links come before the data. */
function node(unixfs: readonly Buffer[], links: readonly Buffer[]): Block {
  return blockOf(dagPb, Buffer.concat([...links, bytesField(1, Buffer.concat(unixfs))]))
}

function link(name: string, { name: cid, bytes }: Block): Buffer {
  return bytesField(
    2,
    Buffer.concat([bytesField(1, cid), bytesField(2, Buffer.from(name)), numberField(3, bytes.length)]),
  )
}

function blockOf(codec: number, bytes: Buffer): Block {
  const name = Buffer.from([0x01, codec, 0x12, 0x20, ...createHash('sha256').update(bytes).digest()])
  const bits = [...name].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  const digits = bits.match(/.{1,5}/g) ?? []
  const cid = `b${digits.map((five) => base32[Number.parseInt(five.padEnd(5, '0'), 2)]).join('')}`
  return { cid, bytes, name }
}

const numberField = (field: number, value: number) => Buffer.concat([varint(field << 3), varint(value)])
const bytesField = (field: number, bytes: Buffer) => Buffer.concat([varint((field << 3) | 2), withLength(bytes)])
const withLength = (bytes: Buffer) => Buffer.concat([varint(bytes.length), bytes])

function varint(value: number): Buffer {
  const bytes: number[] = []
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest])
    bytes.push((rest % 128) | 0x80)
  }
}
