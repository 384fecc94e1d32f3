import { createHash, createPrivateKey, createPublicKey } from 'node:crypto'
import { type Hex, keccak256, type LocalAccount, toBytes } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

/** A plain Ethereum account of the local world. */
export interface Wallet {
  /** Lowercase. */
  readonly address: Hex
  readonly privateKey: Hex
  readonly account: LocalAccount
}

/** An Ed25519 key, 32 bytes each, as 0x hex. */
export interface AppKey {
  readonly publicKey: Hex
  readonly privateKey: Hex
}

/** The wallet of a name: the same for the same seed and label. */
export function walletOf(seed: string, label: string): Wallet {
  const privateKey = keccak256(toBytes(`${seed}/wallet/${label}`))
  const account = privateKeyToAccount(privateKey)
  return { address: account.address.toLowerCase() as Hex, privateKey, account }
}

/** DER of a PKCS #8 Ed25519 key (RFC 8410, section 7) up to the 32 bytes of the key. */
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex')
const keyBytes = 32

export function appKeyOf(seed: string, label: string): AppKey {
  const secret = createHash('sha256').update(`${seed}/app key/${label}`).digest()
  const key = createPrivateKey({ key: Buffer.concat([pkcs8Prefix, secret]), format: 'der', type: 'pkcs8' })
  const publicDer = createPublicKey(key).export({ format: 'der', type: 'spki' })
  return {
    publicKey: `0x${publicDer.subarray(-keyBytes).toString('hex')}`,
    privateKey: `0x${secret.toString('hex')}`,
  }
}
