import { join } from 'node:path'
import { Readable } from 'node:stream'
import { zstdDecompressSync } from 'node:zlib'
import { type AsyncBuffer, asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet'
import type { ChainName } from '../../chains.config.ts'
import type { BlockRange } from '../../db/queries/rollup/hourly.ts'
import type { Tally } from '../../processors/backfill/row-pages.ts'
import { tallyOf } from '../../processors/backfill/verify.ts'
import { copyHeader, copyTrailer, encodeRows } from '../../processors/store/settlement-copy.ts'
import { readServed, type ServedFile } from '../served/manifest.ts'

type SettlementRow = Parameters<typeof encodeRows>[0][number]

/** Of a row in a file, by the column's name. */
interface FileRow {
  readonly chain: ChainName
  readonly block_number: number
  readonly log_index: number
  /** Microseconds since 1970. */
  readonly block_timestamp: bigint
  readonly amount: bigint
  readonly token_address: string
  readonly payer_address: string
  readonly recipient_address: string
  readonly facilitator_address: string
  readonly payment_nonce: string
  readonly tx_hash: string
  readonly selector: string
  readonly selector_source: SettlementRow['selectorSource']
}

const columns: (keyof FileRow)[] = [
  'chain',
  'block_number',
  'log_index',
  'block_timestamp',
  'amount',
  'token_address',
  'payer_address',
  'recipient_address',
  'facilitator_address',
  'payment_nonce',
  'tx_hash',
  'selector',
  'selector_source',
]
const compressors = { ZSTD: (input: Uint8Array) => new Uint8Array(zstdDecompressSync(input)) }
const parsers = { timestampFromMicroseconds: (micros: bigint) => micros } as never

/** The settlements of a range as the served files of their days have them, in the form of COPY. */
export async function* copyOfFiles(folder: string, chain: ChainName, range: BlockRange): AsyncGenerator<Buffer> {
  yield copyHeader
  const { files } = await readServed(folder)
  const own = files
    .filter(({ dataset, partition, min_block = 0, max_block = -1 }) => {
      return dataset === 'settlements' && partition.chain === chain && meets(range, min_block, max_block)
    })
    .sort((a, b) => (a.path < b.path ? -1 : 1)) // by day, then by part
  for (const file of own) yield* rowsOf(folder, file, range)
  yield copyTrailer
}

/** What they come to, as a certificate has it. */
export function tallyFiles(folder: string, chain: ChainName, range: BlockRange): Promise<Tally> {
  return tallyOf(Readable.from(copyOfFiles(folder, chain, range)), chain)
}

const meets = ({ fromBlock, toBlock }: BlockRange, first: number, last: number) => first <= toBlock && last >= fromBlock

/** A row group at a time, and only those that may have rows of the range. */
async function* rowsOf(folder: string, { path }: ServedFile, range: BlockRange): AsyncGenerator<Buffer> {
  const file: AsyncBuffer = await asyncBufferFromFile(join(folder, path))
  const metadata = await parquetMetadataAsync(file)
  let rowStart = 0
  for (const { num_rows, columns: chunks } of metadata.row_groups) {
    const rowEnd = rowStart + Number(num_rows)
    const block = chunks.find(({ meta_data }) => meta_data?.path_in_schema[0] === 'block_number')
    const { min_value, max_value } = block?.meta_data?.statistics ?? {}
    if (meets(range, Number(min_value ?? 0), Number(max_value ?? Number.POSITIVE_INFINITY))) {
      const read = { file, metadata, columns, rowStart, rowEnd, compressors, parsers }
      const rows = (await parquetReadObjects(read)) as unknown as FileRow[]
      yield* encodeRows(rows.filter(({ block_number: at }) => meets(range, at, at)).map(toSettlement))
    }
    rowStart = rowEnd
  }
}

const toSettlement = (row: FileRow): SettlementRow => ({
  chain: row.chain,
  blockNumber: row.block_number,
  logIndex: row.log_index,
  blockTimestamp: Number(row.block_timestamp / 1000n),
  amount: row.amount,
  token: row.token_address,
  payer: row.payer_address,
  recipient: row.recipient_address,
  facilitator: row.facilitator_address,
  paymentNonce: row.payment_nonce,
  txHash: row.tx_hash,
  selector: row.selector,
  selectorSource: row.selector_source,
})
