import { constants, createZstdCompress } from 'node:zlib'

/** Higher levels take three times as long, and make digits of hashes no smaller. */
const level = 1
/** Of what comes back at once: most pages of a day are shorter. */
const chunkBytes = 256 * 1024

/** Of a frame that is not compressed, as its bytes are too few: its number, a header with their count, a block of them. */
const plain = { magic: 0xfd2fb528, singleSegment: 0x20, lastBlock: 1, most: 64 }

/** Source: RFC 8878, 3.1.1. */
function plainFrame(bytes: Uint8Array): Buffer {
  const head = Buffer.alloc(9)
  head.writeUInt32LE(plain.magic)
  head.writeUInt8(plain.singleSegment, 4)
  head.writeUInt8(bytes.length, 5)
  head.writeUIntLE((bytes.length << 3) | plain.lastBlock, 6, 3)
  return Buffer.concat([head, bytes])
}

/** Frames of zstd, one after the other, made beside this thread by one compressor whose room is used again. */
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

  /** `bytes` are read until it is there. */
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
