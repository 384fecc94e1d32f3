import { createHash } from 'node:crypto'
import * as car from '@ipld/car/buffer-writer'
import * as dagPb from '@ipld/dag-pb'
import { UnixFS } from 'ipfs-unixfs'
import { CID } from 'multiformats/cid'
import * as raw from 'multiformats/codecs/raw'
import * as Digest from 'multiformats/hashes/digest'
import { sha256 } from 'multiformats/hashes/sha2'

// IPFS storage: blocks named by their hash, trees of blocks, and archives (CAR) to send them in.

export interface Block {
  readonly cid: CID
  readonly bytes: Uint8Array
}

export function rawBlock(content: string | Uint8Array): Block {
  return blockOf(raw.code, Buffer.from(content))
}

/** Identifier of content as one raw block: CIDv1, codec raw, SHA-256, in base32. */
export function rawCid(content: string): string {
  return rawBlock(content).cid.toString()
}

/** Blocks of a file as a tree of raw leaves, and of a directory that holds it under a name. */
export function fileBlocks(name: string, content: string, bytesPerBlock = 1_024) {
  const bytes = Buffer.from(content)
  const leaves = Array.from({ length: Math.ceil(bytes.length / bytesPerBlock) }, (_, index) =>
    rawBlock(bytes.subarray(index * bytesPerBlock, (index + 1) * bytesPerBlock)),
  )
  const blockSizes = leaves.map((leaf) => BigInt(leaf.bytes.length))
  const file = nodeBlock(
    new UnixFS({ type: 'file', blockSizes }),
    leaves.map((leaf) => linkTo('', leaf)),
  )
  const directory = nodeBlock(new UnixFS({ type: 'directory' }), [linkTo(name, file)])
  return { directory, file, leaves }
}

/** A small file as one node, as `ipfs add` has made them by default. */
export function smallFile(content: string): Block {
  return nodeBlock(new UnixFS({ type: 'file', data: Buffer.from(content) }), [])
}

export function nodeBlock(unixfs: UnixFS, links: readonly dagPb.PBLink[]): Block {
  return blockOf(dagPb.code, dagPb.encode({ Data: unixfs.marshal(), Links: [...links] }))
}

export function linkTo(name: string, { cid, bytes }: Block): dagPb.PBLink {
  return { Name: name, Hash: cid, Tsize: bytes.length }
}

/** A CAR archive of the blocks; the first one is the root. */
export function carOf(blocks: readonly Block[]): Buffer {
  const roots = [blocks[0]!.cid]
  const sections = blocks.reduce((sum, block) => sum + car.blockLength(block), 0)
  const writer = car.createWriter(new ArrayBuffer(car.headerLength({ roots }) + sections), { roots })
  for (const block of blocks) writer.write(block)
  return Buffer.from(writer.close())
}

function blockOf(codec: number, bytes: Uint8Array): Block {
  const digest = Digest.create(sha256.code, createHash('sha256').update(bytes).digest())
  return { cid: CID.createV1(codec, digest), bytes }
}
