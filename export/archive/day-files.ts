import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import type { ChainName } from '../../config/chains.ts'
import type { BlockRange } from '../../db/block-range.ts'
import { inTransaction, type Queryable } from '../../db/pool.ts'
import { archivePieces } from '../../db/queries/chain/archive.ts'
import { copySettlementsOut } from '../../db/queries/chain/settlement-copy.ts'
import { Refusal } from '../../ops/cli.ts'
import type { Tally } from '../../processors/backfill/row-pages.ts'
import { differences, tallyOf } from '../../processors/backfill/verify.ts'
import { copyHeader, copyTrailer, encodeRows } from '../../processors/store/settlement-copy.ts'
import { connectDuckDb, identifier, literal } from '../duckdb.ts'
import { type DayFile, dayFiles } from '../served/archived-days.ts'
import { readOrRefuse } from '../served/manifest.ts'

type SettlementRow = Parameters<typeof encodeRows>[0][number]

/** A settlement as a served file has it, by column name. */
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

const restored: (keyof FileRow)[] = [
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

/** The settlements of a block range, read from the served files, as the bytes of a COPY into the table. */
export async function* copyOfFiles(folder: string, chain: ChainName, range: BlockRange): AsyncGenerator<Buffer> {
  yield copyHeader
  for await (const rows of rowsOfFiles<FileRow>(await dayFiles(folder, chain, range), range, restored)) {
    yield* encodeRows(rows.map(toSettlement))
  }
  yield copyTrailer
}

/** Count, sums and checksum of a block range's settlements in the served files, computed as for a certificate. */
export function tallyFiles(folder: string, chain: ChainName, range: BlockRange): Promise<Tally> {
  return tallyOf(Readable.from(copyOfFiles(folder, chain, range)), chain)
}

/** Where the files of a chain's archived settlements are. */
interface Place {
  readonly folder: string
  readonly chain: ChainName
}

/**
 * Reads the files of an archived partition back and returns the number of its settlements. Throws a Refusal when they
 * differ from what was archived, or when one cannot be read.
 */
export function checkFiles(db: Queryable, { folder, chain }: Place, partition: BlockRange): Promise<number> {
  return checkPieces(db, chain, partition, {
    tally: (range) => tallyFiles(folder, chain, range),
    what: `files under ${folder}`,
    remedy:
      'bring EXPORT_DIR back, then run the same command again; once the table is gone and the files are lost, the rows ' +
      `are read from the chain again by npm run archive -- --chain ${chain} --restore --reload`,
  })
}

/**
 * Reads the table of an archived partition that is no longer one of the chain's, and returns the number of its
 * settlements. Throws a Refusal, with a `remedy`, when they differ from what was archived.
 */
export function checkTable(
  pool: pg.Pool,
  chain: ChainName,
  partition: BlockRange & { name: string },
  remedy = `the files may be: npm run archive -- --chain ${chain} --check`,
): Promise<number> {
  const { name } = partition
  const rows = ({ fromBlock, toBlock }: BlockRange) => copyTo(copySettlementsOut(name, chain, fromBlock, toBlock))
  return checkPieces(pool, chain, partition, {
    tally: (range) => inTransaction(pool, (client) => tallyOf(client.query(rows(range)), chain)),
    what: `rows of ${name}`,
    remedy,
  })
}

interface Copy {
  readonly tally: (range: BlockRange) => Promise<Tally>
  /** Name of the copy, in the plural, and what to do when it is not as archived. */
  readonly what: string
  readonly remedy: string
}

async function checkPieces(db: Queryable, chain: ChainName, partition: BlockRange, { tally, what, remedy }: Copy) {
  let settlements = 0
  for (const { fromBlock, toBlock, ...sums } of await archivePieces(db, chain, partition)) {
    const found = await tally({ fromBlock, toBlock })
    const wrong = differences(sums as never, found)
    if (wrong.length > 0) {
      const blocks = `blocks ${fromBlock} to ${toBlock}`
      throw new Refusal(`the ${what} of ${blocks} are not as archived (${wrong.join('; ')}): ${remedy}`)
    }
    settlements += found.settlements
  }
  return settlements
}

/**
 * The given columns of a block range's rows, some thousands at a time. Times are microseconds since 1970 and dollars whole
 * millionths; a column that an older file lacks is undefined. Throws a Refusal that names the file when one is damaged or
 * gone.
 */
export async function* rowsOfFiles<Row extends { readonly block_number: number }>(
  files: readonly DayFile[],
  range: BlockRange,
  columns: readonly string[],
): AsyncGenerator<Row[]> {
  const db = await connectDuckDb()
  try {
    for (const { at, sha256 } of files) {
      await readOrRefuse(at, () => compareHash(at, sha256))
      const file = `read_parquet(${literal(at)})`
      const described = (await db.runAndReadAll(`describe select * from ${file}`)).getRowObjectsJson()
      const asked = described
        .filter(({ column_name: name }) => columns.includes(String(name)))
        .map(({ column_name: name, column_type: type }) => wholeNumber(identifier(String(name)), String(type)))
      const rows = await db.stream(`
select ${asked.join(', ')} from ${file}
 where block_number between ${Math.trunc(range.fromBlock)} and ${Math.trunc(range.toBlock)}`)
      for await (const some of rows.yieldRowObjects()) yield some as unknown as Row[]
    }
  } finally {
    db.closeSync()
  }
}

/** A column, with times and dollars as whole numbers, and numbers of any length as text. */
function wholeNumber(column: string, type: string): string {
  if (type.startsWith('TIMESTAMP')) return `epoch_us(${column}) as ${column}`
  if (type === 'DECIMAL(38,0)') return `${column}::varchar as ${column}`
  return type.startsWith('DECIMAL') ? `(${column} * 1000000)::bigint as ${column}` : column
}

/** Throws when a file has changed since it was listed: a reader takes some damaged bytes for values. */
async function compareHash(at: string, sha256: string): Promise<void> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(at), hash)
  if (hash.digest('hex') !== sha256) throw new Error('its SHA-256 is another than that in manifest.json')
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
