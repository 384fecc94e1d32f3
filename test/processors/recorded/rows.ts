import { createHash } from 'node:crypto'
import { decodeEventLog, decodeFunctionData, type Hex, parseAbi, zeroAddress } from 'viem'
import type { Block, Log } from '../../doubles/portal/blocks.ts'
import type { RecordedChain } from '../../support/recorded/file.ts'
import { timestampOf } from '../../support/recorded/recordings.ts'
import { registryAbi } from '../../support/recorded/registrations.ts'
import { senderOf, settlementRecordings } from '../../support/recorded/settlements.ts'

/** A row as Postgres turns it into JSON, with times in ISO 8601. */
export type Row = Record<string, unknown>

/**
 * Rows expected of the recordings, derived with viem alone, without any decoder, rule or query of the processors. A
 * published value is taken from its publication, not from the recorded blocks.
 */
export interface ExpectedRows {
  readonly registration: Row[]
  readonly registration_transfer: Row[]
  readonly registration_metadata: Row[]
  readonly registration_wallet: Row[]
  readonly settlement: Row[]
  readonly builder_code: Row[]
}

export function expectedRows(chain: RecordedChain, blocks: readonly Block[]): ExpectedRows {
  const settlement = chain === 'base' ? settlementRows(blocks) : []
  return { ...registrationRows(chain, blocks), settlement, builder_code: codeRows(settlement) }
}

const paymentAbi = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
])
const baseDollar = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'
const authorizationUsed = '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5'

function settlementRows(blocks: readonly Block[]): Row[] {
  const rows = settlementRecordings().map((recording): Row => {
    const { hash, input, blockNumber } = recording.transaction
    const [payer, recipient, amount, , , nonce] = decodeFunctionData({ abi: paymentAbi, data: input }).args
    const published = recording.receipt?.logs.find(({ topics }) => topics[0] === authorizationUsed)
    const served = blocks
      .find((block) => block.header.number === blockNumber)
      ?.logs.find((log) => log.transactionHash === hash && log.topics[0] === authorizationUsed)
    return {
      chain: 'base',
      block_number: blockNumber,
      log_index: (published ?? served)?.logIndex,
      block_timestamp: timeOf('base', blockNumber),
      amount: Number(amount),
      token: bytea(baseDollar),
      payer: bytea(payer),
      recipient: bytea(recipient),
      facilitator: bytea(senderOf(recording)),
      payment_nonce: bytea(nonce),
      tx_hash: bytea(hash),
      selector: bytea(input.slice(0, 10)),
      selector_source: 'c',
    }
  })
  return rows.sort(by('block_number', 'log_index'))
}

/** Five of the recordings end so: length and value of the CBOR of {"w": "cdp_facil1"}, the schema, and the marker. */
const codesOfCoinbase = `a161776a6364705f666163696c31000e02${'8021'.repeat(8)}`

function codeRows(settlements: readonly Row[]): Row[] {
  const ends = new Set(
    settlementRecordings()
      .filter(({ transaction }) => transaction.input.endsWith(codesOfCoinbase))
      .map(({ transaction }) => bytea(transaction.hash)),
  )
  return settlements
    .filter(({ tx_hash }) => ends.has(tx_hash as string))
    .map(({ block_number, log_index }) => ({
      id: `base-${block_number}-${log_index}`,
      chain: 'base',
      block_number,
      log_index,
      facilitator: 'cdp_facil1',
      app: null,
      services: [],
    }))
}

function registrationRows(chain: RecordedChain, blocks: readonly Block[]) {
  const registrations = new Map<number, Row>()
  const transfers: Row[] = []
  const metadata = new Map<string, Row>()
  const wallets: Row[] = []
  for (const log of blocks.flatMap((block) => block.logs.map((entry) => ({ ...entry, number: block.header.number })))) {
    const event = decodeRegistryLog(log)
    if (!event) continue
    const { agentId } = event
    const time = timeOf(chain, log.number)
    const row = registrations.get(agentId) ?? unseen(chain, agentId, log)
    registrations.set(agentId, Object.assign(row, { updated_block: log.number, updated_at: time }))
    const place = { chain, agent_id: agentId, block_number: log.number, log_index: log.logIndex, block_timestamp: time }
    if (event.kind === 'uri')
      Object.assign(row, { agent_uri: event.uri, agent_uri_length: Buffer.byteLength(event.uri) })
    if (event.kind === 'transfer') {
      const { from, to } = event
      transfers.push({
        id: `${chain}-${log.number}-${log.logIndex}`,
        ...place,
        from,
        to,
        tx_hash: bytea(log.transactionHash),
      })
      Object.assign(row, { owner: to, burned: to === null, acquired_block: log.number, acquired_at: time })
      if (from !== null) row.agent_wallet = null
    }
    if (event.kind === 'metadata') {
      const { key, value } = event
      const id = `${chain}-${agentId}-${createHash('sha256').update(key).digest('hex').slice(0, 32)}`
      metadata.set(id, { id, ...place, key, value, tx_hash: bytea(log.transactionHash) })
      if (key !== 'agentWallet') continue
      row.agent_wallet = value
      const wallet = value === '\\x' ? null : value
      wallets.push({
        id: `${chain}-${log.number}-${log.logIndex}`,
        ...place,
        wallet,
        tx_hash: bytea(log.transactionHash),
      })
    }
  }
  return {
    registration: [...registrations.values()].sort(by('agent_id')),
    registration_transfer: transfers.sort(by('block_number', 'log_index')),
    registration_metadata: [...metadata.values()].sort(by('agent_id', 'key')),
    registration_wallet: wallets.sort(by('block_number', 'log_index')),
  }
}

/** A registration before its first recorded event; without a recorded mint that event counts as the registration. */
function unseen(chain: RecordedChain, agentId: number, log: Log & { number: number }): Row {
  const time = timeOf(chain, log.number)
  return {
    id: `${chain}-${agentId}`,
    chain,
    agent_id: agentId,
    owner: null,
    burned: false,
    agent_wallet: null,
    agent_uri: null,
    agent_uri_length: null,
    agent_uri_sha256: null,
    registered_block: log.number,
    registered_at: time,
    registered_tx: bytea(log.transactionHash),
    acquired_block: log.number,
    acquired_at: time,
  }
}

type RegistryEvent = { readonly agentId: number } & (
  | { readonly kind: 'transfer'; readonly from: string | null; readonly to: string | null }
  | { readonly kind: 'uri'; readonly uri: string }
  | { readonly kind: 'metadata'; readonly key: string; readonly value: string }
)

function decodeRegistryLog(log: Log): RegistryEvent | undefined {
  if (log.address !== '0x8004a169fb4a3325136eb29fa0ceb6d2e539a432') return undefined
  const topics = log.topics as [Hex, ...Hex[]]
  const { eventName, args } = decodeEventLog({ abi: registryAbi, topics, data: log.data as Hex })
  switch (eventName) {
    case 'Transfer':
      return { kind: 'transfer', agentId: Number(args.tokenId), from: holder(args.from), to: holder(args.to) }
    case 'Registered':
      return { kind: 'uri', agentId: Number(args.agentId), uri: args.agentURI }
    case 'URIUpdated':
      return { kind: 'uri', agentId: Number(args.agentId), uri: args.newURI }
    case 'MetadataSet':
      return {
        kind: 'metadata',
        agentId: Number(args.agentId),
        key: args.metadataKey,
        value: bytea(args.metadataValue),
      }
    case 'MetadataUpdate':
      return undefined
  }
}

function holder(address: string): string | null {
  return address === zeroAddress ? null : bytea(address)
}

/** Hex as Postgres writes bytea into JSON. */
function bytea(hex: string): string {
  return `\\x${hex.slice(2).toLowerCase()}`
}

function timeOf(chain: RecordedChain, number: number): string {
  return new Date(timestampOf(chain, number) * 1000).toISOString()
}

function by(...columns: string[]) {
  return (a: Row, b: Row): number => {
    for (const column of columns) {
      const left = a[column] as never
      const right = b[column] as never
      if (left !== right) return left < right ? -1 : 1
    }
    return 0
  }
}
