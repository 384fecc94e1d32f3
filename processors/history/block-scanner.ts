import { endOfData, endOfString, stands, twice } from './json-text.ts'

/** JSON keys of a block's text, with quotes and colon; the scanner destructures each list in this order. */
const blockKeys = [keyOf('header'), keyOf('transactions'), keyOf('logs')] as const
const headerKeys = [keyOf('number'), keyOf('timestamp'), keyOf('hash'), keyOf('parentHash')] as const
const transactionKeys = [keyOf('transactionIndex'), keyOf('from'), keyOf('to'), keyOf('input')] as const
const logKeys = [keyOf('logIndex'), keyOf('address'), keyOf('topics'), keyOf('data')] as const
const nullValue = Buffer.from('null')

/** First letters of the keys. */
const letter = { a: 0x61, d: 0x64, f: 0x66, h: 0x68, i: 0x69, l: 0x6c, n: 0x6e, p: 0x70, t: 0x74 } as const

function keyOf(name: string): Buffer {
  return Buffer.from(`"${name}":`)
}

/**
 * Where the fields of one block stand in its JSON text, found in one pass without making an object or a string of
 * anything. Positions are those of a value's first character behind the quote.
 *
 * It understands what the archives send: no white space, no escapes, no fields beyond those asked for. It rejects any
 * other text, and the block is then parsed as JSON.
 */
export class BlockScanner {
  number = 0
  /** Seconds since 1970. */
  timestamp = 0
  hashAt = 0
  parentHashAt = 0

  transactions = 0
  transactionIndex = new Int32Array(initialItems)
  txHashAt = new Int32Array(initialItems)
  fromAt = new Int32Array(initialItems)
  /** Position of each transaction's `to`; 0: it creates a contract. */
  toAt = new Int32Array(initialItems)
  inputAt = new Int32Array(initialItems)
  inputEnd = new Int32Array(initialItems)

  logs = 0
  logIndex = new Int32Array(initialItems)
  logTransaction = new Int32Array(initialItems)
  addressAt = new Int32Array(initialItems)
  topics = new Int32Array(initialItems)
  /** Positions of topics, four entries per log. */
  topicAt = new Int32Array(4 * initialItems)
  dataAt = new Int32Array(initialItems)
  dataEnd = new Int32Array(initialItems)

  /** Value of the number that was read last. */
  #value = 0

  /** Finds the fields of the block whose text begins at `start`. Returns where it ends, or -1: not such a text. */
  scan(text: Buffer, start: number): number {
    this.transactions = 0
    this.logs = 0
    let seen = 0
    if (text[start] !== openBrace) return -1
    for (let at = start + 1; ; ) {
      if (text[at] !== quote) return -1
      const key = text[at + 1]
      if (key === letter.h && stands(text, at, headerKey)) {
        at = this.#object(text, at + headerKey.length, inHeader, 0)
        seen++
      } else if (key === letter.t && stands(text, at, transactionsKey)) {
        at = this.#list(text, at + transactionsKey.length, inTransaction)
      } else if (key === letter.l && stands(text, at, logsKey)) {
        at = this.#list(text, at + logsKey.length, inLog)
      } else return -1
      if (at < 0) return -1
      if (text[at] === closeBrace) return seen === 1 ? at + 1 : -1
      if (text[at++] !== comma) return -1
    }
  }

  /** Reads a list of transactions or of logs. Returns where it ends, or -1: not such a text. */
  #list(text: Buffer, start: number, kind: Exclude<Kind, typeof inHeader>): number {
    if (text[start] !== openBracket) return -1
    if (text[start + 1] === closeBracket) return start + 2
    for (let at = start + 1; ; ) {
      at = this.#object(text, at, kind, kind === inLog ? this.#roomForLog() : this.#roomForTransaction())
      if (at < 0) return -1
      if (kind === inLog) this.logs++
      else this.transactions++
      if (text[at] === closeBracket) return at + 1
      if (text[at++] !== comma) return -1
    }
  }

  #object(text: Buffer, start: number, kind: Kind, item: number): number {
    let seen = 0
    if (text[start] !== openBrace) return -1
    for (let at = start + 1; ; ) {
      if (kind === inLog) at = this.#logField(text, at, item)
      else if (kind === inTransaction) at = this.#transactionField(text, at, item)
      else at = this.#headerField(text, at)
      seen++
      if (at < 0) return -1
      if (text[at] === closeBrace) return seen === fieldsOf[kind] ? at + 1 : -1
      if (text[at++] !== comma) return -1
    }
  }

  #headerField(text: Buffer, at: number): number {
    const key = text[at + 1]
    if (key === letter.n && stands(text, at, numberKey)) {
      const end = this.#integer(text, at + numberKey.length)
      this.number = this.#value
      return end
    }
    if (key === letter.t && stands(text, at, timestampKey)) {
      const end = this.#integer(text, at + timestampKey.length)
      this.timestamp = this.#value
      return end
    }
    if (key === letter.h && stands(text, at, hashKey)) {
      this.hashAt = at + hashKey.length + 1
      return endOfString(text, this.hashAt, hashLength)
    }
    if (key === letter.p && stands(text, at, parentHashKey)) {
      this.parentHashAt = at + parentHashKey.length + 1
      return endOfString(text, this.parentHashAt, hashLength)
    }
    return -1
  }

  #transactionField(text: Buffer, at: number, item: number): number {
    const key = text[at + 1]
    if (key === letter.t && stands(text, at, transactionIndexKey)) {
      return this.#number(text, at + transactionIndexKey.length, this.transactionIndex, item)
    }
    if (key === letter.h && stands(text, at, hashKey)) {
      return this.#string(text, at + hashKey.length + 1, this.txHashAt, item, hashLength)
    }
    if (key === letter.f && stands(text, at, fromKey)) {
      return this.#string(text, at + fromKey.length + 1, this.fromAt, item, addressLength)
    }
    if (key === letter.t && stands(text, at, toKey)) {
      const value = at + toKey.length + 1
      const isNull = stands(text, value - 1, nullValue)
      this.toAt[item] = isNull ? 0 : value
      return isNull ? value - 1 + nullValue.length : endOfString(text, value, addressLength)
    }
    if (key === letter.i && stands(text, at, inputKey)) {
      const value = at + inputKey.length + 1
      const end = text[value - 1] === quote ? text.indexOf(quote, value) : -1
      this.inputAt[item] = value
      this.inputEnd[item] = end
      return end < 0 ? -1 : end + 1
    }
    return -1
  }

  #logField(text: Buffer, at: number, item: number): number {
    const key = text[at + 1]
    if (key === letter.t && stands(text, at, topicsKey)) return this.#topics(text, at + topicsKey.length, item)
    if (key === letter.t && stands(text, at, transactionIndexKey)) {
      return this.#number(text, at + transactionIndexKey.length, this.logTransaction, item)
    }
    if (key === letter.l && stands(text, at, logIndexKey)) {
      return this.#number(text, at + logIndexKey.length, this.logIndex, item)
    }
    if (key === letter.a && stands(text, at, addressKey)) {
      return this.#string(text, at + addressKey.length + 1, this.addressAt, item, addressLength)
    }
    if (key === letter.d && stands(text, at, dataKey)) {
      const value = at + dataKey.length + 1
      const end = text[value - 1] === quote ? endOfData(text, value) : -1
      this.dataAt[item] = value
      this.dataEnd[item] = end
      return end < 0 ? -1 : end + 1
    }
    return -1
  }

  #topics(text: Buffer, start: number, item: number): number {
    this.topics[item] = 0
    if (text[start] !== openBracket) return -1
    if (text[start + 1] === closeBracket) return start + 2
    for (let at = start + 1, topic = 0; topic < 4; topic++) {
      this.topicAt[4 * item + topic] = at + 1
      at = endOfString(text, at + 1, hashLength)
      if (at < 0) return -1
      this.topics[item] = topic + 1
      if (text[at] === closeBracket) return at + 1
      if (text[at++] !== comma) return -1
    }
    return -1
  }

  #string(text: Buffer, start: number, into: Int32Array, item: number, length: number): number {
    into[item] = start
    return endOfString(text, start, length)
  }

  #number(text: Buffer, start: number, into: Int32Array, item: number): number {
    const end = this.#integer(text, start)
    into[item] = this.#value
    return end
  }

  /** Reads a whole number below 2^53 and returns where it ends. */
  #integer(text: Buffer, start: number): number {
    let at = start
    let value = 0
    for (let digit = (text[at] as number) - zero; digit >= 0 && digit <= 9; digit = (text[++at] as number) - zero) {
      value = value * 10 + digit
    }
    this.#value = value
    return at > start && at - start <= maxDigits ? at : -1
  }

  #roomForTransaction(): number {
    if (this.transactions === this.transactionIndex.length) {
      this.transactionIndex = twice(this.transactionIndex)
      this.txHashAt = twice(this.txHashAt)
      this.fromAt = twice(this.fromAt)
      this.toAt = twice(this.toAt)
      this.inputAt = twice(this.inputAt)
      this.inputEnd = twice(this.inputEnd)
    }
    return this.transactions
  }

  #roomForLog(): number {
    if (this.logs === this.logIndex.length) {
      this.logIndex = twice(this.logIndex)
      this.logTransaction = twice(this.logTransaction)
      this.addressAt = twice(this.addressAt)
      this.topics = twice(this.topics)
      this.topicAt = twice(this.topicAt)
      this.dataAt = twice(this.dataAt)
      this.dataEnd = twice(this.dataEnd)
    }
    return this.logs
  }
}

/** Characters of an address and of a hash in a string. */
export const addressLength = 42
export const hashLength = 66

/** Items of one block that there is room for at first; the room grows to the largest block. */
const initialItems = 256
/** Most digits of a number: 2^53 has sixteen. */
const maxDigits = 15

/** The objects there are, and how many fields each has. */
const inHeader = 0 as const
const inTransaction = 1 as const
const inLog = 2 as const
const fieldsOf = [4, 5, 5] as const
type Kind = typeof inHeader | typeof inTransaction | typeof inLog

const quote = 0x22
const comma = 0x2c
const zero = 0x30
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d

const [headerKey, transactionsKey, logsKey] = blockKeys
const [numberKey, timestampKey, hashKey, parentHashKey] = headerKeys
const [transactionIndexKey, fromKey, toKey, inputKey] = transactionKeys
const [logIndexKey, addressKey, topicsKey, dataKey] = logKeys
