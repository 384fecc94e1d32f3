import {
  type Address,
  encodeDeployData,
  encodeFunctionData,
  erc6492SignatureValidatorAbi,
  erc6492SignatureValidatorByteCode,
  type Hex,
  parseAbi,
  sha256,
} from 'viem'
import { signedByKey } from '../trust/key-signature.ts'
import { type ChainClient, callAt } from './chain-client.ts'

/** Answer of a contract wallet, with the block it was read at: its owners and code may change later. */
export interface WalletAnswer {
  readonly signed: boolean
  readonly block: number
  readonly blockHash: Hex
  /** SHA-256 of the wallet's code; null: it was not deployed at that block. */
  readonly codeSha256: Hex | null
}

/** Whether contract wallets have signed a digest. */
export interface Wallets {
  /** Whether an RPC URL of the chain is configured. */
  canAnswer(chainId: number): boolean
  /**
   * Whether the contract at the address accepts the signature on the wallet's chain, or would once deployed there.
   * Where the chain has no contract at the address, its key's signature counts (ERC-6492, verifier side). Throws when
   * the chain does not answer or is not one of ours: an outage must not look like a bad signature.
   *
   * `address` is lowercase; `signature` any hex.
   */
  signedByContract(wallet: Wallet, hash: Hex, signature: Hex): Promise<boolean>
  /**
   * Asks a contract wallet whether it signed, at a block that the answer names, so that anybody can repeat the call.
   */
  ask(wallet: Wallet, hash: Hex, signature: Hex): Promise<WalletAnswer>
}

interface Wallet {
  readonly address: Hex
  readonly chainId: number
}

/** Suffix of a signature by a contract that is not deployed yet. Source: ERC-6492. */
const undeployedMark = '6492'.repeat(16)
/** Magic value that `isValidSignature` returns for a valid signature. Source: ERC-1271. */
const validAnswer = '0x1626ba7e'
const signatureAbi = parseAbi(['function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)'])

/** `chainOf` returns undefined for a chain that is not in the chain table. */
export function createWallets(chainOf: (chainId: number) => ChainClient | undefined): Wallets {
  const chainWith = (chainId: number) => {
    const chain = chainOf(chainId)
    if (!chain) throw new Error(`chain ${chainId} is not one of this service's, so its contracts cannot be asked`)
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

/** A signature to check: made by `address` over `hash`. */
interface Signed {
  readonly address: Hex
  readonly hash: Hex
  readonly signature: Hex
}

async function askAt(chain: ChainClient, at: 'latest' | bigint, { address, hash, signature }: Signed) {
  const block = at === 'latest' ? { blockTag: at } : { blockNumber: at }
  // Asked first: it throws when the node is unreachable.
  const code = await answered(chain, () => chain.client().getCode({ address, ...block }))
  if (signature.toLowerCase().endsWith(undeployedMark)) {
    return { code, signed: isOne(await callAt(chain, at, { data: deployedCheck(address, hash, signature) })) }
  }
  if (!code) return { code, signed: await signedByKey(address, hash, signature) }
  const args = [hash, signature] as const
  const data = encodeFunctionData({ abi: signatureAbi, functionName: 'isValidSignature', args })
  const answer = await callAt(chain, at, { to: address, data })
  return { code, signed: answer?.slice(0, validAnswer.length) === validAnswer && answer.length >= 66 }
}

async function answered<T>(chain: ChainClient, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    throw chain.failure(error)
  }
}

/** Creation code of the ERC-6492 validator: run by eth_call it deploys the wallet, asks it, and leaves no trace. */
function deployedCheck(address: Address, hash: Hex, signature: Hex): Hex {
  return encodeDeployData({
    abi: erc6492SignatureValidatorAbi,
    bytecode: erc6492SignatureValidatorByteCode,
    args: [address, hash, signature],
  })
}

const isOne = (answer: Hex | undefined) => /^0x0*1$/.test(answer ?? '')
