import type { ChildProcess } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import {
  createPublicClient,
  createWalletClient,
  defineChain,
  encodeFunctionData,
  type Hex,
  http,
  parseAbi,
  parseSignature,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { dollarName } from '../../devnet/chain/genesis.ts'
import { startMain } from './mains.ts'

/** Timeout in milliseconds for a start that hangs; once its chains run, the devnet gives up after six minutes. */
export const devnetReadyMs = 600_000

/** The part of `devnet.json` that tests use. */
export interface Devnet {
  readonly api: string
  readonly graphql: string
  readonly database_url: string
  readonly chains: Record<string, { rpc: string; chain_id: number; registry: Hex; token: Hex | null; batcher: Hex }>
  readonly hub: string
  readonly funder_private_key: Hex
  readonly agents: {
    fid: number
    handle: string | null
    addresses: { address: Hex; private_key: Hex }[]
    app_keys: { public_key: Hex; private_key: Hex }[]
    chains: string[]
  }[]
}

/** `npm start`, in a process of its own. */
export interface DevnetProcess {
  readonly child: ChildProcess
  output(): string
  /** Reads its devnet.json, which exists once it is ready. */
  world(): Devnet
  /** Resolves once it is ready. Throws when it exits before, as it does when it is not ready in time. */
  untilReady(): Promise<void>
}

/** Runs `npm start` on a folder with very high rate limits, because all requests come from one client. */
export function startDevnet(folder: string, settings: Record<string, string> = {}): DevnetProcess {
  const env = { LIMIT_PER_MINUTE: '100000', LIMIT_PER_DAY: '1000000', ...settings }
  const child = startMain('devnet/main.ts', ['--state-folder', folder], { env })
  let output = ''
  const collect = (text: Buffer) => {
    output += text
  }
  child.stdout?.on('data', collect)
  child.stderr?.on('data', collect)
  const logs = () => {
    const names = existsSync(join(folder, 'logs')) ? readdirSync(join(folder, 'logs')) : []
    return names.map((name) => `${name}: ${readFileSync(join(folder, 'logs', name), 'utf8').slice(-500)}`).join('\n')
  }
  return {
    child,
    output: () => output,
    world: () => JSON.parse(readFileSync(join(folder, 'devnet.json'), 'utf8')) as Devnet,
    async untilReady() {
      for (; !/^ready /m.test(output); await delay(100)) {
        if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}:\n${output}\n${logs()}`)
      }
    },
  }
}

/** Pays with nothing but the keys of devnet.json: signs an EIP-3009 authorization and broadcasts it. */
export async function payByHand(
  { chains: places, funder_private_key }: Devnet,
  name: 'base' | 'celo',
  to: Hex,
  value: bigint,
): Promise<Hex> {
  const { rpc, chain_id, token } = places[name] as Devnet['chains'][string]
  const account = privateKeyToAccount(funder_private_key)
  const chain = defineChain({
    id: chain_id,
    name,
    nativeCurrency: { name: 'coin', symbol: 'COIN', decimals: 18 },
    rpcUrls: { default: { http: [rpc] } },
  })
  const nonce: Hex = `0x${'7e'.repeat(32)}`
  const message = { from: account.address, to, value, validAfter: 0n, validBefore: 4_102_444_800n, nonce }
  const signature = await account.signTypedData({
    domain: {
      name: dollarName(name),
      version: '2',
      chainId: chain_id,
      verifyingContract: token as Hex,
    },
    types: {
      TransferWithAuthorization: [
        { name: 'from', type: 'address' },
        { name: 'to', type: 'address' },
        { name: 'value', type: 'uint256' },
        { name: 'validAfter', type: 'uint256' },
        { name: 'validBefore', type: 'uint256' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    primaryType: 'TransferWithAuthorization',
    message,
  })
  const { r, s, yParity } = parseSignature(signature)
  const data = encodeFunctionData({
    abi: parseAbi([
      'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
    ]),
    args: [account.address, to, value, 0n, message.validBefore, nonce, yParity + 27, r, s],
  })
  const wallet = createWalletClient({ account, chain, transport: http(rpc) })
  const hash = await wallet.sendTransaction({ to: token as Hex, data })
  await createPublicClient({ chain, transport: http(rpc), pollingInterval: 100 }).waitForTransactionReceipt({ hash })
  return hash
}
