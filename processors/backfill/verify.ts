import type { Readable } from 'node:stream'
import type pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import type { ChainSettings } from '../../config/chains.file.ts'
import type { ChainName } from '../../config/chains.ts'
import { archivedSums } from '../../db/queries/chain/archive.ts'
import type { Shard } from '../../db/queries/chain/backfill.ts'
import { copySettlementsOut } from '../../db/queries/chain/settlement-copy.ts'
import type { History } from '../history/history.ts'
import { Slices } from '../history/slices.ts'
import { findCallsIn } from '../history/sources.ts'
import { paymentContractsOf } from '../mapping/payment-kinds.ts'
import { tokensOf } from '../mapping/scale.ts'
import { addPaymentTally, emptyPaymentTally, tallyPayments } from '../store/payment-tally.ts'
import { copyHeader, copyTrailer } from '../store/settlement-copy.ts'
import { BlockEncoder } from './block-encoder.ts'
import type { Certificate } from './certificate.ts'
import { addTally, emptyTally, RowPages, type Tally } from './row-pages.ts'
import { rowTemplate } from './row-template.ts'

/** Rows of one block that the check holds at a time. */
const maxRowsOfBlock = 100_000

/**
 * Totals of the rows that the table holds of a range. Undefined: a row has another shape than a settlement of a final
 * block, so it is not what was loaded.
 */
export async function tallyTable(
  client: pg.ClientBase,
  chain: ChainName,
  { firstBlock, lastBlock }: Pick<Shard, 'firstBlock' | 'lastBlock'>,
): Promise<Tally | undefined> {
  const stream: Readable = client.query(copyTo(copySettlementsOut('settlement', chain, firstBlock, lastBlock)))
  return tallyRows(stream, rowTemplate(chain))
}

/**
 * Totals of a shard's rows, those in the table and those that are archived. Undefined: a row of the table has another
 * shape than a settlement of a final block.
 */
export async function tallyStored(
  client: pg.ClientBase,
  chain: ChainName,
  shard: Pick<Shard, 'firstBlock' | 'lastBlock'>,
): Promise<Tally | undefined> {
  const table = await tallyTable(client, chain, shard)
  return (
    table &&
    addTally(table, await archivedSums(client, chain, { fromBlock: shard.firstBlock, toBlock: shard.lastBlock }))
  )
}

/** Totals of encoded rows of a chain. Throws when one does not have the shape of a settlement. */
export async function tallyOf(stream: Readable, chain: ChainName): Promise<Tally> {
  const tally = await tallyRows(stream, rowTemplate(chain))
  if (!tally) throw new Error(`a settlement of ${chain} has another shape than its row`)
  return tally
}

async function tallyRows(stream: Readable, template: ReturnType<typeof rowTemplate>): Promise<Tally | undefined> {
  const rowBytes = template.bytes.length
  const pages = new RowPages(rowBytes)
  let sum = emptyTally()
  let rest: Buffer = Buffer.alloc(0)
  let isBegun = false
  let hasRightShape = true
  for await (const piece of stream as AsyncIterable<Buffer>) {
    // Read to its end all the same: a copy that is left in its middle would leave its connection waiting for ever.
    if (!hasRightShape) continue
    let text = rest.length > 0 ? Buffer.concat([rest, piece]) : piece
    if (!isBegun) {
      if (text.length < copyHeader.length) {
        rest = text
        continue
      }
      text = text.subarray(copyHeader.length)
      isBegun = true
    }
    const whole = Math.floor(text.length / rowBytes)
    for (let row = 0; row < whole; row++) hasRightShape &&= hasShape(text, row * rowBytes, template)
    if (!hasRightShape) continue
    // The last block may go on in the next piece.
    let complete = 0
    for (let from = 0, row = 1; row <= whole; row++) {
      const block = text.readInt32BE(from * rowBytes + template.block)
      if (row < whole && text.readInt32BE(row * rowBytes + template.block) === block) continue
      if (row === whole) break
      add(pages, text.subarray(from * rowBytes, row * rowBytes), template)
      from = row
      complete = row
    }
    rest = text.subarray(complete * rowBytes)
    hasRightShape = rest.length <= maxRowsOfBlock * rowBytes
    sum = addTally(sum, pages.takeAll().tally)
  }
  if (!hasRightShape) return undefined
  // What is left is the last block and the mark of the end.
  const rows = (rest.length - endBytes) / rowBytes
  if (!Number.isInteger(rows) || rows < 0) return undefined
  for (let row = 0; row < rows; row++) if (!hasShape(rest, row * rowBytes, template)) return undefined
  if (rows > 0) add(pages, rest.subarray(0, rows * rowBytes), template)
  return addTally(sum, pages.takeAll().tally)
}

/** Bytes at the end of binary COPY: a field count of -1. */
const endBytes = 2

function add(pages: RowPages, rows: Buffer, { bytes, amount }: ReturnType<typeof rowTemplate>) {
  const count = rows.length / bytes.length
  const { page, at } = pages.open(count)
  page.set(rows, at)
  pages.close(count, amount)
}

/** Whether the values of a row have the lengths that the template has. */
function hasShape(text: Buffer, row: number, { bytes }: ReturnType<typeof rowTemplate>): boolean {
  if (text.readInt16BE(row) !== bytes.readInt16BE(0)) return false
  for (let at = 2; at < bytes.length; ) {
    const length = bytes.readInt32BE(at)
    if (text.readInt32BE(row + at) !== length) return false
    at += 4 + length
  }
  return true
}

/** What a shard's blocks hold besides its settlements. */
type Others = Pick<BlockEncoder, 'unpaid' | 'payments' | 'codes'>

type Blocks = Pick<Shard, 'firstBlock' | 'lastBlock'>

/** Opens a range of a source to be read again; `slices` is to be closed. */
function openAgain(
  history: History,
  chain: ChainSettings,
  { firstBlock, lastBlock }: Blocks,
  warn: (text: string) => void,
) {
  const encoder = new BlockEncoder(
    chain.name,
    tokensOf(chain),
    findCallsIn(history, chain, { finalHeight: lastBlock }, warn),
    paymentContractsOf(chain.paymentContracts),
  )
  return { encoder, slices: new Slices(history, firstBlock, lastBlock, null, { warn } as never) }
}

/** What a range has, answer by answer. */
async function* readAgain({ encoder, slices }: ReturnType<typeof openAgain>) {
  while (!slices.isDone) {
    await slices.advance(encoder)
    if (encoder.isFull || slices.isDone) await encoder.settle()
    const others = {
      unpaid: encoder.unpaid.splice(0),
      payments: encoder.payments.splice(0),
      codes: encoder.codes.splice(0),
    }
    yield { others, ...encoder.pages.takeAll() }
  }
}

/** Reads a shard's certificate from a source again. `onFound` receives what is not a settlement, piece by piece. */
export async function certifySource(
  history: History,
  chain: ChainSettings,
  { firstBlock, lastBlock }: Blocks,
  warn: (text: string) => void,
  onFound: (found: Others) => void = () => {},
) {
  const source = openAgain(history, chain, { firstBlock, lastBlock }, warn)
  let sum = emptyTally()
  let paid = emptyPaymentTally()
  try {
    for await (const { others, tally } of readAgain(source)) {
      paid = addPaymentTally(paid, tallyPayments(others.payments))
      onFound(others)
      sum = addTally(sum, tally)
    }
  } finally {
    source.slices.close()
  }
  return {
    firstBlock,
    lastBlock,
    firstHash: source.slices.first?.hash ?? '',
    lastHash: source.slices.lastHash ?? '',
    ...sum,
    ...paid,
  }
}

/** The settlements of a range, read from a source again, as the bytes of a COPY into the table. */
export async function* copyOfSource(
  history: History,
  chain: ChainSettings,
  blocks: Blocks,
  warn: (text: string) => void,
): AsyncGenerator<Buffer> {
  const source = openAgain(history, chain, blocks, warn)
  try {
    yield copyHeader
    for await (const { pages } of readAgain(source)) yield* pages
    yield copyTrailer
  } finally {
    source.slices.close()
  }
}

/** Describes each value that both have and that differs; empty: none. */
export function differences(expected: Certificate, found: Tally & Partial<Certificate>): string[] {
  const names = ['settlements', 'amount', 'checksum', 'payments', 'paymentChecksum', 'firstHash', 'lastHash'] as const
  return names
    .filter((name) => found[name] !== undefined && found[name] !== expected[name])
    .map((name) => `${name} is ${found[name]}, certified ${expected[name]}`)
}
