import {
  type Address,
  BaseError,
  encodeDeployData,
  encodeFunctionData,
  erc6492SignatureValidatorAbi,
  erc6492SignatureValidatorByteCode,
  type Hex,
  numberToHex,
  parseAbi,
  RpcRequestError,
  recoverAddress,
  sha256,
} from 'viem'
import type { ChainClient } from './chain-client.ts'

/** What a contract wallet said, and when: its owners and its code may be others later. */
export interface WalletAnswer {
  readonly signed: boolean
  readonly block: number
  readonly blockHash: Hex
  /** SHA-256 of its code; null: there was none yet. */
  readonly codeSha256: Hex | null
}

/** Whether contract wallets have signed a digest. */
export interface Wallets {
  /** Whether there is a node of the chain to ask. */
  canAnswer(chainId: number): boolean
  /**
   * True: the contract at the address says so on the chain that is named, or would once it is deployed there. Where the
   * chain has no contract at the address, its key's signature counts (ERC-6492, verifier side). Throws when the chain
   * does not answer or is none of ours: an outage must not look like a bad signature.
   *
   * `address` is lowercase; `signature` any hex.
   */
  signedByContract(wallet: Wallet, hash: Hex, signature: Hex): Promise<boolean>
  /**
   * Asks a contract wallet whether it signed, at a block that is named with the answer, so that anybody can ask again.
   */
  ask(wallet: Wallet, hash: Hex, signature: Hex): Promise<WalletAnswer>
}

interface Wallet {
  readonly address: Hex
  readonly chainId: number
}

/** Half the order of secp256k1: above it every signature has a twin below. Source: EIP-2. */
const highestS = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n
/** Ends a signature of a contract that is not there yet. Source: ERC-6492. */
const undeployedMark = '6492'.repeat(16)
/** Source: ERC-1271. */
const validAnswer = '0x1626ba7e'
const signatureAbi = parseAbi(['function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)'])
/** Of a contract's check, the deployment of an ERC-6492 wallet included. */
const mostGas = 10_000_000n

/** `chainOf`: undefined when there is no such chain. */
export function createWallets(chainOf: (chainId: number) => ChainClient | undefined): Wallets {
  const chainWith = (chainId: number) => {
    const chain = chainOf(chainId)
    if (!chain) throw new Error(`chain ${chainId} is none of this service's, so its contracts cannot be asked`)
    return chain
  }
  return {
    canAnswer: (chainId) => chainOf(chainId)?.isSet === true,
    async signedByContract({ address, chainId }, hash, signature) {
      const { signed } = await askAt(chainWith(chainId), 'latest', { address, hash, signature })
      return signed
    },
    async ask({ address, chainId }, hash, signature) {
      const chain = chainWith(chainId)
      const { number, hash: blockHash } = await answered(chain, () => chain.client().getBlock({ blockTag: 'latest' }))
      const { signed, code } = await askAt(chain, number, { address, hash, signature })
      return { signed, block: Number(number), blockHash, codeSha256: code ? sha256(code) : null }
    },
  }
}

/** What is asked of a wallet. */
interface Signed {
  readonly address: Hex
  readonly hash: Hex
  readonly signature: Hex
}

async function askAt(chain: ChainClient, at: 'latest' | bigint, { address, hash, signature }: Signed) {
  const block = at === 'latest' ? { blockTag: at } : { blockNumber: at }
  // Asked first: it throws when the node is away.
  const code = await answered(chain, () => chain.client().getCode({ address, ...block }))
  if (signature.toLowerCase().endsWith(undeployedMark)) {
    return { code, signed: isOne(await call(chain, at, { data: deployedCheck(address, hash, signature) })) }
  }
  if (!code) return { code, signed: await signedByKey(address, hash, signature) }
  const args = [hash, signature] as const
  const data = encodeFunctionData({ abi: signatureAbi, functionName: 'isValidSignature', args })
  const answer = await call(chain, at, { to: address, data })
  return { code, signed: answer?.slice(0, validAnswer.length) === validAnswer && answer.length >= 66 }
}

async function answered<T>(chain: ChainClient, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    throw chain.failure(error)
  }
}

/** What wallets write for the parity of a signature's point: the number itself, or 27 more. */
const parities = new Set([0, 1, 27, 28])

/**
 * Whether the key of an address signed a digest. No chain is asked: code that the account
 * borrows (EIP-7702) has no say. `address` is lowercase; a signature is 65 bytes with the low one of its two s.
 */
export async function signedByKey(address: Hex, hash: Hex, signature: Hex): Promise<boolean> {
  if (!/^0x[0-9a-fA-F]{130}$/.test(signature)) return false
  const s = BigInt(`0x${signature.slice(66, 130)}`)
  if (s > highestS || !parities.has(Number.parseInt(signature.slice(130), 16))) return false
  try {
    return (await recoverAddress({ hash, signature })).toLowerCase() === address
  } catch {
    return false // no point of the curve
  }
}

/** Runs the validator of ERC-6492 as if it were being created: it deploys the wallet, asks it, and leaves no trace. */
function deployedCheck(address: Address, hash: Hex, signature: Hex): Hex {
  return encodeDeployData({
    abi: erc6492SignatureValidatorAbi,
    bytecode: erc6492SignatureValidatorByteCode,
    args: [address, hash, signature],
  })
}

const isOne = (answer: Hex | undefined) => /^0x0*1$/.test(answer ?? '')

/** What a call returns; undefined when the contract refused to answer. Throws when the node did. */
async function call(
  chain: ChainClient,
  at: 'latest' | bigint,
  transaction: { to?: Address; data: Hex },
): Promise<Hex | undefined> {
  try {
    const block = at === 'latest' ? at : numberToHex(at)
    const params = [{ ...transaction, gas: numberToHex(mostGas) }, block] as const
    return await chain.client().request({ method: 'eth_call', params: [...params] })
  } catch (error) {
    if (refusedByContract(error)) return undefined
    throw chain.failure(error)
  }
}

/** JSON-RPC has a code for reverts only; other ends of a call are told by the message. */
function refusedByContract(error: unknown): boolean {
  if (!(error instanceof BaseError)) return false
  const answer = error.walk((cause) => cause instanceof RpcRequestError) as RpcRequestError | null
  if (!answer) return false
  return answer.code === 3 || /revert|EVM error|out of ?gas|opcode|stack (over|under)flow|jump/i.test(answer.details)
}
