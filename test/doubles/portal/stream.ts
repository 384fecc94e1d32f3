import type { ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { gzip as gzipWithCallback } from 'node:zlib'
import type { PreparedLines } from './blocks.ts'
import type { Fault } from './faults.ts'

const gzip = promisify(gzipWithCallback)

/** Text is gathered up to this many characters before it is compressed and sent. */
const pieceLength = 256 * 1024
/** Fast rather than small: client and server share the machine. */
const gzipLevel = 1

type CutFault = Extract<Fault, { kind: 'cut' }>

/** A line of text without its line break, or many finished ones. */
export type StreamPart = string | PreparedLines

/**
 * Writes NDJSON, compressed as one gzip member a piece when the client accepts gzip, and waits whenever the client
 * reads slower than it. Returns when the answer is complete, broken on purpose, or the client has gone.
 */
export async function sendLines(
  res: ServerResponse,
  parts: AsyncIterable<StreamPart>,
  { compress, fault }: { compress: boolean; fault?: Fault },
): Promise<void> {
  let piece = ''
  const write = async (bytes: Buffer) => {
    if (!res.destroyed && !res.write(bytes)) await drained(res)
  }
  const flush = async () => {
    const plain = Buffer.from(piece)
    piece = ''
    if (plain.length > 0) await write(compress ? await gzip(plain, { level: gzipLevel }) : plain)
  }

  let lines = 0
  for await (const part of withFault(parts, fault)) {
    if (res.destroyed) return
    if (typeof part !== 'string') {
      await flush()
      await write(compress ? part.gzip : part.lines())
      continue
    }
    if (fault?.kind === 'silence' && lines === fault.lines) return await flush()
    if (fault?.kind === 'cut' && lines === fault.lines) {
      piece += part.slice(0, Math.ceil(part.length / 2))
      return await breakOff(res, Buffer.from(piece), { compress, how: fault.how })
    }
    piece += `${part}\n`
    lines++
    if (piece.length >= pieceLength) await flush()
  }
  await flush()
  if (fault?.kind !== 'silence') res.end()
}

/** Resolves when the client has read enough, or has gone. */
function drained(res: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      res.off('drain', done).off('close', done)
      resolve()
    }
    res.on('drain', done).on('close', done)
  })
}

async function breakOff(
  res: ServerResponse,
  plain: Buffer,
  { compress, how }: { compress: boolean; how: CutFault['how'] },
) {
  const bytes = compress ? await gzip(plain, { level: gzipLevel }) : plain
  const sent = how === 'truncate' ? bytes.subarray(0, Math.ceil(bytes.length * 0.8)) : bytes
  if (how === 'end' || how === 'truncate') {
    res.end(sent)
    return
  }
  await new Promise<void>((resolve) => res.write(sent, () => resolve()))
  if (how === 'reset') res.socket?.resetAndDestroy()
  else res.socket?.end()
}

/** The parts with single lines replaced, left out or swapped. Finished chunks are taken apart where that is needed. */
async function* withFault(parts: AsyncIterable<StreamPart>, fault: Fault | undefined): AsyncGenerator<StreamPart> {
  if (!fault) {
    yield* parts
    return
  }
  let held: string | undefined
  let line = 0
  for await (const part of parts) {
    const texts = typeof part === 'string' ? [part] : part.lines().toString().split('\n').slice(0, -1)
    for (const text of texts) {
      const at = line++
      if (fault.kind === 'line' && at === fault.line) {
        const replaced = fault.replace(text)
        if (replaced !== undefined) yield replaced
      } else if (fault.kind === 'swap' && at === fault.line) {
        held = text
      } else {
        yield text
        if (held !== undefined) yield held
        held = undefined
      }
    }
  }
  if (held !== undefined) yield held
}
