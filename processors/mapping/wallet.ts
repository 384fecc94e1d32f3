const addressBytes = 20
const wordBytes = 32
const padding = Buffer.alloc(wordBytes - addressBytes)

/**
 * The address in a value of `agentWallet`: twenty bytes, or the same in a 32-byte ABI word. Null: unset (empty), or
 * bytes that hold no address.
 */
export function toWallet(value: Buffer): Buffer | null {
  if (value.length === addressBytes) return value
  if (value.length === wordBytes && value.subarray(0, padding.length).equals(padding)) {
    return value.subarray(padding.length)
  }
  return null
}
