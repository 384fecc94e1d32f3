import type { Block, BlockSource, Header, Log, Transaction } from './blocks.ts'

interface GeneratedOptions {
  readonly firstBlock: number
  readonly blocks: number
  readonly settlementsPerBlock: number
  /** The token that is paid with. */
  readonly token: string
  readonly chunkBlocks?: number
  /** Bytes of calldata behind the arguments of every call. */
  readonly trailingBytes?: number
  /** Different recipients, all paid equally often. */
  readonly recipients?: number
  /** In place of `recipients`: which of them a payment goes to, by its place. */
  readonly recipientOf?: (serial: number) => number
  /** Payments whose signature is given as bytes, in percent. Default: none. */
  readonly bytesPercent?: number
}

const defaultChunkBlocks = 2_000
const defaultRecipients = 1_000
const secondsPerBlock = 2
const genesis = 1_700_000_000
const transferSelector = 'e3ee160e'
const receiveSelector = 'ef55bec6'
/** Both calls with the signature as bytes. */
const transferBytesSelector = 'cf092995'
const receiveBytesSelector = '88b7ab63'
/** One call in this many is a receiveWithAuthorization. */
const receiveEvery = 10

const authorizationUsed = '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5'
const transferred = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

/**
 * Blocks full of direct EIP-3009 payments, each computed from its number alone: the same for the same options, and
 * none kept, so a million settlements cost no memory. Signatures are filler: nothing that indexes checks them.
 */
export function generatedSource(options: GeneratedOptions): BlockSource {
  const { firstBlock, blocks, chunkBlocks = defaultChunkBlocks } = options
  const lastBlock = firstBlock + blocks - 1
  const frontier = () => ({ number: lastBlock, hash: hashOf(lastBlock) })
  return {
    startBlock: 0,
    head: frontier,
    finalizedHead: frontier,
    header: headerOf,
    *blocks(from, to) {
      const last = Math.min(to, lastBlock)
      for (let number = Math.max(from, firstBlock); number <= last; number++) yield blockOf(number, options)
    },
    chunkEnd: (number) => (Math.floor(number / chunkBlocks) + 1) * chunkBlocks - 1,
  }
}

function blockOf(number: number, options: GeneratedOptions): Block {
  const { settlementsPerBlock } = options
  const transactions: Transaction[] = []
  const logs: Log[] = []
  for (let index = 0; index < settlementsPerBlock; index++) {
    addSettlement(number, index, options, transactions, logs)
  }
  return { header: headerOf(number), transactions, logs, traces: [] }
}

function addSettlement(
  number: number,
  index: number,
  options: GeneratedOptions,
  transactions: Transaction[],
  logs: Log[],
): void {
  const { firstBlock, settlementsPerBlock, token, trailingBytes = 0, recipients = defaultRecipients } = options
  const { recipientOf = (serial) => scattered(serial, recipients), bytesPercent = 0 } = options
  const serial = (number - firstBlock) * settlementsPerBlock + index
  const isReceive = serial % receiveEvery === receiveEvery - 1
  const payer = wordOf(0xa0, serial)
  const recipient = recipientWord(recipientOf(serial))
  const amount = hexWord(1 + scattered(serial, 5_000_000))
  const nonce = nonceOf(serial)
  const times = hexWord(0) + hexWord(genesis * 2)
  const isBytes = scattered(serial, 100) < bytesPercent
  const [transfer, receive] = isBytes
    ? [transferBytesSelector, receiveBytesSelector]
    : [transferSelector, receiveSelector]
  const selector = isReceive ? receive : transfer
  const signature = isBytes
    ? hexWord(7 * 32) + hexWord(65) + nonce + nonce + '1b'.padEnd(64, '0')
    : hexWord(27) + nonce + nonce
  const input = `0x${selector}${payer}${recipient}${amount}${times}${nonce}${signature}${'00'.repeat(trailingBytes)}`
  const hash = `0x${nonce.slice(0, 32)}${hexWord(number).slice(-32)}`
  // receiveWithAuthorization is sent by the recipient, transfers by one of a few facilitators.
  const from = `0x${(isReceive ? recipient : wordOf(0xc0, serial % 5)).slice(24)}`
  transactions.push({ transactionIndex: index, hash, from, to: token, input, sighash: `0x${selector}`, status: 1 })
  const position = { transactionIndex: index, transactionHash: hash, address: token }
  logs.push(
    { ...position, logIndex: 2 * index, topics: [authorizationUsed, `0x${payer}`, `0x${nonce}`], data: '0x' },
    {
      ...position,
      logIndex: 2 * index + 1,
      topics: [transferred, `0x${payer}`, `0x${recipient}`],
      data: `0x${amount}`,
    },
  )
}

function headerOf(number: number): Header {
  return {
    number,
    hash: hashOf(number),
    parentHash: hashOf(number - 1),
    timestamp: genesis + secondsPerBlock * number,
  }
}

function hashOf(number: number): string {
  return `0xb10c${hexWord(Math.max(number, 0)).slice(4)}`
}

function hexWord(value: number): string {
  return value.toString(16).padStart(64, '0')
}

const recipientWord = (count: number) => wordOf(0xb0, count)

/** Address of a recipient. */
export const recipientAddress = (count: number) => `0x${recipientWord(count).slice(24)}`

/** An address in a word: a family of addresses, counted through. */
function wordOf(family: number, count: number): string {
  return `${'0'.repeat(24)}${family.toString(16)}${scattered(count, 0xffffffff).toString(16).padStart(8, '0')}${count.toString(16).padStart(30, '0')}`
}

/** 32 bytes that are different for every serial and look unlike their neighbours', so that indexes feel it. */
function nonceOf(serial: number): string {
  const first = scattered(serial, 0xffffffff).toString(16).padStart(8, '0')
  return `${first}${'5eed'.repeat(6)}${serial.toString(16).padStart(32, '0')}`
}

/** A number below `limit`, the same for the same `value`. */
export function scattered(value: number, limit: number): number {
  let mixed = Math.imul(value ^ 0x9e3779b9, 0x85ebca6b) >>> 0
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35) >>> 0
  return ((mixed ^ (mixed >>> 16)) >>> 0) % limit
}
