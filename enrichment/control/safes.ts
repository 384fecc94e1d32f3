import type { Address, Hex } from 'viem'
import type { FinalNode } from './final-node.ts'

/**
 * What a Safe runs, by version: its proxy leaves every call to the contract whose address is its storage slot 0. They were
 * deployed so that no other code can be at these addresses, on every chain of the same rules.
 *
 * Source: safe-global/safe-deployments, src/assets: v1.3.0 gnosis_safe.json and gnosis_safe_l2.json, v1.4.1 and v1.5.0
 * safe.json and safe_l2.json, deployments canonical and eip155.
 */
const singletons: ReadonlySet<string> = new Set([
  '0xd9db270c1b5e3bd161e8c8503c55ceabee709552', // 1.3.0
  '0x69f4d1788e39c87893c980c06edf4b7f686e2938', // 1.3.0, eip155
  '0x3e5c63644e683549055b9be8653de26e0b4cd36e', // 1.3.0 L2
  '0xfb1bffc9d739b8d520daf37df666da4c687191ea', // 1.3.0 L2, eip155
  '0x41675c099f32341bf84bfc5382af534df5c7461a', // 1.4.1
  '0x29fcb43b46531bca003ddc8fcb67ffe91900c762', // 1.4.1 L2
  '0xff51a5898e281db6dfc7855790607438df2ca44b', // 1.5.0
  '0xedd160febbd92e350d4d398fb636302fccd67c7e', // 1.5.0 L2
])

/**
 * Hashes of the code of their proxies. That of the factory of 1.5.0 is not known to us: one that it made is a contract
 * like any other.
 *
 * Source: keccak-256 of what proxyCreationCode of the factories leaves on the chain, as in the address tests of wallets.
 */
const proxies: ReadonlySet<string> = new Set([
  '0xb89c1b3bdf2cf8827818646bce9a8f6e372885f8c55e5c07acbd307cb133b000', // 1.3.0
  '0xd7d408ebcd99b2b70be43e20253d6d92a8ea8fab29bd3be7f55b10032331fb4c', // 1.4.1
])

/** Whether an address is the proxy of a published Safe: any contract can answer like one. */
export async function isSafe(node: FinalNode, address: Address, codeHash: Hex): Promise<boolean> {
  if (!proxies.has(codeHash)) return false
  const slot = await node.storage(address, '0x0')
  return singletons.has(`0x${slot.slice(-40)}`)
}
