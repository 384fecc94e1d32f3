import { expect, test } from 'vitest'
import { toWallet } from '../../processors/mapping/registrations.ts'

const address = Buffer.from('7f6d822467df2a85f792d4508c5722ade96be056', 'hex')
const word = Buffer.concat([Buffer.alloc(12), address])

test.each([
  ['twenty raw bytes are the address', address, address],
  ['an ABI word holds it in its last twenty bytes', word, address],
  ['nothing unsets it', Buffer.alloc(0), null],
  ['a word with something in front holds no address', Buffer.concat([Buffer.from([1]), word.subarray(1)]), null],
  ['a text of the address is no address', Buffer.from(`0x${address.toString('hex')}`), null],
  ['nineteen bytes are none', address.subarray(1), null],
  ['twenty-one bytes are none', Buffer.concat([address, Buffer.from([0])]), null],
])('%s', (_, value, expected) => {
  expect(toWallet(value)).toEqual(expected)
})
