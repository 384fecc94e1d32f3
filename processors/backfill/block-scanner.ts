import { blockKeys, headerKeys, letter, logKeys, nullValue, transactionKeys } from './block-keys.ts'
import { endOfData, endOfString, stands, twice } from './json-text.ts'

/**
 * Where the fields of one block stand in its JSON text, found in one pass without making an object or a string of
 * anything. Positions are those of a value's first character behind the quote.
 *
 * It understands what the archives send: no white space, no escapes, no fields beyond those asked for. Of any other
 * text it says so, and the block is read the ordinary way.
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
  /** 0: the transaction creates a contract. */
  toAt = new Int32Array(initialItems)
  inputAt = new Int32Array(initialItems)
  inputEnd = new Int32Array(initialItems)

  logs = 0
  logIndex = new Int32Array(initialItems)
  logTransaction = new Int32Array(initialItems)
  addressAt = new Int32Array(initialItems)
  topics = new Int32Array(initialItems)
  /** Four a log. */
  topicAt = new Int32Array(4 * initialItems)
  dataAt = new Int32Array(initialItems)
  dataEnd = new Int32Array(initialItems)

  /** Of the number read last. */
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
        at = this.#header(text, at + headerKey.length)
        seen++
      } else if (key === letter.t && stands(text, at, transactionsKey)) {
        at = this.#transactions(text, at + transactionsKey.length)
      } else if (key === letter.l && stands(text, at, logsKey)) {
        at = this.#logs(text, at + logsKey.length)
      } else return -1
      if (at < 0) return -1
      if (text[at] === closeBrace) return seen === 1 ? at + 1 : -1
      if (text[at++] !== comma) return -1
    }
  }

  #header(text: Buffer, start: number): number {
    let seen = 0
    if (text[start] !== openBrace) return -1
    for (let at = start + 1; ; ) {
      const key = text[at + 1]
      if (key === letter.n && stands(text, at, numberKey)) {
        at = this.#integer(text, at + numberKey.length)
        this.number = this.#value
      } else if (key === letter.t && stands(text, at, timestampKey)) {
        at = this.#integer(text, at + timestampKey.length)
        this.timestamp = this.#value
      } else if (key === letter.h && stands(text, at, hashKey)) {
        this.hashAt = at + hashKey.length + 1
        at = endOfString(text, this.hashAt, hashLength)
      } else if (key === letter.p && stands(text, at, parentHashKey)) {
        this.parentHashAt = at + parentHashKey.length + 1
        at = endOfString(text, this.parentHashAt, hashLength)
      } else return -1
      seen++
      if (at < 0) return -1
      if (text[at] === closeBrace) return seen === 4 ? at + 1 : -1
      if (text[at++] !== comma) return -1
    }
  }

  #transactions(text: Buffer, start: number): number {
    if (text[start] !== openBracket) return -1
    if (text[start + 1] === closeBracket) return start + 2
    for (let at = start + 1; ; ) {
      at = this.#transaction(text, at, this.#roomForTransaction())
      if (at < 0) return -1
      this.transactions++
      if (text[at] === closeBracket) return at + 1
      if (text[at++] !== comma) return -1
    }
  }

  #transaction(text: Buffer, start: number, item: number): number {
    let seen = 0
    if (text[start] !== openBrace) return -1
    for (let at = start + 1; ; ) {
      const key = text[at + 1]
      if (key === letter.t && stands(text, at, transactionIndexKey)) {
        at = this.#integer(text, at + transactionIndexKey.length)
        this.transactionIndex[item] = this.#value
      } else if (key === letter.h && stands(text, at, hashKey)) {
        const value = at + hashKey.length + 1
        this.txHashAt[item] = value
        at = endOfString(text, value, hashLength)
      } else if (key === letter.f && stands(text, at, fromKey)) {
        const value = at + fromKey.length + 1
        this.fromAt[item] = value
        at = endOfString(text, value, addressLength)
      } else if (key === letter.t && stands(text, at, toKey)) {
        at += toKey.length
        const isNull = stands(text, at, nullValue)
        this.toAt[item] = isNull ? 0 : at + 1
        at = isNull ? at + nullValue.length : endOfString(text, at + 1, addressLength)
      } else if (key === letter.i && stands(text, at, inputKey)) {
        const value = at + inputKey.length + 1
        const end = text[value - 1] === quote ? text.indexOf(quote, value) : -1
        this.inputAt[item] = value
        this.inputEnd[item] = end
        at = end < 0 ? -1 : end + 1
      } else return -1
      seen++
      if (at < 0) return -1
      if (text[at] === closeBrace) return seen === 5 ? at + 1 : -1
      if (text[at++] !== comma) return -1
    }
  }

  #logs(text: Buffer, start: number): number {
    if (text[start] !== openBracket) return -1
    if (text[start + 1] === closeBracket) return start + 2
    for (let at = start + 1; ; ) {
      at = this.#log(text, at, this.#roomForLog())
      if (at < 0) return -1
      this.logs++
      if (text[at] === closeBracket) return at + 1
      if (text[at++] !== comma) return -1
    }
  }

  #log(text: Buffer, start: number, item: number): number {
    let seen = 0
    if (text[start] !== openBrace) return -1
    for (let at = start + 1; ; ) {
      const key = text[at + 1]
      if (key === letter.t && stands(text, at, topicsKey)) {
        at = this.#topics(text, at + topicsKey.length, item)
      } else if (key === letter.t && stands(text, at, transactionIndexKey)) {
        at = this.#integer(text, at + transactionIndexKey.length)
        this.logTransaction[item] = this.#value
      } else if (key === letter.l && stands(text, at, logIndexKey)) {
        at = this.#integer(text, at + logIndexKey.length)
        this.logIndex[item] = this.#value
      } else if (key === letter.a && stands(text, at, addressKey)) {
        const value = at + addressKey.length + 1
        this.addressAt[item] = value
        at = endOfString(text, value, addressLength)
      } else if (key === letter.d && stands(text, at, dataKey)) {
        const value = at + dataKey.length + 1
        const end = text[value - 1] === quote ? endOfData(text, value) : -1
        this.dataAt[item] = value
        this.dataEnd[item] = end
        at = end < 0 ? -1 : end + 1
      } else return -1
      seen++
      if (at < 0) return -1
      if (text[at] === closeBrace) return seen === 5 ? at + 1 : -1
      if (text[at++] !== comma) return -1
    }
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

/** Room for the items of one block at first; it grows with the largest block. */
const initialItems = 256
/** Of a number: 2^53 has sixteen. */
const maxDigits = 15

const [quote, comma, zero] = [0x22, 0x2c, 0x30]
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d]

const [headerKey, transactionsKey, logsKey] = blockKeys
const [numberKey, timestampKey, hashKey, parentHashKey] = headerKeys
const [transactionIndexKey, fromKey, toKey, inputKey] = transactionKeys
const [logIndexKey, addressKey, topicsKey, dataKey] = logKeys
