import { type Address, encodeFunctionData, type Hex } from 'viem'
import { walletAbi, walletFactoryAbi } from './abi.ts'
import type { Call, DevChain } from './chain.ts'

/** Where the wallet of this owner and salt stands, or will stand once it is created. */
export function walletOf(chain: DevChain, owner: Address, salt: Hex): Promise<Address> {
  const address = chain.addresses.walletFactory
  return chain.client.readContract({ address, abi: walletFactoryAbi, functionName: 'walletOf', args: [owner, salt] })
}

/** Creates the wallet: a contract whose ERC-1271 signatures are its owner's, over the very hash. */
export function createWallet(chain: DevChain, owner: Address, salt: Hex): Call {
  const data = encodeFunctionData({ abi: walletFactoryAbi, functionName: 'create', args: [owner, salt] })
  return { to: chain.addresses.walletFactory, data }
}

/** Has the contract wallet make a call; sent by its owner. */
export function executeAs(wallet: Address, call: Call): Call {
  const data = encodeFunctionData({ abi: walletAbi, functionName: 'execute', args: [call.to, 0n, call.data] })
  return { to: wallet, data }
}
