import { constants, createZstdCompress } from 'node:zlib'

/** Compression level: higher ones take three times as long, and make hex digits of hashes no smaller. */
const level = 1
/** Size of the compressor's output buffer: most pages of a day fit into one. */
const chunkBytes = 256 * 1024

/**
 * Constants of an uncompressed frame, which is used for at most `most` bytes: magic number, header flag, block flag.
 */
const plain = { magic: 0xfd2fb528, singleSegment: 0x20, lastBlock: 1, most: 64 }

/** A zstd frame with one raw block. Source: RFC 8878, 3.1.1. */
function plainFrame(bytes: Uint8Array): Buffer {
  const head = Buffer.alloc(9)
  head.writeUInt32LE(plain.magic)
  head.writeUInt8(plain.singleSegment, 4)
  head.writeUInt8(bytes.length, 5)
  head.writeUIntLE((bytes.length << 3) | plain.lastBlock, 6, 3)
  return Buffer.concat([head, bytes])
}

/** Makes zstd frames, one at a time, in the thread pool, with one compressor that is reused. */
export class Zstd {
  readonly #stream = createZstdCompress({
    params: { [constants.ZSTD_c_compressionLevel]: level },
    chunkSize: chunkBytes,
  })
  #frame: Buffer[] = []
  #fail: (error: Error) => void = () => {}

  constructor() {
    this.#stream.on('data', (piece: Buffer) => this.#frame.push(piece))
    this.#stream.on('error', (error) => this.#fail(error))
  }

  /** The frame, in pieces. `bytes` must not change until it resolves, and one call must end before the next. */
  async frame(bytes: Uint8Array): Promise<readonly Buffer[]> {
    if (bytes.length <= plain.most) return [plainFrame(bytes)]
    return new Promise((resolve, reject) => {
      this.#fail = reject
      this.#stream.write(bytes)
      this.#stream.flush(constants.ZSTD_e_end, () => {
        while (this.#stream.read() !== null); // what is held back still comes as data
        const frame = this.#frame
        this.#frame = []
        resolve(frame)
      })
    })
  }
}
